//! Work that Ctrl-C ends.

use crate::raised;
use pyo3::prelude::*;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;
use store::{Error, Result};

/// How often signals are looked for.
const TICK: Duration = Duration::from_millis(50);
/// How long trials that run may take to end once they are told to stop. Trials of blocks are asked often; programs on files
/// and the end of a rebuild are not asked, and those that take longer end on their own, later.
const PATIENCE: Duration = Duration::from_secs(2);

/// Does `work` without the interpreter's lock; a signal whose handler raises sets the flag that `work` is given.
pub(crate) fn do_work<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(Arc<AtomicBool>) -> Result<T> + Send + 'static,
) -> PyResult<T> {
    let stopped = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stopped);
    let (sender, receiver) = channel();
    let receiver = Mutex::new(receiver);
    let worker = thread::Builder::new().name("ileave".into()).spawn(move || {
        // Whoever was interrupted may not wait for this any more.
        let _ = sender.send(work(flag));
    });
    let worker = worker
        .map_err(|error| raised(&Error::failure(format!("cannot start a thread: {error}"))))?;
    loop {
        match py.detach(|| wait(&receiver, TICK)) {
            Ok(done) => return done.map_err(|error| raised(&error)),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => match py.detach(|| worker.join()) {
                Err(panic) => resume_unwind(panic),
                Ok(()) => return Err(raised(&Error::failure("the run ended without a result"))),
            },
        }
        py.check_signals().inspect_err(|_| {
            stopped.store(true, Ordering::Relaxed);
            // Whatever it comes to, the signal is what is raised.
            let _ = py.detach(|| wait(&receiver, PATIENCE));
        })?;
    }
}

fn wait<T>(
    receiver: &Mutex<Receiver<T>>,
    at_most: Duration,
) -> std::result::Result<T, RecvTimeoutError> {
    receiver.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(at_most)
}
