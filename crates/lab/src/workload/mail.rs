//! `mail`: a mail store with a file for each message: delivered, each flushed, and collected from cold caches.

#[cfg(unix)]
use super::live_stage::LiveStage;
use super::stage::{Program, Stage, Toll};
use super::{Build, Kind};
use crate::error::{Error, Result};
use crate::keys::{Section, Takes, keys, load};
use sim::fs::Files as _;
use sim::fs::program::mail::{self, MailSpec};
use std::rc::Rc;
use std::sync::Arc;

keys! {
    /// The keys of `mail`.
    struct Mail {
        /// Number of messages
        messages: u64 = load("messages", Takes::Count(1, 10_000_000)).default("5000"),
        /// Number of mailboxes
        mailboxes: u64 = load("mailboxes", Takes::Count(1, 1_000_000)).default("200"),
        /// Number of agents that deliver at once, and then collect at once
        agents: u64 = load("agents", Takes::Count(1, 1024)).default("16"),
    }
}

pub(super) static KIND: Kind = Kind {
    name: "mail",
    about: "`agents` deliver `messages` of 4 to 64 KiB to `mailboxes`, a file each, flushed (fsync) and renamed into \
            place; then they collect them: read and removed",
    keys: &[Mail::KEYS],
    samples: &[
        "delivered_per_s",
        "writes_per_message",
        "collected_per_s",
        "reads_per_message",
        "elapsed_s",
        "mb_per_s",
        "cpu_busy",
        "busiest_share",
    ],
    build: Build::Program(|section, _| {
        let mail = Mail::read(section);
        mail.check(section)?;
        Ok(Arc::new(mail))
    }),
};

impl Mail {
    fn spec(&self) -> MailSpec {
        MailSpec { messages: self.messages, mailboxes: self.mailboxes, agents: self.agents }
    }

    /// Whether each agent has something to deliver.
    fn check(&self, section: &Section<'_>) -> Result<()> {
        if self.agents <= self.messages {
            return Ok(());
        }
        Err(Error::input(format!(
            "`{}` of {} are more than the {} of `{}`; take fewer",
            section.path("agents"),
            self.agents,
            self.messages,
            section.path("messages")
        )))
    }

    /// Its samples: how long each half took, and what the disks did meanwhile.
    fn samples(&self, delivered: (f64, u64), collected: (f64, u64)) -> Vec<f64> {
        let messages = self.messages as f64;
        [delivered, collected]
            .iter()
            .flat_map(|&(elapsed_s, requests)| [messages / elapsed_s, requests as f64 / messages])
            .collect()
    }
}

impl Program for Mail {
    fn run(&self, on: &mut Stage<'_>) -> Result<Vec<f64>> {
        let spec = self.spec();
        let files = on.session.files().clone();
        on.only(mail::make(files.clone(), spec))?;
        let mailboxes = on.only(mail::open(files.clone(), spec))?.0;
        let deliver = |list| mail::deliver(files.clone(), Rc::clone(&mailboxes), list);
        let delivered = on.all(spec.deliveries(on.seed).into_iter().map(deliver).collect())?;
        let remounted = files.clone();
        on.only(async move { remounted.remount().await })?;
        let mailboxes = on.only(mail::open(files.clone(), spec))?.0;
        let collect = |list| mail::collect(files.clone(), Rc::clone(&mailboxes), list);
        let collected = on.all(spec.collections().into_iter().map(collect).collect())?;
        let writes = delivered.traffic.writes + delivered.traffic.daemon_writes;
        Ok(self
            .samples((delivered.elapsed_s, writes), (collected.elapsed_s, collected.traffic.reads)))
    }

    fn live_samples(&self) -> &'static [&'static str] {
        &KIND.samples[..4]
    }
    fn live_toll(&self) -> Option<Toll> {
        let spec = self.spec();
        // A delivery waits for its data and for a commit; to collect one is a read of its inode and one of its data.
        let (waits, calls) = (4 * spec.messages, 12 * spec.messages);
        Some(Toll { bytes: 2 * spec.bytes(), waits, calls, ..Toll::default() })
    }

    #[cfg(unix)]
    fn run_live(&self, on: &mut LiveStage<'_>) -> Result<Vec<f64>> {
        let spec = self.spec();
        on.untimed(async |files| mail::make(files, spec).await)?;
        let delivered = on.side_by_side(
            spec.deliveries(on.seed),
            async |files| mail::open(files, spec).await,
            async |files, mailboxes, list| mail::deliver(files, mailboxes, list).await,
        )?;
        on.empty_caches()?;
        let collected = on.side_by_side(
            spec.collections(),
            async |files| mail::open(files, spec).await,
            async |files, mailboxes, list| mail::collect(files, mailboxes, list).await,
        )?;
        Ok(self.samples(
            (delivered.elapsed_s, delivered.moved.writes),
            (collected.elapsed_s, collected.moved.reads),
        ))
    }
}

#[cfg(test)]
mod tests {
    use crate::experiment::{Experiment, Plan};
    use crate::rig::{self, sim::Sim};
    use std::collections::BTreeMap;

    fn planned(drive: &str, keys: &str) -> Result<Plan, String> {
        let text = format!(
            "[host]\nname = \"linux-6.1\"\n[volume]\ndrives = \"wd740gd:4GiB\"\nlevel = \"single\"\n{drive}\n\
             [fs]\nkind = \"ext4\"\n[workload.w]\nkind = \"mail\"\nmailboxes = 20\n{keys}"
        );
        let plan = Plan::new(&Experiment::parse("some.toml", &text).unwrap());
        plan.map_err(|error| error.to_string())
    }

    fn samples(drive: &str, keys: &str) -> BTreeMap<&'static str, f64> {
        let plan = planned(drive, keys).unwrap();
        rig::run(&Sim, &plan.trials[0]).unwrap().samples.into_iter().collect()
    }

    /// Without a cache a delivery waits for the disk twice, and one commit serves all who wait for it.
    #[test]
    fn a_delivery_waits_for_the_disk_and_many_share_a_commit() {
        let off = "[drive]\nwrite_cache = false";
        let alone = samples(off, "messages = 200\nagents = 1\n");
        assert!((10.0..120.0).contains(&alone["delivered_per_s"]), "{alone:?}");
        let many = samples(off, "messages = 200\nagents = 16\n");
        assert!(many["delivered_per_s"] > 1.5 * alone["delivered_per_s"], "{alone:?} {many:?}");
        assert!(many["writes_per_message"] < alone["writes_per_message"], "{alone:?} {many:?}");
        // What is collected was not in memory.
        assert!(many["reads_per_message"] > 0.9 && many["collected_per_s"] > 10.0, "{many:?}");
    }

    #[test]
    fn more_agents_than_messages_say_which_key() {
        let error = planned("", "messages = 5\n").unwrap_err();
        assert!(error.contains("`workload.w.agents` of 16 are more than the 5 of"), "{error}");
    }
}
