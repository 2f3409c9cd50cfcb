//! A progress bar that shows the last trial's figure, on a terminal only; elsewhere a line now and then.

use crate::terminal::harmless;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use lab::estimate::time_words;
use lab::runner::Progress;
use std::fmt::Write;
use std::io::{IsTerminal as _, Write as _, stderr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};
use store::quantity::Quantity;
use store::record::Record;
use verdict::tables::figure;

/// The bar of one run; a clone of it is the same bar.
#[derive(Clone)]
pub(crate) struct Bar(ProgressBar);

impl Bar {
    /// Not shown until the run begins; never shown where standard error is no terminal.
    pub(crate) fn new() -> Self {
        // A bar of no trials would be drawn full.
        Bar(ProgressBar::with_draw_target(Some(1), ProgressDrawTarget::hidden()))
    }

    /// Shows what has happened.
    pub(crate) fn update(&self, progress: &Progress<'_>) {
        match progress {
            Progress::Begin { trials, finished } => {
                self.begin(*trials, *finished, ProgressDrawTarget::stderr());
            }
            Progress::Finished(record) => {
                self.0.set_message(last_figure(record));
                self.0.inc(1);
            }
            Progress::Failed(_) => self.0.inc(1),
            Progress::Dropped(trials) => {
                let left = self.0.length().unwrap_or(1).saturating_sub(*trials as u64);
                self.0.set_length(left.max(1));
            }
        }
    }

    /// Says something while it is shown.
    pub(crate) fn aside(&self, say: impl FnOnce()) {
        self.0.suspend(say);
    }

    /// Shows how many cells of `all` were looked at.
    pub(crate) fn cells(&self, looked_at: u64, all: u64) {
        if let Ok(style) = ProgressStyle::with_template("{bar:32} {pos}/{len} cells, {eta} left") {
            self.0.set_style(style);
        }
        if self.0.is_hidden() {
            self.0.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.0.set_length(all);
        self.0.set_position(looked_at.min(all));
    }

    /// Begins with so many of all trials finished.
    pub(crate) fn trials(&self, finished: usize, all: usize) {
        self.begin(all, finished, ProgressDrawTarget::stderr());
    }

    /// So many are finished now.
    pub(crate) fn at(&self, finished: usize) {
        self.0.set_position(finished as u64);
    }

    /// Says what is being done, where nobody knows how long it takes.
    pub(crate) fn doing(&self, what: &str) {
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}, {elapsed}") {
            self.0.set_style(style);
        }
        self.0.set_draw_target(ProgressDrawTarget::stderr());
        self.0.set_message(what.to_string());
        self.0.enable_steady_tick(Duration::from_millis(200));
    }

    /// Shows how many files are compiled, of about so many.
    pub(crate) fn files(&self, files: u64, of_about: u64) {
        let template = "{bar:32} {pos} files of about {len}, {eta} left";
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.0.set_style(style);
        }
        self.0.set_length(of_about);
        self.0.set_position(files);
    }

    /// Starts at what is finished; the bar may have been that of another table.
    fn begin(&self, trials: usize, finished: usize, target: ProgressDrawTarget) {
        let style = "{bar:32} {pos}/{len} trials{left}  {msg}";
        if let Ok(style) = ProgressStyle::with_template(style) {
            let left = move |state: &ProgressState, out: &mut dyn Write| {
                let all = state.len().unwrap_or_default();
                let words = left(state.elapsed(), finished as u64, state.pos(), all);
                // A bar without it is still a bar.
                let _ = out.write_str(&words);
            };
            self.0.set_style(style.with_key("left", left));
        }
        // Nothing is drawn before length and place are known.
        self.0.set_draw_target(ProgressDrawTarget::hidden());
        self.0.set_length(trials.max(1) as u64);
        self.0.reset();
        self.0.set_message("");
        self.0.set_position(finished as u64);
        self.0.set_draw_target(target);
        self.0.tick();
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        self.0.finish_and_clear();
    }
}

/// How often [`Pulse`] says something.
const PULSE: Duration = Duration::from_secs(10);

/// Says now and then how many cells are measured, where standard error is no terminal: who waits at a pipe sees that it goes on.
/// It is silent from when it is dropped.
pub(crate) struct Pulse {
    measured: Arc<AtomicU64>,
    _end: Sender<()>,
}

impl Pulse {
    /// Begins; there are about so many cells.
    pub(crate) fn begin(about: u64) -> Pulse {
        let (end, ended) = channel();
        let measured = Arc::new(AtomicU64::new(0));
        if !stderr().is_terminal() {
            let measured = Arc::clone(&measured);
            thread::spawn(move || {
                every(PULSE, &ended, |elapsed| {
                    let line = pulse(measured.load(Ordering::Relaxed), about, elapsed);
                    // Who has closed the pipe does not want to know.
                    let _ = writeln!(stderr(), "{line}");
                });
            });
        }
        Pulse { measured, _end: end }
    }

