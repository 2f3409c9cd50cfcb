//! One job: requests of one kind, with a queue depth.

mod pick;

use super::arrivals::{ArrivalClock, Arrivals};
use super::places::{Places, Skew};
use super::{Came, Lateness, Name, Next, Workload};
use crate::Nanos;
use block::{Op, Request, SECTOR_BYTES};
use rand_pcg::Pcg64Mcg;

/// The order in which a stream goes over its sectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// One after the other, from the start.
    Sequential,
    /// One after the other, with a gap of this many sectors after each: FFS's rotational delay.
    Strided(u64),
    /// Anywhere, at multiples of the block size.
    Random,
}

/// Requests of one kind, with a queue depth.
#[derive(Clone, Debug)]
pub struct Stream {
    /// The device's target that all requests and flushes go to.
    pub target: u32,
    /// The operation.
    pub op: Op,
    /// Percentage of reads, where reads and plain writes are mixed; `op` is then ignored. Each
    /// direction has its own position.
    pub reads_percent: Option<u32>,
    /// The order of requests.
    pub pattern: Pattern,
    /// Where the range starts, in sectors.
    pub start_sector: u64,
    /// Length of the range, in sectors. A stream that reaches the end starts again.
    pub span_sectors: u64,
    /// Size of each request, in sectors; also the alignment of random requests.
    pub block_sectors: u32,
    /// Sizes with their relative frequencies; empty where all are `block_sectors`.
    pub sizes: Vec<(u32, u32)>,
    /// The number of requests.
    pub count: u64,
    /// It ends when this many sectors have been requested.
    pub sectors: u64,
    /// It ends at this time.
    pub until_ns: Nanos,
    /// Queue depth: requests in flight at a time.
    pub depth: u32,
    /// Think time of the program before each request, one after the other, in ns.
    pub think_ns: Nanos,
    /// Requests after each think time, one after the other.
    pub think_every: u64,
    /// Processor work for each request after the think time, one after the other, in ns: for a `dd`
    /// that writes, filling the block from /dev/zero.
    pub work_ns: Nanos,
    /// When requests come. Where that is by the clock, `requests_per_s` is their mean rate, and as many are in
    /// flight as there are: `depth`, `think_ns` and `work_ns` mean nothing.
    pub arrivals: Arrivals,
    /// How many come at a time, where they come by the clock.
    pub burst: u32,
    /// Where random requests go.
    pub skew: Skew,
    /// Of random requests, how many follow each other before the next random place (fio's `rw=randread:8`).
    pub in_a_row: u32,
    /// A limit in bytes a second, from the start on; a stream that fell behind catches up.
    pub bytes_per_s: Option<u64>,
    /// A limit in requests a second, likewise.
    pub requests_per_s: Option<u64>,
    /// After this many writes a flush, which nothing else of the stream overtakes; 0 for none. It is one of the
    /// `depth` requests in flight, so that at a depth of 1 it comes when the writes are done; where requests come by the
    /// clock, it waits for all of the stream's.
    pub flush_every: u64,
    /// Where requests come by the clock: whether all writes that have come by the time that those of a flush are issued join
    /// them, and its flush is theirs, too (group commit).
    pub group_commit: bool,
    /// Whether it ends with the last stream beside it that is none of the background.
    pub background: bool,
    /// Whether a flush follows when all requests are done.
    pub end_flush: bool,
}

impl Default for Stream {
    fn default() -> Self {
        Stream {
            target: 0,
            op: Op::Read,
            reads_percent: None,
            pattern: Pattern::Sequential,
            start_sector: 0,
            span_sectors: 0,
            block_sectors: 8,
            sizes: Vec::new(),
            count: u64::MAX,
            sectors: u64::MAX,
            until_ns: Nanos::MAX,
            depth: 1,
            think_ns: 0,
            think_every: 1,
            work_ns: 0,
            arrivals: Arrivals::Closed,
            burst: 1,
            skew: Skew::Uniform,
            in_a_row: 1,
            bytes_per_s: None,
            requests_per_s: None,
            flush_every: 0,
            group_commit: false,
            background: false,
            end_flush: false,
        }
    }
}

