//! The page of an answer: that of a results directory with the trials that the search measured in full, under the answer and its
//! lines.

use crate::answer::{Page, Tuned};
use lab::{Result, published};
use verdict::Verdict;
use verdict::judge::Point;
use verdict::report::html;

impl Tuned {
    /// One page that needs nothing else, as `ileave report --html` writes it of a run.
    ///
    /// # Errors
    ///
    /// Where the published table beside an experiment cannot be read.
    pub fn html(&self) -> Result<String> {
        let Page { results, verdict } = &self.page;
        let point =
            |(about, text): &(String, String)| Point { about: about.clone(), text: text.clone() };
        // The choice is tune's, which keeps a default that ties; the ranking is the verdict's.
        let verdict = Verdict {
            answer: self.verdict.clone(),
            points: self.lines.iter().map(point).collect(),
            ..verdict.clone()
        };
        Ok(html::run(results, &verdict, published::of(&results.manifest)?.as_ref()))
    }
}
