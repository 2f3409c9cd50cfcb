//! The answer as data and as text: what to build first, then how sure that is, then everything else.

pub(crate) mod costs;
pub(crate) mod lines_of_question;
pub(crate) mod page;
mod worst;

use crate::answer::lines_of_question::Difference;
use crate::beside::bitmap::Bitmap;
use crate::beside::block_size::Blocks;
use crate::beside::mount::Mount;
use crate::beside::read_ahead::ReadAhead;
use crate::beside::scheduler::Scheduler;
use crate::beside::xfs_stripes::Align;
use crate::commands::{Command, printed};
use crate::doubt::Doubt;
use crate::front::row::{FrontRow, Shown};
use crate::front::without_copies::WithoutCopies;
use crate::front::worth::rebuilds_differ;
use crate::reasons::counterfactual::Reason;
use crate::reasons::factors::Decides;
use crate::reasons::published_rules::Rule;
use crate::search::confirm::Confirmed;
use serde::Serialize;
use serde_json::{Map, Value as Json, json};
use std::fmt::Write as _;
use store::record::Record;
use store::words::listed;
use store::{Happened, Manifest, Results};
use verdict::Verdict;
use verdict::tables::{STRONG, fits, fitted, labelled, marked, paragraphs, table};

/// What comes first of the lines: that no layout keeps the rate that was asked for. All else is about an answer that
/// will not do.
const URGENT: &str = "too slow";

/// Puts first what must come first.
pub(crate) fn urgent_first(lines: &mut [(String, String)]) {
    lines.sort_by_key(|(about, _)| about != URGENT);
}

/// What was found.
#[derive(Clone, Debug, Serialize)]
pub struct Tuned {
    /// What to build: factor and value.
    pub best: Map<String, Json>,
    /// What comes second; null where there was nothing else.
    pub runner_up: Option<Map<String, Json>>,
    /// How many times better the best is, with its 95 % interval.
    pub difference: Option<Difference>,
    /// What to do, in one sentence.
    pub verdict: String,
    /// What each factor explains, and what none does.
    #[serde(flatten)]
    pub decides: Decides,
    /// What no other beats in speed, room, survival, risk and rebuild time together.
    pub front: Vec<FrontRow>,
    /// What the best may lose.
    pub risk: Json,
    /// What changes without a mechanism.
    pub reasons: Vec<Reason>,
    /// Whether the choice holds if what was assumed is otherwise.
    pub sensitivity: Vec<Doubt>,
    /// Trials that were left out for time, in words.
    pub not_tried: Vec<String>,
    /// What md's write-intent bitmap costs; null where there is none to have.
    pub bitmap: Option<Bitmap>,
    /// Which I/O scheduler to have before each drive; null where Linux has none before such drives.
    pub scheduler: Option<Scheduler>,
    /// How far Linux is to read ahead; null where nothing is read in order through the page cache.
    pub read_ahead: Option<ReadAhead>,
    /// Which block size the file system is to have; null where none was tried.
    pub blocks: Option<Blocks>,
    /// Which option the file system is to be mounted with; null where none was tried on the layout that is chosen.
    /// Where another layout is chosen for its option, `best` has that, too.
    pub mount: Option<Mount>,
    /// Whether XFS is to know the stripes of the layout that is chosen; null where that was not tried.
    pub align: Option<Align>,
    /// What cloud volumes do as a plain stripe; null where it was said how many failures to survive.
    pub without_copies: Option<WithoutCopies>,
    /// Published rules.
    pub rules: Vec<Rule>,
    /// How to build it, and how to check that.
    pub commands: Vec<Command>,
    /// Everything assumed.
    pub assumed: Json,
    /// What a slower rig said of the best few; null where none was asked.
    pub confirmed: Option<Confirmed>,
    /// Cells left out as impossible, keys without effect.
    #[serde(skip)]
    pub warnings: Vec<String>,
    /// Cells measured by the search, each seed counted; not those of spares, failed members and what-ifs.
    pub evaluations: usize,
    /// Cells that the search still asked for when the time was over (`--time-limit`): at least so many more would have
    /// been measured.
    pub evaluations_left: usize,
    /// Short trials that said which cells to measure.
    pub short_evaluations: usize,
    /// Cells of which there was no time for a short trial.
    pub short_evaluations_left: usize,
    /// Cells that an exhaustive search would have measured.
    pub exhaustive_evaluations: usize,
    /// Lines below the answer.
    #[serde(skip)]
    pub(crate) lines: Vec<(String, String)>,
    /// What its page shows.
    #[serde(skip)]
    pub(crate) page: Page,
    /// The experiment, as `--save` writes it.
    #[serde(skip)]
    pub experiment: String,
    /// What stands above it.
    #[serde(skip)]
    pub(crate) origin: &'static str,
}

impl Tuned {
    /// Whether no layout meets what `--safe` and `--subject-to` ask for.
    pub fn none_meets(&self) -> bool {
        self.best.is_empty() && self.page.verdict.none_meets()
    }