impl Stream {
    /// Whether it is a closed loop that nothing holds back but its depth.
    fn is_plain(&self) -> bool {
        let is_held_back = self.has_rate() || self.think_ns > 0 || self.work_ns > 0;
        !(self.is_open() || is_held_back || self.flush_every > 0)
    }

    /// Whether it is held back: a closed loop that is to keep a rate.
    fn has_rate(&self) -> bool {
        !self.is_open() && (self.bytes_per_s.is_some() || self.requests_per_s.is_some())
    }

    fn is_open(&self) -> bool {
        self.arrivals != Arrivals::Closed
    }
}

/// A running [`Stream`].
#[derive(Clone, Debug)]
pub struct RunningStream {
    stream: Stream,
    /// As [`Stream::is_plain`]: it need not prepare a request before it makes one.
    is_plain: bool,
    /// Whether its requests are of one size, each anywhere in the range.
    is_anywhere: bool,
    /// How many blocks fit into the range.
    blocks: u64,
    random: Pcg64Mcg,
    prepared: Option<Prepared>,
    issued: u64,
    issued_sectors: u64,
    /// The position of the next request of each direction, from the start of the range.
    positions: [u64; 2],
    /// For each name, the deadline of its request, where it has a rate.
    deadlines: Vec<Nanos>,
    free: Vec<u32>,
    /// How many names there are.
    names: u32,
    unflushed: u64,
    flushing: bool,
    ready_at: Nanos,
    lateness: Lateness,
    places: Places,
    /// How many more requests follow the one at the last random place.
    to_follow: u32,
    /// What there is besides where requests come by the clock.
    open: Option<Open>,
    /// Since when the oldest write waits that no flush has followed.
    unflushed_since: Nanos,
    /// When what was issued last had come.
    came_ns: Nanos,
}

/// What an open stream has instead of a depth.
#[derive(Clone, Debug)]
struct Open {
    clock: ArrivalClock,
    in_flight: u64,
    /// When what the next flush is for was issued.
    group_ns: Nanos,
    /// Names that were used: those that are free again are in `free`.
    names: u32,
}

/// With so many in flight an open stream ends: the device will never catch up.
pub(super) const OPEN_MAX: u64 = 1 << 20;
/// The name of a flush of an open stream: no request has it.
const OPEN_FLUSH: Name = 1 << 32;

/// The next request.
#[derive(Clone, Copy, Debug)]
struct Prepared {
    request: Request,
    /// When the program continues with it: first the processor's work, then the request.
    at: Nanos,
    /// The rate does not allow it before this time.
    due: Nanos,
    /// The processor's remaining work for it.
    work_ns: Nanos,
}

impl RunningStream {
    /// Starts at time 0.
    ///
    /// # Panics
    ///
    /// Where not even one block fits into the range, or the depth or a rate is zero.
    pub fn new(stream: Stream, seed: u64) -> Self {
        let sizes = stream.sizes.iter().map(|&(sectors, _)| sectors);
        let largest = sizes.max().unwrap_or(0).max(stream.block_sectors);
        let room = u64::from(largest) <= stream.span_sectors && stream.block_sectors > 0;
        assert!(room && stream.depth > 0, "a stream needs room and at least one request");
        let rates = [stream.bytes_per_s, stream.requests_per_s];
        assert!(!rates.contains(&Some(0)), "a stream that may do nothing never ends");
        let open = stream.is_open().then(|| {
            let rate = stream.requests_per_s.expect("what comes by the clock has a rate");
            let clock = ArrivalClock::new(stream.arrivals, rate, stream.burst, seed);
            Open { clock, in_flight: 0, group_ns: 0, names: 0 }
        });
        // As many names as requests are ever in flight, and one more where that is fewer than the depth: then one is always free.
        let least = stream.sizes.iter().map(|&(sectors, _)| sectors).min();
        let least = u64::from(least.unwrap_or(stream.block_sectors).max(1));
        let asked = stream.count.min(stream.sectors.div_ceil(least)).saturating_add(1);
        let names = if open.is_some() { 0 } else { asked.min(stream.depth.into()) as u32 };
        RunningStream {
            is_plain: stream.is_plain(),
            is_anywhere: stream.is_anywhere(),
            blocks: stream.span_sectors / u64::from(stream.block_sectors),
            random: Pcg64Mcg::new(u128::from(seed) << 64 | u128::from(!seed)),
            places: Places::new(stream.skew.clone()),
            to_follow: 0,
            open,
            unflushed_since: 0,
            came_ns: 0,
            prepared: None,
            issued: 0,
            issued_sectors: 0,
            positions: [0; 2],
            deadlines: vec![Nanos::MAX; if stream.has_rate() { names as usize } else { 0 }],
            free: (0..names).rev().collect(),
            names,
            unflushed: 0,
            flushing: false,
            ready_at: 0,
            lateness: Lateness::default(),
            stream,
        }
    }

