//! Tasks in virtual time, one processor among them, and the executor that runs them.
//!
//! A task is an `async` block. It runs until it waits: for a time, or for something that another task
//! or a device does. Tasks run in the order in which they were woken; timers of the same time fire in
//! the order in which they were set. So the same program is the same run.
//!
//! There is one processor, first come, first served. Small pieces of work are *charged* to a task and
//! done together before the task next waits. Ten operations that find everything in the cache are then
//! one event and not ten, and no device can tell the difference.

use crate::{BlocksAhead, Nanos, Plugs, Processor};
use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll, Waker};

/// A task's number, in the order in which they were started.
pub type TaskId = usize;

/// Work charged to a task is done at the latest when it reaches this much, in ns, so that a program
/// that never waits does not run ahead of the clock.
const CHARGED_MAX_NS: Nanos = 5_000_000;

/// The time, who waits for it, and the processor.
#[derive(Debug, Default)]
pub struct Clock {
    now: Cell<Nanos>,
    current: Cell<TaskId>,
    ready: RefCell<VecDeque<TaskId>>,
    timers: RefCell<BinaryHeap<Reverse<(Nanos, u64, TaskId)>>>,
    timers_set: Cell<u64>,
    processor: Processor,
    /// What each task sends together.
    plugs: RefCell<Plugs>,
    /// What each task has been charged and the processor has not done yet, in ns.
    charged: RefCell<Vec<Nanos>>,
    /// All that was ever charged, in ns.
    work_ns: Cell<Nanos>,
    /// What else time passes in, once tasks have run.
    world: RefCell<Option<Weak<dyn World>>>,
}

impl Clock {
    /// Time 0; tasks run on `processor`.
    pub fn new(processor: Processor) -> Self {
        Clock { processor, ..Clock::default() }
    }

    /// The time.
    pub fn now(&self) -> Nanos {
        self.now.get()
    }

    /// The task that runs.
    pub fn current(&self) -> TaskId {
        self.current.get()
    }

    /// All work that was charged so far, in ns.
    pub fn work_ns(&self) -> Nanos {
        self.work_ns.get()
    }

    /// Tasks send with `plugs`, from now on.
    pub fn send_with(&self, plugs: &Plugs) {
        self.plugs.replace(plugs.clone());
    }

    /// The task sends what is submitted next, for which somebody waits where that `is_sync`.
    pub fn sends(&self, is_sync: bool) {
        self.plugs.borrow().sends(self.now(), self.current(), is_sync);
    }

    /// How what is around a block is read with it.
    pub(super) fn blocks_ahead(&self) -> BlocksAhead {
        self.plugs.borrow().blocks_ahead()
    }

    /// The task sleeps, once the processor has done what it was given.
    pub(super) fn sleeps(&self) {
        let at = self.now().max(self.processor.free_at());
        self.plugs.borrow().sleeps(at, self.current());
    }

    /// Wakes the task.
    pub fn wake(&self, task: TaskId) {
        self.ready.borrow_mut().push_back(task);
    }

    /// Waits until someone wakes this task.
    pub async fn parked(&self) {
        self.sleeps();
        self.waits().await;
    }

    /// The same for a task that the processor works for.
    async fn waits(&self) {
        if self.pass_alone() {
            return;
        }
        let mut parked = false;
        poll_fn(
            |_| if std::mem::replace(&mut parked, true) { Poll::Ready(()) } else { Poll::Pending },
        )
        .await;
    }

    /// Lets time pass here while no task can run. Returns whether this one is the first that then can:
    /// the executor would come back to it, and need not be returned to.
    fn pass_alone(&self) -> bool {
        let world = self.world.borrow().as_ref().and_then(Weak::upgrade);
        let Some(world) = world else { return false };
        while self.ready.borrow().is_empty() {
            self.pass(&*world);
        }
        let mut ready = self.ready.borrow_mut();
        let is_first = ready.front() == Some(&self.current());
        if is_first {
            ready.pop_front();
        }
        is_first
    }

    /// The time is that of what happens next; wakes the tasks that waited for it.
    fn pass(&self, world: &dyn World) {
        let limit = self.next_timer().or_else(|| world.next_event());
        let limit = limit.expect("a task waits for what will never come");
        debug_assert!(limit >= self.now());
        let next = world.proceed(limit).unwrap_or(limit);
        self.now.set(next);
        let mut timers = self.timers.borrow_mut();
        while let Some(&Reverse((at, _, task))) = timers.peek()
            && at <= next
        {
            timers.pop();
            self.wake(task);
        }
    }

    fn next_timer(&self) -> Option<Nanos> {
        self.timers.borrow().peek().map(|&Reverse((at, ..))| at)
    }

    /// The time is `now`: for a world that is about to wake tasks.
    pub(super) fn has_come_to(&self, now: Nanos) {
        debug_assert!(now >= self.now());
        self.now.set(now);
    }