    /// The keys that every answer has, in JSON.
    pub fn json(&self) -> Json {
        json!(self)
    }

    /// For the terminal.
    pub fn text(&self) -> String {
        let mut text = marked(STRONG, &paragraphs(std::slice::from_ref(&self.verdict)));
        text += &labelled(&self.lines);
        if !self.front.is_empty() {
            let criteria = criteria(&self.front);
            let front = format!("Front: no other layout beats one of these in {criteria} at once");
            text += &section(&front, &self.front_table());
        }
        let reasons: Vec<String> =
            self.reasons.iter().map(|reason| format!("  {}", reason.sentence)).collect();
        if !reasons.is_empty() {
            text += &section("What if, against the next best", &paragraphs(&reasons));
        }
        let rules: Vec<(String, String)> = self.rules.iter().map(Rule::line).collect();
        if !rules.is_empty() {
            text += &section("Published rules", &labelled(&rules));
        }
        if !self.commands.is_empty() {
            let mut lines = String::new();
            for line in printed(&self.commands).lines() {
                writeln!(lines, "  {line}").expect("a string grows");
            }
            text += &section("Commands", &lines);
        }
        let mut experiment = String::new();
        for line in self.experiment.lines().filter(|line| !line.is_empty()) {
            writeln!(experiment, "  {line}").expect("a string grows");
        }
        if let Some(hours) = self.assumed.get("replaced_after_h").and_then(Json::as_f64) {
            experiment += &replaced_line(hours);
        }
        text += &section(self.origin, &experiment);
        let short = match self.short_evaluations {
            0 => String::new(),
            short => format!(", after {short} short trials"),
        };
        let (trials, cells) = (self.evaluations, self.exhaustive_evaluations);
        let measured = if trials > cells {
            format!(
                "{trials} trials measured; every layout with the seeds of the search takes {cells}"
            )
        } else {
            format!("{trials} of {cells} cells measured")
        };
        writeln!(text, "\n{measured}{short}").expect("a string grows");
        text
    }

    fn front_table(&self) -> String {
        let (heading, words) = FrontRow::heading(&self.front);
        let shown = Shown::of(&self.front);
        let rows: Vec<Vec<String>> = self.front.iter().map(|row| row.cells(&shown)).collect();
        in_parts(&heading, &rows, words, |heading, rows| fits(heading, rows.into_iter()))
    }
}

/// What an experiment has no key for, and every chance of loss rests on.
fn replaced_line(hours: f64) -> String {
    let (time, unit) = if hours < 48.0 { (hours, "h") } else { (hours / 24.0, "d") };
    let time = format!("{} {unit}", (10.0 * time).round() / 10.0);
    format!(
        "  # a failed drive is replaced after {time} (`--replace-after`, not in the experiment)\n"
    )
}

/// The last column of the first table, where the screen is too narrow for one.
const LAST_OF_FIRST: &str = "room";

/// The first column of the third, where what is left is too wide for one, too.
const FIRST_OF_LAST: &str = "all data lost in 5 years";

/// A table of a front; where no screen's line has room for it, one of what layouts do and one of what they risk, and
/// where that is too wide, too, the chances in one of their own.
fn in_parts(
    heading: &[String],
    rows: &[Vec<String>],
    words: usize,
    fits: impl Fn(&[String], Vec<Vec<String>>) -> bool,
) -> String {
    let pick = |cells: &[String], columns: &[usize]| -> Vec<String> {
        columns.iter().map(|&column| cells[column].clone()).collect()
    };
    let of = |columns: &[usize]| {
        let own = pick(heading, columns);
        let mut part = table(&own, words);
        for row in rows {
            part.add_row(pick(row, columns));
        }
        // The hours of a rebuild stand in a line of the answer, too.
        let least: Vec<usize> =
            own.iter().position(|name| name == "rebuild h").into_iter().collect();
        format!("{}\n", fitted(part, &least))
    };
    let named = |name: &str| heading.iter().position(|own| own == name);
    // Each break is taken only where what follows the last one does not fit.
    let breaks = [named(LAST_OF_FIRST).map(|last| last + 1), named(FIRST_OF_LAST)];
    let with_words =
        |from: usize, to: usize| -> Vec<usize> { (0..words).chain(from.max(words)..to).collect() };
    let (mut from, mut parts) = (0, Vec::new());
    for at in breaks.into_iter().flatten().filter(|&at| at > words && at < heading.len()) {
        let rest = with_words(from, heading.len());
        let cells = rows.iter().map(|row| pick(row, &rest)).collect();
        if at <= from || fits(&pick(heading, &rest), cells) {
            break;
        }
        parts.push(of(&with_words(from, at)));
        from = at;
    }
    parts.push(of(&with_words(from, heading.len())));
    parts.join("\n")
}

/// What layouts of a front are held against each other by: cost and rebuild time where these differ.
fn criteria(front: &[FrontRow]) -> String {
    let hours = front.iter().filter(|row| row.survives > 0).map(|row| row.rebuild_h.high);
    let mut all = vec!["speed", "room", "survival", "risk"];
    all.extend(costs_differ(front).then_some("cost"));
    all.extend(rebuilds_differ(hours).then_some("rebuild time"));
    listed(&all, ", ", "and")
}

