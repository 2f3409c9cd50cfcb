//! Traces of real drives: one request at a time, and how long each took.
//!
//! ```text
//! R Miss 2345678 8 11234 38900      read 8 sectors from 2345678: 11.234 ms; the next one 38.9 ms later
//! ```
//!
//! The second column says what the drive's buffer was seen to do; nothing here looks at it.

use crate::error::{Error, Result};
use block::{Op, Request};
use sim::Nanos;

/// One request of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    /// What was asked.
    pub request: Request,
    /// How long the drive took, in ns.
    pub service_ns: Nanos,
    /// From its end to the start of the next, in ns.
    pub gap_ns: Nanos,
}

impl Measured {
    /// Whether it wrote.
    pub fn writes(&self) -> bool {
        matches!(self.request.op, Op::Write { .. })
    }
}

/// Reads the trace in `text`, called `name` in errors.
///
/// # Errors
///
/// Where a line is not a request, or the trace is empty.
pub fn read(name: &str, text: &str) -> Result<Vec<Measured>> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let requests: Result<Vec<Measured>> = lines
        .map(|(index, line)| {
            read_line(line).ok_or_else(|| {
                let form = "R|W buffer-action first-sector sectors service-µs time-to-next-µs";
                Error::input(format!(
                    "{name}:{}: `{line}` is not a request; write {form}",
                    index + 1
                ))
            })
        })
        .collect();
    let requests = requests?;
    if requests.is_empty() {
        Err(Error::input(format!("{name} has no requests")))
    } else {
        Ok(requests)
    }
}

fn read_line(line: &str) -> Option<Measured> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let &[way, _, sector, sectors, service, gap] = fields.as_slice() else { return None };
    let op = match way {
        "R" => Op::Read,
        "W" => Op::WRITE,
        _ => return None,
    };
    let sector: u64 = sector.parse().ok()?;
    let sectors: u32 = sectors.parse().ok().filter(|&sectors| sectors > 0)?;
    sector.checked_add(u64::from(sectors))?;
    let request = Request { target: 0, op, sector, sectors };
    Some(Measured { request, service_ns: micros(service)?, gap_ns: micros(gap)? })
}

/// Up to an hour, in µs, as ns.
fn micros(field: &str) -> Option<Nanos> {
    let micros: f64 = field.parse().ok()?;
    (0.0..=3.6e9).contains(&micros).then(|| (micros * 1e3).round() as Nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_request() {
        let trace = read("t", "R Miss 100 8 11234 38900\n\nW Hit 7 1 250.5 0\n").unwrap();
        assert_eq!(trace[0].request, Request::read(100, 8));
        assert_eq!((trace[0].service_ns, trace[0].gap_ns), (11_234_000, 38_900_000));
        assert!(trace[1].writes() && trace[1].service_ns == 250_500);
    }

    #[test]
    fn what_is_no_request_is_said_with_its_line() {
        for bad in
            ["X Hit 1 1 1 1", "R Hit 1 0 1 1", "R Hit 1 1 -1 1", "R Hit 1 1 1", "R a b c d e"]
        {
            let error = read("t.trace", &format!("R Hit 1 1 1 1\n{bad}")).unwrap_err();
            assert!(error.to_string().starts_with("t.trace:2: "), "{error}");
        }
        assert!(read("t", " \n").is_err());
    }
}
