//! A machine with a file system, and programs that run on it one after the other.

use super::clock::{Clock, Executor, World};
use super::filesystem::FileSystem;
use super::kernel::{Kernel, Spec, Traffic};
use super::mounted::{Costs, Mounted, Streaming};
use crate::{Device, Nanos, Plugs, Processor};
use std::cell::RefCell;
use std::future::Future;
use std::rc::Rc;

/// A machine that runs programs.
pub struct Session {
    executor: Executor,
    mounted: Mounted,
}

/// What happened between two readings of the clock.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Lap {
    /// Time that passed, in s.
    pub elapsed_s: f64,
    /// The processor's work, in s.
    pub work_s: f64,
    /// Requests.
    pub traffic: Traffic,
}

impl Session {
    /// A machine with `file_system` mounted on `device`. The kernel and programs run on `processor`;
    /// the drivers of `device` may, too.
    pub fn new(
        processor: Processor,
        device: Box<dyn Device>,
        spec: Spec,
        file_system: impl FileSystem,
        costs: Costs,
        streaming: Streaming,
    ) -> Self {
        let clock = Rc::new(Clock::new(processor));
        let file_system: Rc<RefCell<dyn FileSystem>> = Rc::new(RefCell::new(file_system));
        let kernel = Kernel::new(Rc::clone(&clock), spec, device, Rc::clone(&file_system));
        let kernel = Rc::new(kernel);
        let mounted = Mounted::new(Rc::clone(&kernel), file_system, costs, streaming);
        let mut executor = Executor::new(clock);
        executor.spawn_daemon(mounted.clone().run_syncer());
        executor.spawn_daemon(mounted.clone().run_flusher());
        executor.spawn_daemon(mounted.clone().run_own_work());
        Session { executor, mounted }
    }

    /// The same machine, whose tasks send with `plugs`, as the driver of its volume does.
    #[must_use]
    pub fn sending_with(self, plugs: &Plugs) -> Self {
        self.mounted.kernel().clock().send_with(plugs);
        self
    }

    /// The mounted file system.
    pub fn files(&self) -> &Mounted {
        &self.mounted
    }

    /// Runs programs side by side from the machine's current state until the last has ended. Returns
    /// their results, and how long they took together.
    pub fn run<T, Program>(&mut self, programs: impl IntoIterator<Item = Program>) -> (Vec<T>, Lap)
    where
        T: 'static,
        Program: Future<Output = T> + 'static,
    {
        let results = Rc::new(RefCell::new(Vec::new()));
        let before = self.now();
        for (number, program) in programs.into_iter().enumerate() {
            let (results, kernel) = (Rc::clone(&results), Rc::clone(self.mounted.kernel()));
            self.executor.spawn(async move {
                let result = program.await;
                kernel.clock().settle().await;
                results.borrow_mut().push((number, result));
            });
        }
        let world: Rc<dyn World> = Rc::<Kernel>::clone(self.mounted.kernel());
        self.executor.run(&world);
        let mut results = results.take();
        results.sort_by_key(|&(number, _)| number);
        let results = results.into_iter().map(|(_, result)| result).collect();
        (results, self.now().since(&before))
    }

    fn now(&self) -> Mark {
        let kernel = self.mounted.kernel();
        Mark {
            now: kernel.clock().now(),
            work_ns: kernel.clock().work_ns(),
            traffic: kernel.traffic(),
        }
    }
}

/// A reading of the clock.
#[derive(Clone, Copy)]
struct Mark {
    now: Nanos,
    work_ns: Nanos,
    traffic: Traffic,
}

impl Mark {
    fn since(&self, before: &Mark) -> Lap {
        let traffic = self.traffic;
        let (now, then) = (traffic, before.traffic);
        Lap {
            elapsed_s: (self.now - before.now) as f64 / 1e9,
            work_s: (self.work_ns - before.work_ns) as f64 / 1e9,
            traffic: Traffic {
                reads: now.reads - then.reads,
                writes: now.writes - then.writes,
                waited_writes: now.waited_writes - then.waited_writes,
                daemon_writes: now.daemon_writes - then.daemon_writes,
                hits: now.hits - then.hits,
            },
        }
    }
}
