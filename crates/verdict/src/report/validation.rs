//! Models beside measured traces, for the terminal.

use crate::tables::{figure, table};
use crate::validation::{Comparison, Figures, Validation};

/// What the columns are, and what to make of them.
const EXPLANATION: &str = "\
Demerit: root mean square distance between the measured and modelled distributions of service times
(Ruemmler and Wilkes 1994), in ms and as a percentage of the measured mean, for the whole trace and its
halves. Figures marked `adjusted` in a drive's file were set on the first half.
";

/// All requests, or some.
type Pick = fn(&Comparison) -> &Figures;

/// A row for all requests, the reads and the writes of each trace, and a line on chance.
pub fn validations(validations: &[Validation]) -> String {
    let header = [
        "trace",
        "",
        "requests",
        "measured ms",
        "modelled ms",
        "demerit ms",
        "%",
        "first half %",
        "second half %",
    ];
    let mut rows = table(&header.map(String::from), 2);
    for validation in validations {
        let Validation { whole, halves, .. } = validation;
        let sorts: [(&str, Pick); 3] =
            [("all", |c| &c.all), ("reads", |c| &c.reads), ("writes", |c| &c.writes)];
        for (sort, pick) in sorts {
            let figures = pick(whole);
            if figures.requests == 0 {
                continue;
            }
            let [first, second] = [pick(&halves[0]), pick(&halves[1])].map(demerit_percent_of);
            rows.add_row([
                if sort == "all" { validation.trace.clone() } else { String::new() },
                sort.into(),
                figures.requests.to_string(),
                format!("{:.3}", figures.measured_mean_ms),
                format!("{:.3}", figures.modelled_mean_ms),
                format!("{:.3}", figures.demerit_ms),
                demerit_percent_of(figures),
                first,
                second,
            ]);
        }
    }
    let lines: Vec<String> = validations.iter().map(chance).collect();
    format!("{rows}\n\n{}\n\n{EXPLANATION}", lines.join("\n"))
}

fn demerit_percent_of(figures: &Figures) -> String {
    figures.demerit_percent().map_or("-".into(), |percent| format!("{percent:.2}"))
}

fn chance(validation: &Validation) -> String {
    let (mean, least, most) = validation.moved_demerit_ms();
    format!(
        "{}, {}: {} ms rms per request; demerit with gaps moved by up to half a revolution {} ms \
         ({least:.3} to {most:.3}), by chance alone {} ms.",
        validation.trace,
        validation.drive,
        figure(validation.whole.rms_ms),
        figure(mean),
        figure(validation.noise_ms),
    )
}
