//! The page of drive models against traces: cumulative distributions of service times.

use super::{Page, escaped, frame};
use crate::validation::{Curve, Validation};
use serde_json::{Value as Json, json};

const SCRIPT: &str = include_str!("../../../assets/validated.js");

const SCALE: &str = "<div class=\"controls\"><label>Time axis <select id=\"scale\"><option>linear\
    </option><option>log</option></select></label></div>";

/// Points per curve, and rows in the table beneath.
const POINTS: usize = 300;

/// The page of these traces.
pub fn validated(validations: &[Validation]) -> String {
    let sections: String = validations.iter().map(section).collect();
    let demerits: Vec<f64> =
        validations.iter().filter_map(|v| v.whole.all.demerit_percent()).collect();
    let most = demerits.iter().copied().fold(0.0, f64::max);
    let answer = match validations {
        [only] => format!("{}: demerit {most:.2} % of the measured mean service time.", only.drive),
        _ => format!(
            "{} drives: demerit at most {most:.2} % of the measured mean service time.",
            validations.len()
        ),
    };
    frame(&Page {
        title: "drive models and traces",
        heading: "Drive models against measured traces",
        answer: &answer,
        first: "",
        points: &[],
        reasons: &[
            "Each curve shows the share of requests served within a time. Demerit is the root mean square \
             horizontal distance between the curves (the shaded area; Ruemmler and Wilkes 1994)."
                .into(),
            "Figures marked `adjusted` in a drive's file were set on the first half of its trace. This \
             page shows the whole trace."
                .into(),
        ],
        sections: &format!("{SCALE}{sections}"),
        footer: concat!("Made by ileave ", env!("CARGO_PKG_VERSION"), "."),
        data: &json!({ "traces": validations.iter().map(trace).collect::<Vec<Json>>() }),
        scripts: &[SCRIPT],
    })
}

fn section(validation: &Validation) -> String {
    let (mean, least, most) = validation.moved_demerit_ms();
    let note = format!(
        "{} requests; {:.2} ms rms per request. Demerit with gaps moved by up to half a revolution: {mean:.3} ms \
         ({least:.3} to {most:.3}); by chance alone: {:.3} ms.",
        validation.whole.all.requests, validation.whole.rms_ms, validation.noise_ms
    );
    let name = escaped(&validation.trace);
    format!(
        "<section id=\"trace-{name}\"><h2>{}</h2><p class=\"note\">Trace {name}: {note}</p>\
         <div class=\"legend\"><span><i class=\"measured\"></i>measured</span>\
         <span><i class=\"modelled\"></i>modelled</span></div>\
         <div class=\"multiples\"></div>\
         <details><summary>The numbers</summary><button type=\"button\">Copy</button>\
         <div class=\"scroll\" tabindex=\"0\"></div></details></section>",
        escaped(&validation.drive)
    )
}

fn trace(validation: &Validation) -> Json {
    json!({
        "trace": validation.trace,
        "curves": validation.curves.iter().map(curve).collect::<Vec<Json>>(),
    })
}

/// Points of the curve at even shares of the requests.
fn curve(curve: &Curve) -> Json {
    let requests = curve.measured_ns.len();
    let points = requests.min(POINTS);
    let place = |point: usize| (2 * point + 1) * requests / (2 * points);
    let shares: Vec<f64> =
        (0..points).map(|point| (place(point) as f64 + 0.5) / requests as f64).collect();
    // To the microsecond, as the traces are.
    let times = |of: &[u64]| -> Vec<f64> {
        (0..points).map(|point| (of[place(point)] as f64 / 1e3).round() / 1e3).collect()
    };
    json!({
        "of": curve.of, "requests": requests, "shares": shares,
        "measured_ms": times(&curve.measured_ns), "modelled_ms": times(&curve.modelled_ns),
        "measured_mean_ms": curve.figures.measured_mean_ms,
        "modelled_mean_ms": curve.figures.modelled_mean_ms,
        "demerit_ms": curve.figures.demerit_ms,
        "demerit_percent": curve.figures.demerit_percent().unwrap_or(0.0),
    })
}
