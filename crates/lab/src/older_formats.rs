//! Results of older formats. Of drives, hosts and controllers, format 1 kept digests and nothing else; of factors, it and
//! format 2 kept nothing. What reports need beside is as the catalogue and the table of keys have it today.

use crate::catalogue::{self, KnownDrive, KnownHost};
use crate::experiment::{factors, stated_drives};
use std::collections::BTreeSet;
use std::path::Path;
use store::format_1::FORMAT;
use store::record::{Record, plain};
use store::{Manifest, Results};
use toml::Value;

/// Reads a results directory of any format; all windows of a trace are one record.
///
/// # Errors
///
/// Where it is none, or is damaged.
pub fn read_results(directory: &Path) -> store::Result<Results> {
    Results::read(directory, complete)?.joined()
}

/// Makes a manifest of an older format one of today's, of these records; one of today's is left alone.
pub fn complete(manifest: &mut Manifest, records: &[Record]) {
    if manifest.format == store::FORMAT {
        return;
    }
    if manifest.format == FORMAT {
        complete_parts(manifest, records);
    }
    manifest.factors = factors(records.iter().flat_map(|record| record.at.keys()));
    manifest.format = store::FORMAT;
}

/// Completes drives, hosts and controllers of format 1.
fn complete_parts(manifest: &mut Manifest, records: &[Record]) {
    // Of real members the catalogue knows nothing.
    if manifest.members.is_empty() {
        complete_drives(manifest, records);
    }
    for (name, kept) in std::mem::take(&mut manifest.hosts) {
        let (things, today) = match (catalogue::host(&name), catalogue::controller(&name)) {
            (Err(_), Ok(controller)) => (&mut manifest.controllers, KnownHost::from(&controller)),
            (Ok(host), _) => (&mut manifest.hosts, KnownHost::from(&host)),
            (Err(_), Err(_)) => (&mut manifest.hosts, KnownHost::default()),
        };
        things.insert(name, KnownHost { digest: kept.digest, ..today });
    }
}

/// Completes its drives. They stood by their catalogue names, and are to stand by those of the experiment or of
/// imported results. One that the catalogue no longer has keeps its digest.
fn complete_drives(manifest: &mut Manifest, records: &[Record]) {
    let settings = manifest.settings();
    let of_settings = settings.iter().filter(|(path, _)| path.ends_with("volume.drives"));
    let lists = of_settings.flat_map(|(_, value)| match value {
        Value::Array(lists) => lists.iter().filter_map(Value::as_str).map(String::from).collect(),
        list => Vec::from_iter(list.as_str().map(String::from)),
    });
    let of_records = records.iter().filter_map(|record| record.at.get("volume.drives")).map(plain);
    let stated = stated_drives(lists.chain(of_records));
    let by_name = std::mem::take(&mut manifest.drives);
    let found: BTreeSet<&String> = stated.values().map(|drive| &drive.name).collect();
    let gone = by_name.iter().filter(|(name, _)| !found.contains(name));
    manifest.drives.extend(gone.map(|(name, kept)| (name.clone(), kept.clone())));
    manifest.drives.extend(stated.iter().map(|(name, drive)| {
        let known = KnownDrive::from(drive);
        let digest = by_name.get(&drive.name).map_or(known.digest, |kept| kept.digest.clone());
        (name.clone(), KnownDrive { digest, ..known })
    }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use store::format_1::read;

    fn manifest(rig: &str, experiment: &str, rest: &str) -> Manifest {
        let text = format!(
            "format = 1\nileave = \"0\"\nname = \"some\"\nrig = \"{rig}\"\ntrials = 1\nworkloads = [\"w\"]\n\
             published = \"\"\nexperiment = '''{experiment}'''\n{rest}"
        );
        read(&text).unwrap()
    }

    /// The results of a layout on these drives.
    fn record(drives: &str) -> Record {
        let text = format!(
            "{{\"trial\":0,\"at\":{{\"volume.drives\":\"{drives}\"}},\"workload\":\"w\",\"repeat\":0,\
             \"samples\":{{}},\"member_busy\":[],\"requests\":0,\"latency_hdr\":\"\"}}"
        );
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn digests_stay_and_the_rest_is_as_the_catalogue_has_it() {
        let experiment = "\"volume.drives\" = [\"2xRaptor 74\", \"./gone.toml:1GiB\"]\n";
        let rest = "[drives]\nwd740gd = \"1\"\n\"./gone.toml\" = \"2\"\n[hosts]\ncrd-5500 = \"3\"\n\
                    ultra2-netbsd-3 = \"4\"\n\"./gone.toml\" = \"5\"\n[trees]\n\"openoffice-1.1\" = \"6\"\n";
        let mut manifest = manifest("sim", experiment, rest);
        complete(&mut manifest, &[]);
        assert_eq!(manifest.format, store::FORMAT);
        let said = &manifest.drives["Raptor 74"];
        assert_eq!((said.digest.as_str(), said.sectors), ("1", Some(145_226_112)));
        let gone = KnownDrive { digest: "2".into(), ..KnownDrive::default() };
        assert_eq!((&manifest.drives["./gone.toml"], manifest.drives.len()), (&gone, 2));
        let crd = &manifest.controllers["crd-5500"];
        assert_eq!(
            (crd.digest.as_str(), crd.fitted.is_empty(), manifest.controllers.len()),
            ("3", false, 1)
        );
        assert!(!manifest.hosts["ultra2-netbsd-3"].fitted.is_empty());
        assert_eq!(manifest.hosts["./gone.toml"].digest, "5");
        assert_eq!(manifest.trees["openoffice-1.1"], "6");
        // What it has become is kept as such, and is looked up no more.
        let kept: Manifest = toml::from_str(&toml::to_string(&manifest).unwrap()).unwrap();
        assert_eq!(kept, manifest);
        complete(&mut manifest, &[record("wd740gd")]);
        assert_eq!(kept, manifest);
    }

    #[test]
    fn drives_of_imported_results_stand_in_their_trials() {
        let mut manifest = manifest("published", "", "[drives]\n[hosts]\n");
        complete(&mut manifest, &[record("2xwd740gd (wd0)"), record("somebody's")]);
        assert!(manifest.drives.keys().eq(["wd740gd"]), "{:?}", manifest.drives);
    }

    #[test]
    fn real_members_are_no_drives() {
        let rest = "[drives]\n\"0: a.img\" = \"file of 9 sectors\"\n[hosts]\n";
        let mut manifest = manifest("disks", "\"volume.drives\" = \"wd740gd\"\n", rest);
        complete(&mut manifest, &[]);
        assert_eq!(manifest.members["0: a.img"], "file of 9 sectors");
        assert!(manifest.drives.is_empty() && manifest.hosts.is_empty());
    }
}
