//! Where the choice turns, in words: under which load another layout is ahead, and with which figure.

use crate::doubt::{Doubt, UNCERTAIN};
use crate::question::Question;
use crate::words::Line;
use std::cmp::Ordering;
use store::words;
use verdict::tables::{figure, listed};

/// What was tried, in lines: where the best changes with the load, and whether what was assumed turns the choice.
pub(crate) fn lines(doubts: &[Doubt]) -> Vec<(String, String)> {
    let (loads, others): (Vec<&Doubt>, Vec<&Doubt>) =
        doubts.iter().partition(|doubt| doubt.is_of_load());
    let mut lines: Vec<(String, String)> = Vec::new();
    if let Some(load) = load(&loads) {
        lines.push(("load".into(), load));
    }
    if !others.is_empty() {
        lines.push(("sensitivity".into(), sensitivity(&others)));
    }
    lines
}

/// From so much on, as a share, an estimate moves a figure by more than answers may leave unsaid.
pub(crate) const MOVES: f64 = 0.1;

/// Short trials that may be off by more say too little of the figure.
pub(crate) const ERROR_MAX: f64 = 0.2;

/// What a volume has for money is chosen, and so is whether a cache is on, and no guess; lines of their own say it.
pub(crate) const CHOSEN: [&str; 3] = ["iops", "mb_per_s", "write_cache"];

/// Whether an estimate otherwise moves the answer's own figure by more than trials err.
pub(crate) fn moves(doubt: &Doubt) -> bool {
    let moved = (doubt.itself - 1.0).abs();
    doubt.is_of_figure()
        && !CHOSEN.contains(&doubt.what.as_str())
        && doubt.error <= ERROR_MAX
        && moved >= MOVES.max(doubt.error)
}

/// The estimated figures of the drive on which the answer's own `value` rests, each with what that would be: as trials in full
/// have it, for a short one may end in caches.
pub(crate) fn guesses(
    doubts: &[Doubt],
    question: &Question,
    (value, unit): (f64, &str),
) -> Option<Line> {
    let drive = &question.drives.drive.name;
    let mut rests: Vec<Rests> = Vec::new();
    for doubt in doubts.iter().filter(|doubt| doubt.is_in_full && moves(doubt)) {
        let then =
            format!("{} with {}", figure(value * doubt.itself), doubt.written(doubt.otherwise));
        Rests::add(&mut rests, &doubt.what, doubt.written(doubt.assumed), then);
    }
    let what = format!("the answer's {} {unit} rest", figure(value));
    rest(&what, drive, &rests, "trials in full")
}

/// An estimated figure on which an answer rests.
pub(crate) struct Rests {
    /// Its key.
    figure: String,
    /// What it is, as it is written.
    assumed: String,
    /// What the answer says otherwise, in words.
    then: Vec<String>,
}

impl Rests {
    /// Adds what the answer says with another value of a figure; each is tried against several rivals.
    pub(crate) fn add(all: &mut Vec<Rests>, figure: &str, assumed: String, then: String) {
        match all.iter_mut().find(|known| known.figure == figure) {
            Some(known) if known.then.contains(&then) => {}
            Some(known) => known.then.push(then),
            None => all.push(Rests { figure: figure.into(), assumed, then: vec![then] }),
        }
    }
}

/// That `what` rests on estimates of a `drive`, by such `trials`; nothing where it rests on none.
pub(crate) fn rest(what: &str, drive: &str, rests: &[Rests], trials: &str) -> Option<Line> {
    let said: Vec<String> = rests
        .iter()
        .map(|of| format!("{} = {} ({})", of.figure, of.assumed, of.then.join(", ")))
        .collect();
    let text =
        format!("{what} on estimates of {drive}: {}; by {trials} (docs/tune.md)", said.join("; "));
    (!said.is_empty()).then_some(("doubt".into(), text))
}

/// Puts `more` behind what is said of how sure the answer is.
pub(crate) fn put_behind_doubts(lines: &mut Vec<Line>, more: impl IntoIterator<Item = Line>) {
    let is_of_doubt = |of: &Line| ["certainty", "state", "doubt"].contains(&of.0.as_str());
    let place = lines.iter().rposition(is_of_doubt).map_or(0, |last| last + 1);
    lines.splice(place..place, more);
}

