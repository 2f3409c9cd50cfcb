//! What the drives add to what the guest has measured: where the time went.

use crate::record::{Measured, share};
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