    /// Waits until `at`.
    pub async fn sleep_until(&self, at: Nanos) {
        self.sleeps();
        self.waits_until(at).await;
    }

    /// The same for a task that the processor works for.
    async fn waits_until(&self, at: Nanos) {
        if at <= self.now() || self.passes_alone_until(at) {
            return;
        }
        if self.now() < at {
            let number = self.timers_set.get();
            self.timers_set.set(number + 1);
            self.timers.borrow_mut().push(Reverse((at, number, self.current())));
        } else {
            // What else came at that time has woken others, who go first.
            self.wake(self.current());
        }
        self.waits().await;
    }

    /// Lets time pass until `at` if nothing wakes a task before and then: no timer needs to be set. Otherwise it is the
    /// time at which one was woken.
    fn passes_alone_until(&self, at: Nanos) -> bool {
        let is_first =
            self.ready.borrow().is_empty() && self.next_timer().is_none_or(|next| next > at);
        let world = self.world.borrow();
        let Some(world) = world.as_ref().filter(|_| is_first).and_then(Weak::upgrade) else {
            return false;
        };
        while world.proceed(at).is_some() {
            if !self.ready.borrow().is_empty() {
                return false;
            }
        }
        self.now.set(at);
        true
    }

    /// Charges `work_ns` of processor work to this task; it is done before the task next waits.
    pub fn charge(&self, work_ns: Nanos) {
        self.charged.borrow_mut()[self.current()] += work_ns;
        self.work_ns.set(self.work_ns.get() + work_ns);
    }

    /// Does the work charged to this task.
    pub async fn settle(&self) {
        let work_ns = std::mem::take(&mut self.charged.borrow_mut()[self.current()]);
        if work_ns > 0 {
            let (_, end) = self.processor.work(self.now(), work_ns);
            self.waits_until(end).await;
        }
    }

    /// Does the work charged to this task once it is large.
    pub async fn settle_much(&self) {
        if self.charged.borrow()[self.current()] >= CHARGED_MAX_NS {
            self.settle().await;
        }
    }
}

/// What else time passes in, besides the tasks.
pub trait World {
    /// The earliest time at which `proceed` has something to do.
    fn next_event(&self) -> Option<Nanos>;

    /// Does what is due, one time after the other and none after `limit`, until a task may see it: everything of that
    /// time. The clock has come to it, and the tasks that waited for it are woken. Returns when it was; `None` where
    /// there was nothing, and all that was due by `limit` is done.
    fn proceed(&self, limit: Nanos) -> Option<Nanos>;
}

type Task = Pin<Box<dyn Future<Output = ()>>>;

/// Runs tasks on a clock.
pub struct Executor {
    clock: Rc<Clock>,
    /// For each task, whether the run waits for its end.
    tasks: Vec<(Option<Task>, bool)>,
}

impl Executor {
    /// An executor on `clock`, without tasks.
    pub fn new(clock: Rc<Clock>) -> Self {
        Executor { clock, tasks: Vec::new() }
    }

    /// Adds a task; the run ends when all tasks of this kind have ended.
    pub fn spawn(&mut self, task: impl Future<Output = ()> + 'static) {
        self.add(Box::pin(task), true);
    }

    /// Adds a task that serves the others; the run does not wait for it.
    pub fn spawn_daemon(&mut self, task: impl Future<Output = ()> + 'static) {
        self.add(Box::pin(task), false);
    }

    fn add(&mut self, task: Task, waited_for: bool) {
        self.clock.charged.borrow_mut().push(0);
        self.clock.wake(self.tasks.len());
        self.tasks.push((Some(task), waited_for));
    }

    /// Runs until every task that the run waits for has ended.
    ///
    /// # Panics
    ///
    /// Where all tasks wait and nothing will ever wake one.
    pub fn run(&mut self, world: &Rc<dyn World>) {
        let clock = Rc::clone(&self.clock);
        clock.world.replace(Some(Rc::downgrade(world)));
        let mut left =
            self.tasks.iter().filter(|(task, waited_for)| *waited_for && task.is_some()).count();
        while left > 0 {
            let next = clock.ready.borrow_mut().pop_front();
            match next {
                Some(id) => left -= usize::from(self.poll(id)),
                None => clock.pass(&**world),
            }
        }
    }