/// The rivals, by name, in their order.
fn rivals_of<'a>(doubts: &[&'a Doubt]) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for doubt in doubts {
        if !names.contains(&doubt.rival.as_str()) {
            names.push(&doubt.rival);
        }
    }
    names
}

/// How far each rival is ahead under one load: the logarithm, by its place; and which of them is the winner, where the choice
/// does not hold.
struct UnderLoad {
    depth: f64,
    ahead: Vec<Option<f64>>,
    winner: Option<usize>,
}

impl UnderLoad {
    /// Each load that was tried, and as it is assumed: there it holds, that is what was chosen.
    fn all(loads: &[&Doubt], rivals: &[&str]) -> Vec<UnderLoad> {
        let mut depths: Vec<f64> = loads.iter().map(|load| load.otherwise).collect();
        depths.extend(loads.first().map(|load| load.assumed));
        depths.sort_by(f64::total_cmp);
        depths.dedup();
        let under = |depth: f64| {
            let of = |name: &&str| {
                loads
                    .iter()
                    .find(|load| load.rival == **name && load.otherwise.total_cmp(&depth).is_eq())
            };
            let assumed = |name: &&str| {
                let own = loads.iter().find(|load| load.rival == **name)?;
                own.assumed.total_cmp(&depth).is_eq().then(|| -own.ahead_as_assumed.ln())
            };
            let ahead: Vec<Option<f64>> = rivals
                .iter()
                .map(|name| of(name).map(|load| -load.ahead.ln()).or_else(|| assumed(name)))
                .collect();
            let has_turned = |place: &usize| of(&rivals[*place]).is_some_and(|load| !load.holds);
            let winner = (0..rivals.len())
                .filter(has_turned)
                .max_by(|a, b| ahead[*a].partial_cmp(&ahead[*b]).unwrap_or(Ordering::Equal));
            UnderLoad { depth, ahead, winner }
        };
        depths.into_iter().map(under).collect()
    }

    /// How far a layout is ahead of the chosen one; that one of itself is not.
    fn of(&self, layout: Option<usize>) -> Option<f64> {
        layout.map_or(Some(0.0), |rival| self.ahead[rival])
    }

    /// The load between two at which the winner changes: on a straight line, both axes logarithmic.
    fn turns_at(&self, next: &UnderLoad) -> f64 {
        let apart = |under: &UnderLoad| Some(under.of(self.winner)? - under.of(next.winner)?);
        let share = match apart(self).zip(apart(next)) {
            Some((from, to)) if (from - to).abs() > f64::EPSILON => {
                (from / (from - to)).clamp(0.0, 1.0)
            }
            _ => 0.5,
        };
        (self.depth.ln() + share * (next.depth / self.depth).ln()).exp()
    }
}

/// `above about 24 in flight … is ahead`.
fn load(loads: &[&Doubt]) -> Option<String> {
    const NAMED: usize = 3;
    let first = loads.first()?;
    let rivals = rivals_of(loads);
    let all = UnderLoad::all(loads, &rivals);
    // A depth for which the choice holds is not one at which it turns, however near the two are there.
    let start_of = |depth: f64, from: &UnderLoad| match from.winner {
        None if depth.round() <= from.depth => format!("{:.0}", from.depth),
        _ => format!("about {depth:.0}"),
    };
    let mut said = Vec::new();
    let mut start: Option<String> = None;
    for (place, own) in all.iter().enumerate() {
        let next = all.get(place + 1);
        if next.is_some_and(|next| next.winner == own.winner) {
            continue;
        }
        let turn = next.map(|next| (own.turns_at(next), next));
        if let Some(rival) = own.winner.map(|rival| rivals[rival]) {
            let range = match (&start, &turn) {
                (Some(start), Some((depth, _))) => format!("above {start} and below {depth:.0}"),
                (Some(start), None) => format!("above {start}"),
                (None, Some((depth, next))) if depth.round() >= next.depth => {
                    format!("below {:.0}", next.depth)
                }
                (None, Some((depth, _))) => format!("below about {depth:.0}"),
                // It holds as assumed, which is among them.
                (None, None) => continue,
            };
            said.push(format!("{range} {} {rival} is ahead", first.what));
        }
        start = turn.map(|(depth, _)| start_of(depth, own));
    }
    said.truncate(NAMED);
    Some(if said.is_empty() {
        let error = loads.iter().map(|load| load.error).fold(0.0, f64::max);
        let tried = || loads.iter().map(|load| load.otherwise);
        format!(
            "the choice holds against {} from {} to {} {} (the answer is for {}; short trials, which miss differences \
             below {:.0} %)",
            words::listed(&rivals, "; ", "and"),
            tried().fold(first.assumed, f64::min),
            tried().fold(first.assumed, f64::max),
            first.what,
            first.assumed,
            100.0 * error
        )
    } else {
        // Against a few only, so that one is ahead, and not what to take.
        format!(
            "{} (the answer is for {}; to choose for another number, ask with that)",
            said.join("; "),
            first.assumed
        )
    })
}

