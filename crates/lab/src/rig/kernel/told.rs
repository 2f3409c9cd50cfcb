//! What the drives add to what the guest has measured: where the time went, and each command.

use crate::record::{Measured, share};
use std::fmt::Write as _;
use uml::Window;

/// Adds what only the drives know: how busy each was; and where `requests` to the volume were measured, how many
/// commands one took, and the parts of the commands' time, in ms a request.
pub(super) fn add(measured: &mut Measured, window: &Window, requests: Option<u64>) {
    let Window { elapsed_ns, targets, spent_ns, commands, .. } = window;
    let busy = |busy_ns: u64| share(busy_ns as f64, *elapsed_ns as f64);
    measured.member_busy = targets.iter().map(|target| busy(target.busy_ns)).collect();
    let Some(requests) = requests.filter(|requests| *requests > 0) else { return };
    let hits: u64 = targets.iter().map(|target| target.read_hits).sum();
    let mut told = vec![
        ("members_busy", measured.member_busy.iter().sum()),
        ("commands_per_request", *commands as f64 / requests as f64),
        ("hits_per_command", share(hits as f64, *commands as f64)),
    ];
    let parts = store::sample::parts().zip(spent_ns);
    told.extend(parts.map(|(part, ns)| (part.name, *ns as f64 / requests as f64 / 1e6)));
    // The guest's own engine knows none of it.
    measured.samples.retain(|(name, _)| told.iter().all(|(known, _)| known != name));
    measured.samples.extend(told);
}

/// Every command of the window: when it came and was done, in µs, which disk, what and where.
pub(super) fn trace(window: &Window) -> String {
    let mut text = String::from("submit_us,drive,op,sector,sectors,done_us\n");
    let start = window.trace.iter().map(|command| command.submitted).min().unwrap_or(0);
    let mut commands = window.trace.clone();
    commands.sort_by_key(|command| (command.submitted, command.request.target));
    let us = |nanos: u64| (nanos - start) as f64 / 1e3;
    for command in commands {
        let block::Request { target, op, sector, sectors } = command.request;
        let op = match op {
            block::Op::Read => "R",
            block::Op::Write { .. } => "W",
            block::Op::Flush => "F",
            block::Op::Discard => "D",
            block::Op::Zeroes => "Z",
        };
        let (submitted, done) = (us(command.submitted), us(command.done));
        writeln!(text, "{submitted:.1},{target},{op},{sector},{sectors},{done:.1}")
            .expect("a string grows");
    }
    text
}
