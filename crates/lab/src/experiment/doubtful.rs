//! What the model of a host is known to be far off in, so that answers say it.

use super::trial::Trial;

/// What makes the figures of `trials` doubtful where their host is modelled.
pub fn doubts(trials: &[Trial]) -> Vec<String> {
    let readers = trials.iter().any(reads_a_stripe_of_old_drives);
    let text = "several programs read through the page cache from a stripe of drives that take one command at a time: the model \
                was 0.32 to 0.78 of a kernel's rate (docs/md.md); `--on kernel` measures it";
    readers.then(|| text.to_string()).into_iter().collect()
}

/// Whether several programs read through the page cache from a stripe without copies or parity, over drives that queue nothing.
fn reads_a_stripe_of_old_drives(trial: &Trial) -> bool {
    let volume = &trial.setup.volume;
    let is_stripe =
        volume.level.interleaved() && volume.level.losses_survived(volume.members.len()) == 0;
    let queue_nothing = volume.members.iter().all(|member| member.queue_depth() == 1);
    let programs: u64 = trial.requests().map(|work| work.keys.jobs).sum();
    volume.page_cache.is_read && is_stripe && queue_nothing && programs > 1
}

#[cfg(test)]
mod tests {
    use crate::experiment::{Experiment, Plan};

    #[test]
    fn several_readers_of_a_stripe_of_old_drives_are_doubtful() {
        let doubts = |drives: &str, level: &str, jobs: u32| {
            let text = format!(
                "volume = {{ drives = '{drives}', level = '{level}' }}\n\
                 workload.w = {{ kind = 'sequential', direct = false, jobs = {jobs}, count = 9 }}\n"
            );
            super::doubts(&Plan::new(&Experiment::parse("x.toml", &text).unwrap()).unwrap().trials)
        };
        assert!(doubts("3xwd740gd", "md-stripe", 4)[0].contains("0.32 to 0.78"));
        assert!(doubts("3xwd740gd", "md-stripe", 1).is_empty());
        assert!(doubts("3xwd740gd", "md-raid5", 4).is_empty());
        assert!(doubts("3xst18000nm000j", "md-stripe", 4).is_empty());
    }
}