/// Whether the drives of some layouts cost more than those of others.
fn costs_differ(front: &[FrontRow]) -> bool {
    let mut costs = front.iter().filter_map(|row| row.cost_usd);
    costs.next().is_some_and(|first| costs.any(|cost| (cost - first).abs() > 0.005))
}

fn section(heading: &str, body: &str) -> String {
    format!("\n{}{body}", marked(STRONG, &format!("{heading}\n")))
}

impl Rule {
    fn line(&self) -> (String, String) {
        let agrees = match self.agrees {
            Some(true) => "agrees; ",
            Some(false) => "does not agree; ",
            None => "",
        };
        (self.name.into(), format!("{}: {agrees}{}", self.says, self.why))
    }
}

/// What was measured in full, and the verdict on it.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    results: Results,
    pub(crate) verdict: Verdict,
}

impl Page {
    pub(crate) fn of(manifest: &Manifest, records: Vec<Record>, verdict: Verdict) -> Page {
        let results = Results {
            manifest: manifest.clone(),
            finished: records.len(),
            records,
            suspects: std::collections::BTreeSet::new(),
            happened: Happened::default(),
        };
        Page { results, verdict }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The chances of loss of an answer rest on it, and only `--json` had it.
    #[test]
    fn when_a_drive_is_replaced_is_said() {
        let said = "  # a failed drive is replaced after 60 d (`--replace-after`, not in the experiment)\n";
        assert_eq!(replaced_line(1440.0), said);
        assert!(replaced_line(6.0).contains("after 6 h ("));
        assert!(replaced_line(36.0).contains("after 36 h ("));
    }

    /// "The best reaches about 10 % of the rate" stood seven lines below an answer that will not do.
    #[test]
    fn a_rate_that_is_not_kept_is_said_first() {
        let of = |about: &str| (about.to_string(), String::new());
        let mut lines = ["next best", "state", "too slow", "risk"].map(of);
        urgent_first(&mut lines);
        assert_eq!(lines.map(|(about, _)| about), ["too slow", "next best", "state", "risk"]);
    }

    /// Nine columns were wrapped within their cells, up to seven lines for a row.
    #[test]
    fn a_front_too_wide_for_the_screen_is_two_tables() {
        let cells = |text: &str| text.split('|').map(String::from).collect::<Vec<_>>();
        let heading = cells(
            "level|chunk|speed|room|survives|rebuild h|all data lost in 5 years|torn by a crash",
        );
        let rows = [
            cells("md-raid5|64KiB|9 MB/s|3 TB|1|2 to 3|1 %|2 %"),
            cells("md-raid6|16KiB|8 MB/s|2 TB|2|2 to 3|3 %|4 %"),
        ];
        let lines = |columns_max: usize| {
            let fits = |heading: &[String], _: Vec<Vec<String>>| heading.len() <= columns_max;
            let text = in_parts(&heading, &rows, 2, fits);
            text.lines()
                .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
                .collect::<Vec<_>>()
        };
        assert_eq!(lines(8).len(), 3);
        let both = [
            "level chunk speed room",
            "md-raid5 64KiB 9 MB/s 3 TB",
            "md-raid6 16KiB 8 MB/s 2 TB",
            "",
            "level chunk survives rebuild h all data lost in 5 years torn by a crash",
            "md-raid5 64KiB 1 2 to 3 1 % 2 %",
            "md-raid6 16KiB 2 2 to 3 3 % 4 %",
        ];
        assert_eq!(lines(6), both);
        // With prices the second was wrapped at 100 columns.
        let three = [
            "level chunk survives rebuild h",
            "md-raid5 64KiB 1 2 to 3",
            "md-raid6 16KiB 2 2 to 3",
            "",
            "level chunk all data lost in 5 years torn by a crash",
            "md-raid5 64KiB 1 % 2 %",
            "md-raid6 16KiB 3 % 4 %",
        ];
        assert_eq!(lines(5)[..4], both[..4]);
        assert_eq!(lines(5)[4..], three);
    }

    #[test]
    fn a_criterion_is_named_where_it_parts_layouts() {
        let of = |hours: f64, survives| {
            let mut own = crate::front::tests::row("md-raid6", 900.0, 100, 0.001);
            own.rebuild_h.high = hours;
            own.survives = survives;
            own
        };
        let even = "speed, room, survival and risk";
        assert_eq!(criteria(&[of(134.0, 2), of(134.0, 1)]), even);
        assert_eq!(
            criteria(&[of(134.0, 2), of(120.0, 1)]),
            even,
            "a tenth is nothing to choose by"
        );
        assert_eq!(criteria(&[of(134.0, 2), of(1.0, 0)]), even, "nothing is rebuilt there");
        let apart = "speed, room, survival, risk and rebuild time";
        assert_eq!(criteria(&[of(134.0, 2), of(50.0, 1)]), apart);
    }
}