    /// How well it kept up, if it has a rate.
    pub fn lateness(&self) -> Option<Lateness> {
        self.stream.has_rate().then_some(self.lateness)
    }

    /// The name of a flush.
    fn flush_name(&self) -> Name {
        if self.open.is_some() { OPEN_FLUSH } else { Name::from(self.stream.depth) }
    }

    /// How many requests are in flight, flushes not counted.
    fn in_flight(&self) -> u64 {
        match &self.open {
            Some(open) => open.in_flight,
            None => u64::from(self.names) - self.free.len() as u64,
        }
    }

    /// When what was issued last had come, and for a flush the oldest write before it.
    pub(super) fn came_ns(&self) -> Nanos {
        self.came_ns
    }

    /// Whether it is there for as long as others run.
    pub(super) fn is_background(&self) -> bool {
        self.stream.background
    }

    /// Whether it makes no more requests at `now`.
    pub(super) fn is_done(&self, now: Nanos) -> bool {
        !self.stream.end_flush && (self.is_over() || now >= self.stream.until_ns)
    }

    fn is_over(&self) -> bool {
        self.issued >= self.stream.count || self.issued_sectors >= self.stream.sectors
    }

    /// What comes when there are no more requests.
    fn end(&mut self) -> Next {
        if self.in_flight() > 0 || !std::mem::take(&mut self.stream.end_flush) {
            return Next::Nothing;
        }
        self.flush()
    }

    fn flush(&mut self) -> Next {
        self.flushing = true;
        if std::mem::take(&mut self.unflushed) > 0 {
            self.came_ns = self.unflushed_since;
        }
        Next::Issue(self.flush_name(), Request::flush().to(self.stream.target))
    }

    /// What an open stream wants: what has come, as soon as no flush is in its way.
    fn next_open(&mut self, now: Nanos) -> Next {
        let is_over = self.is_over();
        if self.is_flush_due() && (is_over || !self.joins_group(now)) {
            return if self.in_flight() > 0 { Next::Nothing } else { self.flush() };
        }
        let open = self.open.as_mut().expect("an open stream has a clock");
        let at = open.clock.next_ns();
        if is_over || open.in_flight >= OPEN_MAX || at >= self.stream.until_ns {
            return self.end();
        }
        if at > now {
            return Next::At(at);
        }
        open.clock.pass();
        open.in_flight += 1;
        open.group_ns = now;
        let name = self.free.pop().unwrap_or_else(|| {
            open.names += 1;
            open.names - 1
        });
        let request = self.pick();
        self.issued += 1;
        self.issued_sectors += u64::from(request.sectors);
        self.note_write(&request, at);
        self.came_ns = at;
        Next::Issue(Name::from(name), request)
    }

    /// Whether the next that has come belongs to the flush that is due: those that come later wait for it.
    fn joins_group(&self, now: Nanos) -> bool {
        let open = self.open.as_ref().expect("an open stream has a clock");
        self.stream.group_commit && now == open.group_ns && open.clock.next_ns() <= now
    }

    fn is_flush_due(&self) -> bool {
        self.stream.flush_every > 0 && self.unflushed >= self.stream.flush_every
    }

    /// `request` is issued, which came at `at`.
    fn note_write(&mut self, request: &Request, at: Nanos) {
        if request.op.modifies() {
            if self.unflushed == 0 {
                self.unflushed_since = at;
            }
            self.unflushed += 1;
        }
    }