/// Of each assumption the rival that is farthest ahead where the choice does not hold, as `changes to … with …`.
fn turned(others: &[&Doubt]) -> Vec<String> {
    let is_same = |one: &Doubt, other: &Doubt| {
        one.what == other.what && one.otherwise.total_cmp(&other.otherwise).is_eq()
    };
    let wins = |doubt: &&&Doubt| {
        let is_ahead =
            |other: &&&Doubt| !other.holds && is_same(other, doubt) && other.ahead < doubt.ahead;
        !doubt.holds && !others.iter().any(|other| is_ahead(&other))
    };
    let winners: Vec<&Doubt> = others.iter().filter(wins).copied().collect();
    let to = |rival: &str| {
        let with = winners.iter().filter(|doubt| doubt.rival == rival).map(|doubt| {
            let [otherwise, assumed] =
                [doubt.otherwise, doubt.assumed].map(|value| doubt.written(value));
            if doubt.is_switch {
                format!("{} = {otherwise} (assumed: {assumed})", doubt.what)
            } else {
                format!("{otherwise} {} (assumed: {assumed})", doubt.what)
            }
        });
        format!("changes to {rival} with {}", listed(&with.collect::<Vec<_>>()))
    };
    rivals_of(&winners).into_iter().map(to).collect()
}

/// As what a part of the load was tried: `4 and 16`.
fn values(others: &[&Doubt], what: &str) -> String {
    let mut values: Vec<String> = Vec::new();
    for doubt in others.iter().filter(|doubt| doubt.what == what) {
        let value = doubt.written(doubt.otherwise);
        if !values.contains(&value) {
            values.push(value);
        }
    }
    listed(&values)
}

