//! By what a work's programs send, where that rules out what is tried.

use crate::question::work::Work;
use lab::{Error, Result};

impl Work {
    /// Refuses what no layout that is tried can be under.
    ///
    /// # Errors
    ///
    /// Where a workload is sent by SPDK.
    pub(crate) fn refuse_spdk(&self) -> Result<()> {
        let works = self.tables.get("workload").and_then(toml::Value::as_table);
        let is_spdk =
            |work: &toml::Value| work.get("engine").and_then(toml::Value::as_str) == Some("spdk");
        match works.into_iter().flatten().find(|(_, work)| is_spdk(work)) {
            Some((name, _)) => Err(Error::input(format!(
                "{}: `workload.{name}.engine` = spdk: with --drives, tune chooses among the layouts of Linux's md, and SPDK drives NVMe \
                 devices itself, past the kernel; name another engine, or measure SPDK on single drives by `ileave run`",
                self.origin
            ))),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::question::drives::Drives;

    #[test]
    fn spdk_is_under_no_layout_of_md() {
        let work = |engine: &str| {
            let text = format!("workload.w = {{ kind = 'random', engine = '{engine}' }}");
            Work { tables: text.parse().unwrap(), origin: "w.toml".into(), ..Work::default() }
        };
        let drives = Drives::read("4x 980 pro 1tb").unwrap();
        let asked = |engine| crate::Question::new(drives.clone(), work(engine));
        let said = asked("spdk").candidates().unwrap_err().to_string();
        assert!(said.contains("`workload.w.engine` = spdk: with --drives, tune chooses"), "{said}");
        assert!(asked("libaio").candidates().is_ok());
    }
}