    /// Runs a task until it waits; returns whether it has ended and the run waits for it.
    fn poll(&mut self, id: TaskId) -> bool {
        self.clock.current.set(id);
        let (task, waited_for) = &mut self.tasks[id];
        let Some(running) = task else { return false };
        // Tasks are woken by number, through the clock; the language's waker is not needed.
        if running.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending() {
            return false;
        }
        *task = None;
        let is_waited_for = *waited_for;
        self.clock.sleeps();
        is_waited_for
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Nothing happens but what the tasks do.
    struct Nothing;

    impl World for Nothing {
        fn next_event(&self) -> Option<Nanos> {
            None
        }

        fn proceed(&self, _limit: Nanos) -> Option<Nanos> {
            None
        }
    }

    pub(crate) fn nothing() -> Rc<dyn World> {
        Rc::new(Nothing)
    }

    #[test]
    fn a_task_that_waits_alone_is_not_left() {
        let clock = Rc::new(Clock::default());
        let entered = Rc::new(Cell::new(0));
        let mut executor = Executor::new(Rc::clone(&clock));
        let (inner, count) = (Rc::clone(&clock), Rc::clone(&entered));
        let mut waits = Box::pin(async move {
            for at in 1..=3 {
                inner.sleep_until(at).await;
            }
        });
        executor.spawn(poll_fn(move |context| {
            count.set(count.get() + 1);
            waits.as_mut().poll(context)
        }));
        executor.run(&nothing());
        assert_eq!((entered.get(), clock.now()), (1, 3));
    }

    #[test]
    fn tasks_take_turns_at_the_processor_and_daemons_end_with_them() {
        let clock = Rc::new(Clock::default());
        let log = Rc::new(RefCell::new(Vec::new()));
        let mut executor = Executor::new(Rc::clone(&clock));
        for (name, work_ns) in [("a", 100), ("b", 30)] {
            let (clock, log) = (Rc::clone(&clock), Rc::clone(&log));
            executor.spawn(async move {
                for _ in 0..2 {
                    clock.charge(work_ns);
                    clock.settle().await;
                    log.borrow_mut().push((name, clock.now()));
                }
            });
        }
        let ticking = Rc::clone(&clock);
        executor.spawn_daemon(async move {
            loop {
                ticking.sleep_until(ticking.now() + 50).await;
            }
        });
        executor.run(&nothing());
        assert_eq!(*log.borrow(), [("a", 100), ("b", 130), ("a", 230), ("b", 260)]);
        assert_eq!(clock.work_ns(), 260);
    }

    #[test]
    fn timers_of_one_time_go_off_in_the_order_in_which_they_were_set() {
        let clock = Rc::new(Clock::default());
        let log = Rc::new(RefCell::new(Vec::new()));
        let mut executor = Executor::new(Rc::clone(&clock));
        for name in 0..5 {
            let (clock, log) = (Rc::clone(&clock), Rc::clone(&log));
            executor.spawn(async move {
                clock.sleep_until(10 - name % 2).await;
                log.borrow_mut().push(name);
            });
        }
        executor.run(&nothing());
        assert_eq!(*log.borrow(), [1, 3, 0, 2, 4]);
    }

    /// A device that does something every 40 ns, and wakes a task each time.
    struct Ticks {
        clock: Rc<Clock>,
        next: Cell<Nanos>,
    }

    impl World for Ticks {
        fn next_event(&self) -> Option<Nanos> {
            Some(self.next.get())
        }

        fn proceed(&self, limit: Nanos) -> Option<Nanos> {
            let now = Some(self.next.get()).filter(|&at| at <= limit)?;
            self.clock.has_come_to(now);
            self.next.set(now + 40);
            self.clock.wake(1);
            Some(now)
        }
    }

    /// What tasks did when, where `plainly` says whether they return to the executor each time that they wait.
    fn log(plainly: bool) -> Vec<(usize, Nanos)> {
        let clock = Rc::new(Clock::default());
        let log = Rc::new(RefCell::new(Vec::new()));
        let mut executor = Executor::new(Rc::clone(&clock));
        for task in 0..3 {
            let (clock, log) = (Rc::clone(&clock), Rc::clone(&log));
            executor.spawn(async move {
                for step in 0..200 {
                    match (step * 7 + task) % 5 {
                        0 if task == 1 => clock.parked().await,
                        0 | 1 => clock.charge(13),
                        2 => clock.settle().await,
                        // Often at the same time as a tick, or as another task.
                        _ => clock.sleep_until(clock.now() + 10 * (step as Nanos % 7)).await,
                    }
                    log.borrow_mut().push((task, clock.now()));
                }
            });
        }
        let world = Rc::new(Ticks { clock: Rc::clone(&clock), next: Cell::new(40) });
        if plainly {
            let mut left = 3;
            while left > 0 {
                let next = clock.ready.borrow_mut().pop_front();
                match next {
                    Some(id) => left -= usize::from(executor.poll(id)),
                    None => clock.pass(&*world),
                }
            }
        } else {
            let world: Rc<dyn World> = world;
            executor.run(&world);
        }
        log.take()
    }

    #[test]
    fn time_that_passes_in_a_task_passes_as_in_the_executor() {
        assert_eq!(log(false), log(true));
    }
}