fn sensitivity(others: &[&Doubt]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for doubt in others {
        if !names.contains(&doubt.what.as_str()) {
            names.push(&doubt.what);
        }
    }
    let of_load = |name: &&&str| name.contains(' ');
    let load: Vec<String> = names
        .iter()
        .filter(of_load)
        .map(|name| format!("{} {name}", values(others, name)))
        .collect();
    let figures = names.len() - load.len();
    let mut how = format!("±{:.0} %", 100.0 * UNCERTAIN);
    if others.iter().any(|doubt| doubt.is_switch) {
        how += ", or off";
    }
    let mut tried = Vec::new();
    match figures {
        0 => {}
        1 => tried.push(format!("the drive's one estimated figure ({how})")),
        _ => tried.push(format!("the drive's {figures} estimated figures ({how})")),
    }
    tried.extend(load);
    let error = others.iter().map(|doubt| doubt.error).fold(0.0, f64::max);
    let tried = format!(
        "varied one at a time in short trials (which miss differences below {:.0} %): {}",
        100.0 * error,
        tried.join("; ")
    );
    let turned = turned(others);
    if turned.is_empty() {
        format!(
            "the choice holds against {}; {tried}",
            words::listed(&rivals_of(others), "; ", "and")
        )
    } else {
        format!("{}; {tried}", turned.join("; "))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::doubt::by_full_trials;
    use crate::question::candidate::Candidate;
    use crate::reasons::counterfactual::Reason;
    use store::quantity::Better;

    pub(crate) fn doubt(what: &str, otherwise: f64, ahead: f64) -> Doubt {
        let holds = ahead >= 1.0;
        let rival = "B".into();
        let (what, ahead_as_assumed) = (what.into(), 1.2);
        Doubt {
            what,
            assumed: 16.0,
            otherwise,
            holds,
            ahead,
            ahead_as_assumed,
            error: 0.1,
            rival,
            itself: 1.0,
            is_switch: false,
            is_in_full: true,
        }
    }

    /// Four P30 under `postgres` make what follows from 1800 us, a guess, and their file says so; the answer did not.
    #[test]
    fn estimates_that_move_the_figure_itself_are_named() {
        let asked = crate::question::tests::question("4x azure-p30", "postgres", 1);
        let moved = |what: &str, otherwise, itself| Doubt { itself, ..doubt(what, otherwise, 2.0) };
        let all = [
            moved("latency_p50_us", 12.0, 1.25),
            Doubt { rival: "C".into(), ..moved("latency_p50_us", 12.0, 1.25) },
            moved("latency_p50_us", 20.0, 0.8),
            moved("latency_p95_us", 12.0, 1.05),
            moved("iops", 12.0, 0.75),
            moved("in flight", 64.0, 3.0),
            moved("% reads", 85.0, 3.0),
            moved("KiB a request", 32.0, 3.0),
            Doubt { is_switch: true, assumed: 1.0, ..moved("power_loss_protection", 0.0, 0.5) },
        ];
        let (about, text) = guesses(&all, &asked, (100.0, "MB/s")).unwrap();
        assert_eq!(about, "doubt");
        assert!(
            text.starts_with(
                "the answer's 100.0 MB/s rest on estimates of azure-p30: latency_p50_us = 16 (125.0 with 12, 80.0 with 20); \
                 power_loss_protection = true (50.0 with false); by trials in full"
            ),
            "{text}"
        );
        assert_eq!(guesses(&all[3..8], &asked, (100.0, "MB/s")), None);
        // Three disks under `backup` were to make 599 MB/s, of 549 that their media carry: a short buffered trial ends in caches.
        let short: Vec<Doubt> =
            all.iter().map(|of| Doubt { is_in_full: false, ..of.clone() }).collect();
        assert_eq!(guesses(&short, &asked, (100.0, "MB/s")), None);
        // Short trials that err by more say nothing.
        let vague = Doubt { error: 0.3, ..all[0].clone() };
        assert_eq!(guesses(&[vague], &asked, (100.0, "MB/s")), None);
        // Backups to RAID 6 without write caches made 520 MB/s in such trials, 1178 in full ones.
        let vague = Doubt { error: 0.48, itself: 0.34, ..all[0].clone() };
        assert_eq!(guesses(&[vague], &asked, (100.0, "MB/s")), None);
    }

    #[test]
    fn where_the_choice_turns_is_said() {
        let doubts = [
            doubt("in flight", 4.0, 2.0),
            doubt("in flight", 64.0, 0.5),
            doubt("seek_average_ms", 6.0, 1.2),
            doubt("seek_average_ms", 10.0, 0.9),
        ];
        let lines = lines(&doubts);
        // From 16, where it is 1.2 times better, to 64, where it is half as good: 0.21 of the way, on logarithms.
        assert_eq!(
            lines[0].1,
            "above about 21 in flight B is ahead (the answer is for 16; to choose for another number, ask with that)"
        );
        assert_eq!(
            lines[1].1,
            "changes to B with 10 seek_average_ms (assumed: 16); varied one at a time in short trials \
             (which miss differences below 10 %): the drive's one estimated figure (±25 %)"
        );
        let held = super::lines(&[doubt("in flight", 1.0, 2.0), doubt("% reads", 85.0, 1.5)]);
        assert_eq!(
            held[0].1,
            "the choice holds against B from 1 to 16 in flight (the answer is for 16; short trials, which miss differences below 10 %)"
        );
        let text = &held[1].1;
        assert!(
            text.starts_with("the choice holds against B; varied")
                && text.ends_with(": 85 % reads")
        );
        let turned = super::lines(&[doubt("in flight", 4.0, 0.5), doubt("in flight", 64.0, 0.5)]);
        assert_eq!(
            turned[0].1,
            "below about 12 in flight B is ahead; above about 21 in flight B is ahead (the answer is for 16; to choose for another \
             number, ask with that)"
        );
        // It turns only in between: 16 to 64 as above, and back from 64 to 256 half of the way.
        let between =
            super::lines(&[doubt("in flight", 64.0, 0.5), doubt("in flight", 256.0, 2.0)]);
        assert_eq!(
            between[0].1,
            "above about 21 and below 128 in flight B is ahead (the answer is for 16; to choose for another number, ask with that)"
        );
        // Where the two tie as it is assumed, that is not below itself.
        let tied = Doubt { ahead_as_assumed: 0.98, ..doubt("in flight", 1.0, 0.5) };
        assert!(super::lines(&[tied])[0].1.starts_with("below 16 in flight B is ahead "));
        assert!(super::lines(&[]).is_empty());
    }

    /// A page that says "from 1 to 256 in flight" and "with 1 in flight B would be ahead" contradicts itself.
    #[test]
    fn trials_in_full_say_whether_the_choice_holds() {
        let of = |mechanism: &str, best, other| Reason {
            mechanism: mechanism.into(),
            best,
            other,
            sentence: String::new(),
        };
        let rival = Candidate { level: "md-raid5".parse().unwrap(), chunk: "64KiB", cache: "256" };
        let said = |other| {
            let mut doubts = [doubt("in flight", 1.0, 1.1), doubt("in flight", 64.0, 2.0)];
            let reasons = [of("with 1 in flight", 93.0, other), of("without seeks", 1.0, 9.0)];
            for doubt in &mut doubts {
                doubt.rival = rival.name();
            }
            by_full_trials(&mut doubts, &rival, &reasons, (Better::Higher, 0.05));
            lines(&doubts)[0].1.replace(&rival.name(), "B")
        };
        assert!(said(100.0).starts_with("below about 2 in flight B is ahead "), "{}", said(100.0));
        assert!(said(94.0).starts_with("the choice holds against B from 1 to 64 in flight"));
    }

    /// The second of several may be the one that wins; which, may change with the load.
    #[test]
    fn the_rival_that_would_win_is_named() {
        let to = |rival: &str, of: Doubt| Doubt { rival: rival.into(), ..of };
        let loads = |[low, high, highest]: [f64; 3]| {
            [
                to("B", doubt("in flight", 4.0, 2.0)),
                to("B", doubt("in flight", 64.0, 0.5)),
                to("B", doubt("in flight", 256.0, 0.5)),
                to("C", doubt("in flight", 4.0, low)),
                to("C", doubt("in flight", 64.0, high)),
                to("C", doubt("in flight", 256.0, highest)),
            ]
        };
        let said = |of| lines(&loads(of))[0].1.clone();
        // C crosses 1 halfway between 4 and 16 on logarithms, and later than B does.
        assert!(said([2.0, 1.1, 0.9]).starts_with("above about 21 in flight B is ahead ("));
        assert!(said([1.0 / 1.2, 0.9, 0.9]).starts_with(
            "below about 8 in flight C is ahead; above about 21 in flight B is ahead ("
        ));
        assert!(said([2.0, 1.5, 0.125]).starts_with(
            "above about 21 and below 118 in flight B is ahead; above about 118 in flight C is ahead ("
        ), "{}", said([2.0, 1.5, 0.125]));
        let others = [
            to("B", doubt("% reads", 85.0, 0.9)),
            to("C", doubt("% reads", 85.0, 0.8)),
            to("B", doubt("% reads", 55.0, 0.9)),
            to("C", doubt("% reads", 55.0, 1.2)),
        ];
        let said = &lines(&others)[0].1;
        assert!(
            said.starts_with(
                "changes to C with 85 % reads (assumed: 16); changes to B with 55 % reads (assumed: 16); varied"
            ),
            "{said}"
        );
        let held =
            lines(&[to("B", doubt("% reads", 85.0, 1.5)), to("C", doubt("% reads", 85.0, 1.5))]);
        assert!(held[0].1.starts_with("the choice holds against B and C; varied"), "{}", held[0].1);
    }
}
