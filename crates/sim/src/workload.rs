//! Streams of requests, as programs make them.

mod jobs;
mod stream;

pub use jobs::Jobs;
pub use stream::{Pattern, RunningStream, Stream};

use crate::Nanos;
use block::Request;

/// Something that makes requests and is told when one is done.
pub trait Workload {
    /// What it wants at `now`. It is asked until it wants nothing more at that time, again at the time
    /// that it said, and again after requests came back.
    fn next(&mut self, now: Nanos) -> Next;

    /// The request that it called `name` came back.
    fn done(&mut self, now: Nanos, name: Name);

    /// The work that it called `name` will be done at `at`.
    fn worked(&mut self, at: Nanos, name: Name) {
        unreachable!("it asks for no work, and {name} is to be done at {at}");
    }
}

/// What a workload calls a request, to know it again. It may use a name again once the request that
/// had it has come back.
pub type Name = u64;

/// What a workload wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// This request, now.
    Issue(Name, Request),
    /// So many ns of work by the processor that also works on its requests. It is told at once, by
    /// [`Workload::worked`], when that will be done, and is asked again.
    Work(Name, Nanos),
    /// Nothing before this time, which is yet to come, unless a request comes back before.
    At(Nanos),
    /// Nothing until a request comes back, or ever.
    Nothing,
}

/// How a stream with a rate kept up.
///
/// At a rate, each block is due at a time of its own, and `depth` blocks can be on their way: there are
/// so many buffers. A block is late when it is not done by the time its buffer is due again, `depth`
/// blocks later: the one who plays the stream, or records it, then has nowhere to go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lateness {
    /// Blocks that were late: each an underrun of a playback, an overrun of a recording.
    pub underruns: u64,
    /// By how much the latest was late, in ns.
    pub latest_ns: Nanos,
}

impl Lateness {
    /// A block that was due to be done at `deadline` was done at `now`.
    fn note(&mut self, now: Nanos, deadline: Nanos) {
        self.underruns += u64::from(now > deadline);
        self.latest_ns = self.latest_ns.max(now.saturating_sub(deadline));
    }

    /// Two streams together.
    fn and(self, other: Lateness) -> Lateness {
        Lateness {
            underruns: self.underruns + other.underruns,
            latest_ns: self.latest_ns.max(other.latest_ns),
        }
    }
}
