//! A progress bar that shows the last trial's figure, on a terminal only.

use indicatif::{ProgressBar, ProgressStyle};
use lab::runner::Progress;
use store::quantity::Quantity;
use store::record::Record;
use verdict::tables::figure;

/// The bar of one run; a clone of it is the same bar.
#[derive(Clone)]
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
                // The bar may have been that of another table.
                self.0.reset();
                self.0.set_length(*trials as u64);
                self.0.set_position(*finished as u64);
            }
            Progress::Finished(record) => {
                self.0.set_message(last_figure(record));
                self.0.inc(1);
            }
        }
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        self.0.finish_and_clear();
    }
}

/// What the trial that came back last has measured.
fn last_figure(record: &Record) -> String {
    let main = record.samples.iter().next();
    let main = main.and_then(|(name, value)| Some((name, value.as_f64()?)));
    main.map_or_else(String::new, |(name, value)| {
        let unit = Quantity::named(&record.workload, name).unit;
        format!("{} {}: {} {unit}", record.workload, lab::record::label(&record.at), figure(value))
    })
}
