//! The simplest cell that still breaks a law.

use super::draw::Case;

/// As many cells are tried.
const TRIES_MAX: usize = 150;

/// Takes settings away and makes values plainer for as long as the law stays broken.
pub(super) fn simplest(mut case: Case, breaks: impl Fn(&Case) -> Option<String>) -> Case {
    let mut tries = 0;
    let mut at = 0;
    while at < case.len() && tries < TRIES_MAX {
        let plainer = plainer(&case, at).into_iter().find(|simpler| {
            tries += 1;
            tries <= TRIES_MAX && breaks(simpler).is_some()
        });
        match plainer {
            // What is before may be plainer now, too.
            Some(simpler) => (case, at) = (simpler, 0),
            None => at += 1,
        }
    }
    case
}

/// The same cell with one setting away, or plainer.
fn plainer(case: &Case, at: usize) -> Vec<Case> {
    let (key, value) = &case[at];
    let with = |value: String| {
        let mut other = case.clone();
        other[at].1 = value;
        other
    };
    let mut simpler = Vec::new();
    if key != "volume.drives" {
        let mut without = case.clone();
        without.remove(at);
        simpler.push(without);
    }
    match key.as_str() {
        "volume.drives" => {
            simpler.extend(value.split_once('+').map(|(first, _)| with(first.into())));
            simpler.extend(value.split_once(':').map(|(whole, _)| with(whole.into())));
            if let Some((count, drive)) = value.split_once('x') {
                let fewer = count.parse::<u64>().ok().filter(|&count| count > 1);
                simpler.extend(fewer.map(|count| with(format!("{}x{drive}", count - 1))));
                if drive != PLAIN_DRIVE {
                    simpler.push(with(format!("{count}x{PLAIN_DRIVE}")));
                }
            }
        }
        "volume.level" if value.contains('-') => {
            simpler.extend(value.rsplit_once('-').map(|(_, plain)| with(plain.into())));
        }
        "work.depth" | "work.block" | "work.jobs" => {
            let half = value.parse::<u64>().ok().filter(|&number| number > 1);
            simpler.extend(half.map(|number| with((number / 2).to_string())));
        }
        _ => {}
    }
    simpler
}

/// A drive without surprises.
const PLAIN_DRIVE: &str = "wd740gd";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_nothing_to_do_with_it_goes() {
        let set = |key: &str, value: &str| (key.to_string(), value.to_string());
        let case = vec![
            set("volume.drives", "5xst32171w:256MiB+1xwd740gd"),
            set("volume.level", "md-raid5"),
            set("work.depth", "64"),
            set("work.count", "300"),
        ];
        let deep = |case: &Case| {
            let depth = case.iter().find(|(key, _)| key == "work.depth")?.1.parse::<u64>().ok()?;
            (depth >= 10).then(String::new)
        };
        let expected = vec![set("volume.drives", "1xwd740gd"), set("work.depth", "16")];
        assert_eq!(simplest(case, deep), expected);
    }
}
