//! Random reads by fio and by ileave's own engine on the same image file, turn about: the table of
//! docs/disks.md. Run it on a machine that does nothing else:
//!
//! ```sh
//! cargo bench -p lab --bench beside_fio             # or … -- DIR, for an image on another disk
//! ```

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a table is what it is for")]

#[cfg(target_os = "linux")]
fn main() {
    let directory = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    match linux::compare(directory.as_deref().unwrap_or(env!("CARGO_TARGET_TMPDIR"))) {
        Ok(table) => println!("{table}"),
        Err(why) => eprintln!("SKIPPED: {why}"),
    }
}

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("SKIPPED: the disks rig is there on Linux only");
}

#[cfg(target_os = "linux")]
mod linux {
    use lab::capabilities::Members;
    use lab::experiment::{Experiment, Plan};
    use lab::rig::disks::{Disks, Options};
    use lab::rig::{self, Rig};
    use std::fmt::Write as _;
    use std::path::Path;
    use std::process::Command;

    const DEPTHS: [u32; 2] = [1, 32];
    const TURNS: usize = 9;
    const TURN_S: u32 = 2;
    const IMAGE_BYTES: u64 = 1 << 30;

    /// The table, or why there is none.
    pub(super) fn compare(directory: &str) -> Result<String, String> {
        let version = Command::new("fio").arg("--version").output();
        let version = version.map_err(|error| format!("fio does not run here: {error}"))?;
        let directory = tempfile::tempdir_in(directory).map_err(|error| error.to_string())?;
        let image = directory.path().join("a.img");
        let options = Options {
            paths: vec![image.clone()],
            create_bytes: Some(IMAGE_BYTES),
            ..Options::default()
        };
        let members = Disks::open(&options, &mut |_, _| Ok(false));
        let members = members.map_err(|error| error.to_string())?;
        let mut table = format!(
            "{}, {} with ileave {}, {TURNS} turns of {TURN_S} s each\n\n\
             | depth | fio, requests/s | ileave, requests/s | median of the ratios | all ratios |\n\
             |---:|---:|---:|---:|---:|\n",
            about(&members),
            String::from_utf8_lossy(&version.stdout).trim(),
            env!("CARGO_PKG_VERSION"),
        );
        for warning in members.warnings() {
            writeln!(table, "warning: {warning}").expect("a string grows");
        }
        for depth in DEPTHS {
            let mut pairs = Vec::with_capacity(TURNS);
            for _ in 0..TURNS {
                pairs.push((fio(&image, depth)?, ileave(&members, depth)?));
            }
            writeln!(table, "{}", row(depth, &pairs)).expect("a string grows");
        }
        Ok(table)
    }

    /// What the one member is and how it is accessed.
    fn about(disks: &Disks) -> String {
        match disks.capabilities().members {
            Members::Real { members, .. } => members[0].about.clone(),
            Members::Modelled => unreachable!("it is real"),
        }
    }

    fn row(depth: u32, pairs: &[(f64, f64)]) -> String {
        let median = |of: &dyn Fn(&(f64, f64)) -> f64| {
            let mut values: Vec<f64> = pairs.iter().map(of).collect();
            values.sort_by(f64::total_cmp);
            (values[0], values[values.len() / 2], values[values.len() - 1])
        };
        let (_, fio, _) = median(&|pair| pair.0);
        let (_, ileave, _) = median(&|pair| pair.1);
        let (least, ratio, most) = median(&|pair| pair.1 / pair.0);
        format!("| {depth} | {fio:.0} | {ileave:.0} | {ratio:.3} | {least:.2}–{most:.2} |")
    }

    /// Requests a second by fio.
    fn fio(image: &Path, depth: u32) -> Result<f64, String> {
        let output = Command::new("fio")
            .args(["--name=x", "--rw=randread", "--bs=4k", "--direct=1", "--ioengine=io_uring"])
            .args(["--norandommap", "--time_based", "--output-format=json"])
            .arg(format!("--filename={}", image.display()))
            .arg(format!("--iodepth={depth}"))
            .arg(format!("--runtime={TURN_S}"))
            .output()
            .map_err(|error| error.to_string())?;
        if !output.status.success() {
            return Err(format!("fio failed: {}", String::from_utf8_lossy(&output.stderr)));
        }
        let json: serde_json::Value =
            serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
        json["jobs"][0]["read"]["iops"].as_f64().ok_or_else(|| "fio says no iops".into())
    }

    /// Requests a second by ileave, on the same file in the same way.
    fn ileave(disks: &Disks, depth: u32) -> Result<f64, String> {
        let text = format!(
            "[volume]\nlevel = \"single\"\n[workload.x]\nkind = \"random\"\nblock = \"4KiB\"\n\
             depth = {depth}\nruntime = \"{TURN_S}s\"\n"
        );
        let measured = Experiment::parse("beside-fio", &text)
            .and_then(|experiment| Plan::on(&experiment, &disks.capabilities()))
            .and_then(|plan| rig::run(disks, &plan.trials[0]))
            .map_err(|error| error.to_string())?;
        let rate = measured.samples.iter().find(|(name, _)| *name == "requests_per_s");
        rate.map(|&(_, value)| value).ok_or_else(|| "no rate was measured".into())
    }
}
