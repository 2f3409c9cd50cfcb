//! A progress bar that shows the running estimate, on a terminal only.

use indicatif::{ProgressBar, ProgressStyle};
use lab::record::Record;
use lab::runner::Progress;

/// The bar of one run.
pub(crate) struct Bar(ProgressBar);

impl Bar {
    /// Not shown until the run begins; never shown where standard error is no terminal.
    pub(crate) fn new() -> Self {
        Bar(ProgressBar::new(0))
    }

    /// Shows what has happened.
    pub(crate) fn update(&self, progress: &Progress<'_>) {
        match progress {
            Progress::Begin { trials, finished } => {
                let style = "{bar:32} {pos}/{len} trials, {eta} left  {msg}";
                if let Ok(style) = ProgressStyle::with_template(style) {
                    self.0.set_style(style);
                }
                self.0.set_length(*trials as u64);
                self.0.set_position(*finished as u64);
            }
            Progress::Finished(record) => {
                self.0.set_message(estimate(record));
                self.0.inc(1);
            }
        }
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        self.0.finish_and_clear();
    }
}

fn estimate(record: &Record) -> String {
    let rate = record.sample("mb_per_s").unwrap_or_default();
    format!("{} {}: {rate:.1} MB/s", record.workload, record.label())
}
