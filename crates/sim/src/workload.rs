//! Streams of requests, as programs make them.

mod arrivals;
mod jobs;
mod places;
mod replay;
mod stream;

pub use arrivals::Arrivals;
pub use jobs::Jobs;
pub use places::Skew;
pub use replay::{Counted, Pacing, Replay, Traced};
pub use stream::{Pattern, RunningStream, Stream};

use crate::Nanos;
use block::Request;

/// Something that makes requests and learns when they are done.
pub trait Workload {
    /// What it wants at `now`. Ask until it wants nothing more at that time, again at the time that it
    /// gave, and again after requests came back.
    fn next(&mut self, now: Nanos) -> Next;

    /// The request with this name came back.
    fn done(&mut self, now: Nanos, name: Name);

    /// The work with this name will be done at `at`.
    fn worked(&mut self, at: Nanos, name: Name) {
        unreachable!("it asks for no work, and {name} is to be done at {at}");
    }

    /// Whether it wants nothing, whenever it is asked, until all that it has issued is back.
    fn waits(&self) -> bool {
        false
    }

    /// How many streams it has that are recorded apart; 0 where all are one.
    fn streams(&self) -> usize {
        0
    }

    /// Where what it has just issued by this name comes from; asked where streams are recorded apart.
    fn came(&self, name: Name) -> Came {
        unreachable!("nothing is recorded apart, and {name} is asked about");
    }

    /// Whether what it has just issued counts. What does not is served like the rest and left out of the result: at the
    /// beginning, at the end, or both.
    fn counts(&self) -> bool {
        true
    }
}

/// Where a request comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Came {
    /// Which stream.
    pub stream: usize,
    /// When the program had it: it may have waited for a flush since. For a flush, when the program had the first
    /// write that it makes durable: there a commit begins.
    pub at: Nanos,
}

/// A workload's name for a request, to recognise it. It may reuse a name once that request has come
/// back.
pub type Name = u64;

/// What a workload wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// This request, now.
    Issue(Name, Request),
    /// This many ns of work by the processor that also works on its requests. [`Workload::worked`]
    /// tells it at once when that will be done, and it is asked again.
    Work(Name, Nanos),
    /// Nothing before this future time, unless a request comes back earlier.
    At(Nanos),
    /// Nothing until a request comes back, or ever.
    Nothing,
}

/// How well a stream with a rate kept up.
///
/// At a rate, each block is due at its own time, and `depth` blocks can be in flight: there are as many
/// buffers. A block is late when it is not done by the time its buffer is due again, `depth` blocks
/// later: whoever plays or records the stream then has no buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lateness {
    /// Late blocks: each is an underrun of a playback, or an overrun of a recording.
    pub underruns: u64,
    /// How late the latest was, in ns.
    pub latest_ns: Nanos,
}

impl Lateness {
    /// A block that was due at `deadline` was done at `now`.
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
