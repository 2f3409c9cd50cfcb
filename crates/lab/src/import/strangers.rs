//! What people have that is of no format here, and what to do to have one.

/// A kind of output, by what its lines look like.
struct Stranger {
    /// Whether a line tells it.
    tells: fn(&str) -> bool,
    /// What it is and the next step.
    says: &'static str,
}

const STRANGERS: [Stranger; 6] = [
    Stranger {
        tells: |line| line.contains("(groupid=") && line.contains("jobs="),
        says: "this is fio's text for people; run fio with --output-format=json",
    },
    Stranger {
        tells: |line| {
            let mut fields = line.split(';');
            let version = fields.next().is_some_and(|first| ["2", "3", "4", "5"].contains(&first));
            version && fields.next().is_some_and(|second| second.starts_with("fio-"))
        },
        says: "this is fio's terse output; run fio with --output-format=json",
    },
    Stranger {
        tells: is_fio_log,
        says: "this looks like a log of fio's (write_lat_log, write_bw_log or write_iops_log); run fio with \
               --output-format=json and import that",
    },
    Stranger {
        tells: |line| ["bytes", "octets", "byte"].iter().any(|word| is_dd_line(line, word)),
        says: "this looks like the output of dd in another language; run it as `LC_ALL=C dd …`",
    },
    Stranger {
        tells: |line| line.starts_with("Version") && line.contains("Sequential Output"),
        says: "this is the table of bonnie++ 1.96 or later, whose numbers are rounded; import the line with commas that \
               bonnie++ writes below it (-q writes that alone)",
    },
    Stranger {
        tells: |line| line.starts_with("Benchmark ") || line.contains("Time (mean ± σ)"),
        says: "this is hyperfine's text for people; run hyperfine with --export-json FILE",
    },
];

/// What `text` is and what to do with it, where that is known.
pub(super) fn known(text: &str) -> Option<String> {
    let tells = |stranger: &&Stranger| text.lines().any(|line| (stranger.tells)(line));
    let csv = "this looks like a CSV file; describe its columns in a TOML file like published/brownlee-2005.toml and import \
               that";
    let found = STRANGERS.iter().find(tells).map(|stranger| stranger.says);
    found.or_else(|| is_csv(text).then_some(csv)).map(Into::into)
}

/// Whether the first two lines have as many commas.
fn is_csv(text: &str) -> bool {
    let commas = |line: &str| line.matches(',').count();
    let mut lines = text.lines();
    let (Some(first), Some(second)) = (lines.next(), lines.next()) else { return false };
    commas(first) > 0 && commas(first) == commas(second) && !first.contains('{')
}

/// `time, value, direction, block size, …`, all whole numbers.
fn is_fio_log(line: &str) -> bool {
    let fields: Vec<&str> = line.split(", ").collect();
    let is_number = |field: &&str| field.trim().parse::<u64>().is_ok();
    (4..=7).contains(&fields.len()) && fields.iter().all(is_number)
}

/// Whether a line has a number of bytes first, a time in s and a rate last, as every translation of dd's result has.
fn is_dd_line(line: &str, word: &str) -> bool {
    let lower = line.to_lowercase();
    let mut words = lower.split_whitespace();
    let is_bytes = words.next().is_some_and(|first| first.parse::<u64>().is_ok())
        && words.next().is_some_and(|second| second.starts_with(word));
    is_bytes && lower.contains(" s, ") && lower.trim_end().ends_with("b/s")
}