    /// The next request of a plain stream: the same as that of any other, which is prepared first.
    #[inline]
    fn next_plain(&mut self, now: Nanos) -> Next {
        if self.is_over() || now >= self.stream.until_ns {
            return self.end();
        }
        let Some(name) = self.free.pop() else { return Next::Nothing };
        let request = if self.is_anywhere { self.pick_anywhere() } else { self.pick().parted() };
        self.note_issued(now, &request);
        Next::Issue(Name::from(name), request)
    }

    /// What a stream wants that is not plain, or is flushing.
    fn next_other(&mut self, now: Nanos) -> Next {
        if self.flushing {
            return Next::Nothing;
        }
        if self.open.is_some() {
            return self.next_open(now);
        }
        if self.is_flush_due() {
            return if self.free.is_empty() { Next::Nothing } else { self.flush() };
        }
        let prepared = match self.prepared {
            Some(prepared) => prepared,
            None if self.is_over() => return self.end(),
            None if self.free.is_empty() => return Next::Nothing,
            None => self.prepare(now),
        };
        let Prepared { request, at, work_ns, .. } = prepared;
        let is_ready = at <= now && work_ns == 0;
        if is_ready && now < self.stream.until_ns {
            self.prepared = None;
            return Next::Issue(self.issue(now, &request), request);
        }
        self.prepared = Some(prepared);
        if at.max(now) >= self.stream.until_ns {
            self.end()
        } else if at > now {
            Next::At(at)
        } else {
            Next::Work(0, work_ns)
        }
    }

    /// What has this name came back, of a stream that is not plain or is flushing.
    #[inline(never)]
    fn other_done(&mut self, now: Nanos, name: Name) {
        if name == self.flush_name() {
            self.flushing = false;
            return;
        }
        if self.stream.has_rate() {
            self.lateness.note(now, self.deadlines[name as usize]);
        }
        if let Some(open) = &mut self.open {
            open.in_flight -= 1;
        }
        self.free.push(name as u32);
    }

    /// Decides on the next request, which can be issued from `now` on.
    fn prepare(&mut self, now: Nanos) -> Prepared {
        let request = self.pick();
        let thinks =
            self.stream.think_ns > 0 && self.issued.is_multiple_of(self.stream.think_every);
        let think_ns = if thinks { self.stream.think_ns } else { 0 };
        self.ready_at = self.ready_at.max(now).saturating_add(think_ns);
        let due = self.due_ns(self.issued, self.issued_sectors);
        let work_ns = self.stream.work_ns;
        let at = if work_ns > 0 { self.ready_at } else { self.ready_at.max(due) };
        Prepared { request, at, due, work_ns }
    }

    /// When a request is due before which this many requests, of this many sectors, were issued.
    fn due_ns(&self, requests: u64, sectors: u64) -> Nanos {
        if !self.stream.has_rate() {
            return 0;
        }
        let over = |amount: u128, rate: Option<u64>| {
            let due = |rate| amount * 1_000_000_000 / u128::from(rate);
            rate.map_or(0, |rate| Nanos::try_from(due(rate)).unwrap_or(Nanos::MAX))
        };
        let bytes = u128::from(sectors) * u128::from(SECTOR_BYTES);
        over(bytes, self.stream.bytes_per_s).max(over(requests.into(), self.stream.requests_per_s))
    }

    /// Notes that `request` is issued; returns its name.
    #[inline]
    fn issue(&mut self, now: Nanos, request: &Request) -> Name {
        let slot = self.free.pop().expect("no more than depth are in flight");
        let (issued, sectors) = (self.issued, self.issued_sectors);
        self.note_issued(now, request);
        if self.stream.has_rate() {
            let due = self.due_ns(issued, sectors);
            let next = self.due_ns(self.issued, self.issued_sectors);
            let buffers_ns = u64::from(self.stream.depth).saturating_mul(next - due);
            self.deadlines[slot as usize] = due.saturating_add(buffers_ns);
        }
        Name::from(slot)
    }

    /// `request` is issued at the time that it comes.
    #[inline]
    fn note_issued(&mut self, now: Nanos, request: &Request) {
        self.issued += 1;
        self.issued_sectors += u64::from(request.sectors);
        self.note_write(request, now);
        self.came_ns = now;
    }
}