    /// So many cells are measured now.
    pub(crate) fn at(&self, cells: u64) {
        self.measured.store(cells, Ordering::Relaxed);
    }
}

/// Does something every so often, until what it is told by is gone.
fn every(interval: Duration, ended: &Receiver<()>, mut say: impl FnMut(Duration)) {
    let start = Instant::now();
    while ended.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
        say(start.elapsed());
    }
}

/// How far it is. The cells of a search are estimated; what could change the answer is tried after it, which nobody counts.
fn pulse(measured: u64, about: u64, elapsed: Duration) -> String {
    let so_far = format!("{} s so far", elapsed.as_secs());
    if measured < about {
        format!("{measured} of about {about} cells measured, {so_far}")
    } else {
        format!("{measured} cells measured; checking what could change the answer; {so_far}")
    }
}

/// How long the rest will take, as the trials since the start took: those that an earlier run finished took none of it.
fn left(elapsed: Duration, from: u64, now: u64, all: u64) -> String {
    let (done, rest) = (now.saturating_sub(from), all.saturating_sub(now));
    if done == 0 || rest == 0 {
        return String::new();
    }
    let seconds = elapsed.as_secs_f64() * rest as f64 / done as f64;
    format!(", about {} left", time_words(seconds))
}

/// What the trial that came back last has measured.
fn last_figure(record: &Record) -> String {
    let main = record.samples.iter().next();
    let main = main.and_then(|(name, value)| Some((name, value?)));
    main.map_or_else(String::new, |(name, value)| {
        let unit = Quantity::named(&record.workload, name).unit;
        let label = lab::record::label(&record.at);
        harmless(&format!("{} {label}: {} {unit}", record.workload, figure(value)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use indicatif::TermLike;
    use std::io::Result;
    use std::sync::{Arc, Mutex};

    /// A terminal that keeps what is written on it.
    #[derive(Clone, Debug, Default)]
    struct Paper(Arc<Mutex<String>>);

    impl TermLike for Paper {
        fn width(&self) -> u16 {
            100
        }
        fn move_cursor_up(&self, _: usize) -> Result<()> {
            Ok(())
        }
        fn move_cursor_down(&self, _: usize) -> Result<()> {
            Ok(())
        }
        fn move_cursor_right(&self, _: usize) -> Result<()> {
            Ok(())
        }
        fn move_cursor_left(&self, _: usize) -> Result<()> {
            Ok(())
        }
        fn write_line(&self, text: &str) -> Result<()> {
            self.write_str(text)
        }
        fn write_str(&self, text: &str) -> Result<()> {
            self.0.lock().unwrap().push_str(text);
            Ok(())
        }
        fn clear_line(&self) -> Result<()> {
            Ok(())
        }
        fn flush(&self) -> Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_is_left_follows_from_the_trials_of_this_run() {
        let minute = Duration::from_secs(60);
        assert_eq!(left(minute, 0, 0, 40), "");
        assert_eq!(left(minute, 0, 10, 40), ", about 3 min left");
        // Thirty were there before.
        assert_eq!(left(minute, 30, 35, 40), ", about 60 s left");
        assert_eq!(left(minute, 0, 40, 40), "");
    }

    #[test]
    fn a_pulse_says_how_far_it_is_until_it_is_over() {
        let said = |measured| pulse(measured, 61, Duration::from_secs(10));
        assert_eq!(said(12), "12 of about 61 cells measured, 10 s so far");
        let behind = "61 cells measured; checking what could change the answer; 10 s so far";
        assert_eq!(said(61), behind);
        let (end, ended) = channel();
        let mut end = Some(end);
        let mut said = 0;
        every(Duration::from_millis(1), &ended, |_| {
            said += 1;
            if said == 3 {
                end = None;
            }
        });
        assert_eq!(said, 3);
    }

    #[test]
    fn a_bar_begins_empty_and_a_resumed_one_where_it_was() {
        for (trials, finished, filled) in [(40, 0, 0), (40, 10, 8), (4, 3, 24)] {
            let (bar, paper) = (Bar::new(), Paper::default());
            // The bar of a table before this one is full.
            bar.begin(2, 2, ProgressDrawTarget::hidden());
            bar.begin(trials, finished, ProgressDrawTarget::term_like(Box::new(paper.clone())));
            let drawn = paper.0.lock().unwrap().clone();
            let said = format!("{finished}/{trials} trials");
            assert!(drawn.contains(&said), "{drawn}");
            assert!(drawn.matches('█').count() <= filled, "{drawn}");
        }
    }
}