impl Workload for RunningStream {
    #[inline]
    fn next(&mut self, now: Nanos) -> Next {
        if !self.is_plain || self.flushing {
            self.next_other(now)
        } else if self.free.is_empty() {
            // As many as may be are in flight: whatever it is asked, it waits.
            Next::Nothing
        } else {
            self.next_plain(now)
        }
    }

    #[inline]
    fn waits(&self) -> bool {
        self.is_plain && !self.flushing && self.free.is_empty()
    }

    fn worked(&mut self, at: Nanos, _: Name) {
        let prepared = self.prepared.as_mut().expect("work is for a request that comes next");
        prepared.work_ns = 0;
        prepared.at = at.max(prepared.due);
        self.ready_at = at;
    }

    #[inline]
    fn done(&mut self, now: Nanos, name: Name) {
        if self.is_plain && !self.flushing {
            self.free.push(name as u32);
        } else {
            self.other_done(now, name);
        }
    }

    fn streams(&self) -> usize {
        usize::from(self.open.is_some())
    }

    fn came(&self, _: Name) -> Came {
        Came { stream: 0, at: self.came_ns() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(pattern: Pattern) -> Stream {
        Stream {
            pattern,
            start_sector: 100,
            span_sectors: 85,
            count: 1000,
            depth: 2,
            think_ns: 5,
            ..Stream::default()
        }
    }

    /// The first requests of a stream whose requests come back at once, and when each is issued.
    fn issued(stream: Stream, limit: usize) -> Vec<(Nanos, Request)> {
        let mut running = RunningStream::new(stream, 7);
        let (mut now, mut requests) = (0, Vec::new());
        while requests.len() < limit {
            match running.next(now) {
                Next::Issue(name, request) => {
                    requests.push((now, request));
                    running.done(now, name);
                }
                Next::Work(name, work_ns) => running.worked(now + work_ns, name),
                Next::At(at) => now = at,
                Next::Nothing => break,
            }
        }
        requests
    }

    fn sectors(stream: Stream, limit: usize) -> Vec<u64> {
        issued(stream, limit).iter().map(|(_, request)| request.sector).collect()
    }

    #[test]
    fn a_sequential_stream_goes_round() {
        let expected: Vec<u64> = (0..10).chain(0..1).map(|block| 100 + 8 * block).collect();
        assert_eq!(sectors(stream(Pattern::Sequential), 11), expected);
    }

    #[test]
    fn a_strided_stream_leaves_a_gap_after_each_block() {
        let expected: Vec<u64> = [0, 24, 48, 72, 0].map(|sector| 100 + sector).into();
        assert_eq!(sectors(stream(Pattern::Strided(16)), 5), expected);
    }

    /// fio's `rw=randread:3`: two requests follow each random one.
    #[test]
    fn random_requests_follow_each_other_in_rows() {
        let of = Stream {
            in_a_row: 3,
            span_sectors: 1 << 30,
            reads_percent: None,
            ..stream(Pattern::Random)
        };
        let places = sectors(of, 300);
        for row in places.chunks(3) {
            assert_eq!([row[1] - row[0], row[2] - row[1]], [8, 8], "{row:?}");
        }
        let follows = |pair: &[u64]| pair[1] == pair[0] + 8;
        assert_eq!(places.windows(2).filter(|pair| follows(pair)).count(), 200);
    }

    /// 4096 jobs of a depth of 65,536 each took 3 GiB for names that no request ever had.
    #[test]
    fn a_deep_stream_of_few_requests_has_few_names() {
        let stream =
            Stream { depth: 65_536, count: 10, span_sectors: 1 << 20, ..Stream::default() };
        let mut running = RunningStream::new(stream.clone(), 1);
        let issued =
            std::iter::from_fn(|| matches!(running.next(0), Next::Issue(..)).then_some(())).count();
        assert_eq!((issued, running.in_flight(), running.free.len()), (10, 10, 1));
        let short = Stream { count: u64::MAX, sectors: 100, block_sectors: 8, ..stream };
        assert_eq!(RunningStream::new(short, 1).names, 14);
    }

    #[test]
    fn no_more_than_depth_are_in_flight_and_thinking_takes_its_time() {
        let mut running = RunningStream::new(stream(Pattern::Random), 1);
        assert_eq!(running.next(10), Next::At(15));
        let Next::Issue(first, _) = running.next(15) else { panic!("it is time") };
        assert_eq!(running.next(15), Next::At(20));
        assert!(matches!(running.next(20), Next::Issue(..)));
        assert_eq!(running.next(20), Next::Nothing);
        running.done(50, first);
        assert_eq!(running.next(50), Next::At(55));
    }

    #[test]
    fn a_random_stream_stays_in_its_span_and_reaches_all_of_it() {
        let mut seen = [0; 10];
        for sector in sectors(stream(Pattern::Random), 1000) {
            seen[(sector as usize - 100) / 8] += 1;
        }
        assert!(seen.iter().all(|&times| (60..140).contains(&times)), "{seen:?}");
    }

    /// What a plain stream makes at once is what it would prepare.
    #[test]
    fn a_plain_stream_makes_the_same_requests_as_any_other() {
        let plain = Stream { think_ns: 0, count: 50, end_flush: true, ..stream(Pattern::Random) };
        let mixed = Stream {
            reads_percent: Some(70),
            sizes: vec![(8, 3), (16, 1)],
            until_ns: 300,
            ..plain.clone()
        };
        let limited = Stream { sectors: 99, pattern: Pattern::Strided(3), ..plain.clone() };
        for stream in [plain, mixed, limited] {
            let run = |is_plain| {
                let mut running =
                    RunningStream { is_plain, ..RunningStream::new(stream.clone(), 7) };
                // One is in flight for so long that the next one is made meanwhile.
                let (mut made, mut in_flight) = (Vec::new(), std::collections::VecDeque::new());
                for now in (0..1000).step_by(10) {
                    while let Next::Issue(name, request) = running.next(now) {
                        made.push((now, name, request, running.came_ns()));
                        in_flight.push_back(name);
                    }
                    if now % 20 == 0
                        && let Some(name) = in_flight.pop_front()
                    {
                        running.done(now, name);
                    }
                }
                made
            };
            assert!(RunningStream::new(stream.clone(), 7).is_plain);
            let made = run(true);
            assert_eq!(made, run(false));
            assert!(made.len() > 10 && made.last().unwrap().2.op == Op::Flush, "{made:?}");
        }
    }

    #[test]
    fn a_mix_has_its_share_of_reads_and_sizes() {
        let mixed = Stream {
            reads_percent: Some(70),
            sizes: vec![(8, 3), (16, 1)],
            ..stream(Pattern::Random)
        };
        let requests = issued(mixed, 1000);
        let reads = requests.iter().filter(|(_, request)| request.op == Op::Read).count();
        let small = requests.iter().filter(|(_, request)| request.sectors == 8).count();
        assert!((650..750).contains(&reads) && (700..800).contains(&small), "{reads}, {small}");
        assert!(requests.iter().all(|(_, request)| request.sector >= 100 && request.end() <= 185));
    }

    /// First it thinks, then the processor works for it, then it waits until it is due.
    #[test]
    fn a_stream_waits_for_the_work_on_its_next_request() {
        let filled = Stream { work_ns: 7, count: 3, ..stream(Pattern::Sequential) };
        let mut running = RunningStream::new(filled.clone(), 1);
        assert_eq!((running.next(0), running.next(5)), (Next::At(5), Next::Work(0, 7)));
        // The processor did something else first.
        running.worked(100, 0);
        assert_eq!(running.next(5), Next::At(100));
        assert!(matches!(running.next(100), Next::Issue(..)));
        assert_eq!(running.next(100), Next::At(105));
        let times =
            |stream: Stream| issued(stream, 9).iter().map(|&(at, _)| at).collect::<Vec<_>>();
        assert_eq!(times(filled.clone()), [12, 24, 36]);
        assert_eq!(times(Stream { requests_per_s: Some(50_000_000), ..filled }), [12, 24, 40]);
    }

    #[test]
    fn rates_limits_and_times_end_a_stream() {
        let times =
            |stream: Stream| issued(stream, 100).iter().map(|&(at, _)| at).collect::<Vec<_>>();
        let base = Stream { think_ns: 0, count: 3, ..stream(Pattern::Sequential) };
        let rate = Stream { bytes_per_s: Some(4096 * 1000), ..base.clone() };
        assert_eq!(times(rate), [0, 1_000_000, 2_000_000]);
        let rate = Stream { requests_per_s: Some(10), ..base.clone() };
        assert_eq!(times(rate), [0, 100_000_000, 200_000_000]);
        assert_eq!(times(Stream { sectors: 9, ..base.clone() }).len(), 2);
        assert_eq!(times(Stream { think_ns: 10, until_ns: 21, ..base }), [10, 20]);
    }

    /// A deadline beyond the range of the clock never comes, and is not early.
    #[test]
    fn a_time_beyond_all_clocks_is_the_end_of_time() {
        let slow = Stream {
            block_sectors: 1 << 31,
            span_sectors: 1 << 31,
            bytes_per_s: Some(1),
            depth: 65_536,
            until_ns: 1_000_000_000,
            ..stream(Pattern::Sequential)
        };
        assert_eq!(issued(slow, 9).len(), 1);
        let idle = Stream { think_ns: u64::MAX, count: 2, ..stream(Pattern::Sequential) };
        assert!(issued(idle, 9).iter().all(|(at, _)| *at == u64::MAX));
    }

    /// Two buffers: a block is late when it is not done by the time that its buffer is due again.
    #[test]
    fn a_paced_stream_counts_what_is_late() {
        let paced =
            Stream { requests_per_s: Some(1_000_000), think_ns: 0, ..stream(Pattern::Sequential) };
        let mut running = RunningStream::new(paced, 1);
        let Next::Issue(first, _) = running.next(0) else { panic!("the first is due at once") };
        assert_eq!(running.next(0), Next::At(1000));
        let Next::Issue(second, _) = running.next(1000) else { panic!("the second is due") };
        running.done(2000, first);
        assert_eq!(running.lateness(), Some(Lateness { underruns: 0, latest_ns: 0 }));
        running.done(3500, second);
        assert_eq!(running.lateness(), Some(Lateness { underruns: 1, latest_ns: 500 }));
        // The third was due at 2000 and the fourth at 3000: the stream catches up.
        assert!(matches!(running.next(3500), Next::Issue(..)));
        assert!(matches!(running.next(3500), Next::Issue(..)));
        assert_eq!(running.next(3500), Next::Nothing);
    }

    #[test]
    fn a_flush_ends_the_stream_once_all_is_done() {
        let flushed = Stream {
            op: Op::WRITE,
            end_flush: true,
            count: 3,
            think_ns: 0,
            ..stream(Pattern::Sequential)
        };
        let ops: Vec<Op> = issued(flushed.clone(), 9).iter().map(|(_, r)| r.op).collect();
        assert_eq!(ops, [Op::WRITE, Op::WRITE, Op::WRITE, Op::Flush]);
        let mut running = RunningStream::new(flushed, 1);
        let names: Vec<Name> = (0..2)
            .map(|_| match running.next(0) {
                Next::Issue(name, _) => name,
                other => panic!("{other:?}"),
            })
            .collect();
        running.done(1, names[0]);
        assert!(matches!(running.next(1), Next::Issue(..)), "the third");
        assert!(matches!(running.next(1), Next::Nothing), "two are in flight");
    }

    #[test]
    fn a_flush_follows_every_so_many_writes_and_nothing_overtakes_it() {
        let flushed = Stream { op: Op::WRITE, flush_every: 2, ..stream(Pattern::Sequential) };
        let ops: Vec<Op> = issued(flushed.clone(), 6).iter().map(|(_, r)| r.op).collect();
        let write = Op::WRITE;
        assert_eq!(ops, [write, write, Op::Flush, write, write, Op::Flush]);
        let mut running = RunningStream::new(Stream { think_ns: 0, ..flushed }, 1);
        for _ in 0..2 {
            assert!(matches!(running.next(0), Next::Issue(..)));
        }
        // It is one of the two that may be in flight.
        assert_eq!(running.next(0), Next::Nothing);
        running.done(0, 0);
        assert_eq!(running.next(0), Next::Issue(2, Request::flush()));
        running.done(0, 1);
        assert_eq!(running.next(0), Next::Nothing);
        running.done(0, 2);
        assert!(matches!(running.next(0), Next::Issue(..)));
    }

    /// At a depth of 1, as fsync after each write: the write is done before its flush begins.
    #[test]
    fn a_commit_is_a_write_and_then_a_flush() {
        let log = Stream {
            op: Op::WRITE,
            flush_every: 1,
            depth: 1,
            think_ns: 0,
            ..stream(Pattern::Sequential)
        };
        let mut running = RunningStream::new(log, 1);
        assert!(matches!(running.next(7), Next::Issue(0, _)));
        assert_eq!(running.next(7), Next::Nothing);
        running.done(9, 0);
        assert_eq!(running.next(9), Next::Issue(1, Request::flush()));
        assert_eq!(running.came_ns(), 7, "a commit begins with its first write");
        assert_eq!(running.next(9), Next::Nothing);
        running.done(20, 1);
        assert!(matches!(running.next(20), Next::Issue(0, _)));
    }

    /// They come whether or not earlier ones are done.
    #[test]
    fn an_open_stream_waits_for_nobody() {
        let open = Stream {
            arrivals: Arrivals::Fixed,
            requests_per_s: Some(1_000_000),
            burst: 2,
            count: 5,
            ..stream(Pattern::Random)
        };
        let mut running = RunningStream::new(open.clone(), 1);
        let mut came = Vec::new();
        let mut now = 0;
        loop {
            match running.next(now) {
                Next::Issue(..) => came.push(now),
                Next::At(at) => now = at,
                _ => break,
            }
        }
        assert_eq!(came, [0, 0, 2000, 2000, 4000]);
        assert_eq!(running.lateness(), None);
        let ended = Stream { until_ns: 2001, count: 99, ..open };
        assert_eq!(issued(ended, 99).len(), 4);
    }

    /// Each append waits for the flush of the one before; its time counts from when it came.
    #[test]
    fn appends_that_come_during_a_flush_wait_for_it() {
        let log = Stream {
            op: Op::WRITE,
            arrivals: Arrivals::Fixed,
            requests_per_s: Some(1_000_000),
            flush_every: 1,
            ..stream(Pattern::Sequential)
        };
        let mut running = RunningStream::new(log, 1);
        assert!(matches!(running.next(0), Next::Issue(0, _)));
        assert_eq!(running.next(0), Next::Nothing, "the flush waits for its write");
        running.done(1500, 0);
        assert_eq!(running.next(1500), Next::Issue(OPEN_FLUSH, Request::flush()));
        running.done(2500, OPEN_FLUSH);
        assert!(matches!(running.next(2500), Next::Issue(0, _)));
        assert_eq!(running.came_ns(), 1000);
    }

    /// Those that came during a flush share the next one; what comes while they are written waits for the one after it.
    #[test]
    fn appends_that_have_come_are_committed_together() {
        let log = Stream {
            op: Op::WRITE,
            arrivals: Arrivals::Fixed,
            requests_per_s: Some(1_000_000),
            flush_every: 1,
            group_commit: true,
            target: 1,
            ..stream(Pattern::Sequential)
        };
        let flush = Next::Issue(OPEN_FLUSH, Request::flush().to(1));
        let mut running = RunningStream::new(log, 1);
        assert!(matches!(running.next(0), Next::Issue(0, _)));
        assert_eq!(running.next(0), Next::Nothing, "the flush waits for its write");
        running.done(500, 0);
        assert_eq!(running.next(500), flush);
        running.done(3500, OPEN_FLUSH);
        // Those of 1, 2 and 3 µs.
        for name in 0..3 {
            let Next::Issue(of, request) = running.next(3500) else { panic!("it has come") };
            assert_eq!((of, request.target), (name, 1));
            assert_eq!(running.came_ns(), 1000 * (name + 1));
        }
        running.done(4500, 0);
        assert_eq!(running.next(4500), Next::Nothing, "what comes later waits");
        running.done(4600, 1);
        running.done(4600, 2);
        assert_eq!(running.next(4600), flush);
        assert_eq!(running.came_ns(), 1000, "its time is that of the oldest");
        running.done(5000, OPEN_FLUSH);
        assert!(matches!(running.next(5000), Next::Issue(..)));
    }
}
