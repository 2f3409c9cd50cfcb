//! Members that fail under the real kernel, each in its way, and what is left of the files.

use super::kernel::{has_kernel, write};
use super::{ileave, scratch, stdout, takes_long};
use serde_json::Value as Json;
use std::fmt::Write as _;
use std::fs;
use std::process::Command;

/// A line of a block trace; times in ms.
struct Traced {
    from: f64,
    drive: u32,
    op: char,
    sectors: u32,
    done: f64,
}

impl Traced {
    fn of(line: &str) -> Self {
        let of: Vec<&str> = line.split(',').collect();
        let ms = |text: &str| text.parse::<f64>().unwrap() / 1000.0;
        Traced {
            from: ms(of[0]),
            drive: of[1].parse().unwrap(),
            op: of[2].chars().next().unwrap(),
            sectors: of[4].parse().unwrap(),
            done: ms(of[5]),
        }
    }
}

/// A member that fails, cannot read or stalls does so at its time, and md goes on; a stripe does not.
#[test]
fn members_fail_at_a_time_of_their_own() {
    if takes_long() {
        return;
    }
    if !has_kernel() {
        return;
    }
    let here = scratch();
    let file = write(
        here.path(),
        r#"
            volume = { drives = "4xst18000nm000j:2GiB", level = "md-raid10", interleave = "64KiB" }
            drive.write_cache = false
            fault = { kind = ["fail", "errors", "stall"], member = 1, at = "1s", lasts = "2s", length = "1900MiB" }
            workload.oltp = { kind = "random", reads_percent = 50, depth = 8, runtime = "4s" }
        "#,
    );
    stdout(here.path(), &["run", &file, "--on", "kernel", "--keep-trace", "--out", "out"]);
    let trials = fs::read_to_string(here.path().join("out/trials.jsonl")).unwrap();
    for trial in trials.lines().map(|line| serde_json::from_str::<Json>(line).unwrap()) {
        let kept = here.path().join(format!("out/kept/trial-{}-blocks.csv", trial["trial"]));
        let trace = fs::read_to_string(kept).unwrap();
        let commands: Vec<Traced> = trace.lines().skip(1).map(Traced::of).collect();
        check_fault(trial["at"]["fault.kind"].as_str().unwrap(), &commands);
    }
    let stripe = ileave(
        here.path(),
        &[
            "run",
            &file,
            "--on",
            "kernel",
            "--set",
            "volume.level=md-stripe",
            "--set",
            "fault.kind=fail",
        ],
    );
    assert_eq!(stripe.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&stripe.stderr).contains("Input/output error"));
    let modelled = ileave(here.path(), &["run", &file]);
    assert_eq!(modelled.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&modelled.stderr).contains("with `--on kernel` only"));
}

/// That drive 1 did as `kind` says from 1 s on, until 3 s if it stalled.
fn check_fault(kind: &str, commands: &[Traced]) {
    let count = |from: f64, to: f64, is_one: &dyn Fn(&Traced) -> bool| {
        let at_the_time = commands.iter().filter(|command| (from..to).contains(&command.done));
        at_the_time.filter(|command| is_one(command)).count()
    };
    let own = |from, to| count(from, to, &|command| command.drive == 1);
    assert!(own(0.0, 999.0) > 50, "it works until then");
    match kind {
        "fail" => {
            assert_eq!(own(1500.0, 4000.0), 0, "md has put it out");
            assert!(count(3900.0, 4000.0, &|command| command.drive == 2) > 3, "the others go on");
        }
        "stall" => {
            assert_eq!(own(1001.0, 2999.0), 0);
            assert!(own(3000.0, 4000.0) > 50);
            let lasted = commands.iter().map(|command| command.done - command.from);
            let longest = lasted.fold(0.0, f64::max);
            assert!((1900.0..2300.0).contains(&longest), "{longest} ms");
        }
        _ => {
            // What it cannot read md reads from the copy and writes here again, page by page.
            let is_repair =
                |command: &Traced| (command.drive, command.op, command.sectors) == (1, 'W', 8);
            assert_eq!(count(0.0, 1000.0, &is_repair), 0);
            assert!(count(1000.0, 4000.0, &is_repair) > 20);
        }
    }
}

/// Unpacks a tree, loses a member twice, and says after each step whether all files are as they were outside the guest. The
/// first time the member comes back as a blank disk, the second time md takes it back by a bitmap.
const LIFE: &str = r"
set -e
mount=$1; here=$2; array=$(ls /dev/md/ileave*); md=/sys/block/$(basename $(readlink -f $array))/md
read_all() { echo 3 > /proc/sys/vm/drop_caches; (cd $mount; md5sum --quiet -c $here/sums); echo $1 $(grep -o '\[[U_]*\]' /proc/mdstat); }
lose() { sync; mdadm --fail $array /dev/vdb; mdadm --remove $array /dev/vdb; before=$(awk '{print $7}' /sys/block/vdb/stat); } 2> /run/said
restored() { mdadm --wait $array || true; echo written $((($(awk '{print $7}' /sys/block/vdb/stat) - before) / 2048)) MiB; }
check() { echo check > $md/sync_action; mdadm --wait $array || true; echo mismatches $(cat $md/mismatch_cnt); }
tar xf $here/tree.tar -C $mount
lose; read_all degraded
mdadm --re-add $array /dev/vdb 2> /run/said && exit 1
mdadm --zero-superblock /dev/vdb; mdadm --add $array /dev/vdb 2> /run/said
restored; read_all rebuilt; check
mdadm --grow --bitmap=internal --bitmap-chunk=1M $array
lose; cp $here/tree.tar $mount/late; sync; read_all degraded
mdadm --re-add $array /dev/vdb 2> /run/said
restored; read_all re-added; cmp $here/tree.tar $mount/late; check
";

/// RAID 5 over four drives: made, mkfs.xfs, a tree unpacked, a member failed, read without it, rebuilt to the end and re-added.
#[test]
fn a_raid_5_lives_through_a_failure() {
    if takes_long() || !has_kernel() {
        return;
    }
    let here = scratch();
    let tree = here.path().join("tree");
    for directory in 0..20 {
        fs::create_dir_all(tree.join(directory.to_string())).unwrap();
        for file in 0..20 {
            // Of no two files, and of no two pages of one, is the content the same.
            let mut text = String::new();
            for line in 0..400 + file * 60 {
                writeln!(text, "{directory} {file} {line:030}").unwrap();
            }
            fs::write(tree.join(format!("{directory}/{file}")), text).unwrap();
        }
    }
    let packed = "tar cf tree.tar tree && find tree -type f | sort | xargs md5sum > sums";
    let packed = Command::new("sh").args(["-c", packed]).current_dir(here.path()).status().unwrap();
    assert!(packed.success());
    let script = here.path().join("live.sh");
    fs::write(&script, LIFE).unwrap();
    let file = write(
        here.path(),
        &format!(
            "volume = {{ drives = \"4xmd-hdd:256MiB\", level = \"md-raid5\", interleave = \"64KiB\" }}\n\
             fs.kind = \"xfs\"\n\
             workload.live = {{ kind = \"command\", command = \"sh {} {{mount}} {}\" }}\n",
            script.display(),
            here.path().display()
        ),
    );
    stdout(here.path(), &["run", &file, "--on", "kernel", "--out", "k"]);
    let said = fs::read_to_string(here.path().join("k/kept/trial-0-output")).unwrap();
    let mut written = Vec::new();
    let of_lines = said.lines().map(|line| {
        let mib = line.strip_prefix("written ").and_then(|rest| rest.strip_suffix(" MiB"));
        written.extend(mib.map(|mib| mib.parse::<u32>().unwrap()));
        if mib.is_some() { "written" } else { line }
    });
    let steps: Vec<&str> = of_lines.collect();
    let expected = "degraded [U_UU]\nwritten\nrebuilt [UUUU]\nmismatches 0\n\
                    degraded [U_UU]\nwritten\nre-added [UUUU]\nmismatches 0";
    assert_eq!(steps, expected.lines().collect::<Vec<_>>(), "{said}");
    // The whole member, and then what changed while it was away.
    assert!(written[0] >= 250 && (1..60).contains(&written[1]), "{said}");
}

/// Files of 60 pages that say which they are: one is flushed, the other acknowledged when a member loses its power, at 5.55 s.
/// Says which pages each member and the files have then, when it is back, and when md has restored it.
const POWER: &str = r"
set -e
began=$(date +%s%N)
now_ms() { echo $((($(date +%s%N) - began) / 1000000)); }
until_ms() { left=$(($1 - $(now_ms))); [ $left -le 0 ] || sleep $((left / 1000)).$(printf %03d $((left % 1000))); }
pages() { for n in $(seq 60); do printf '%-4095s\n' $1-$n; done; }
count() { tr -d '\0' < $1 | grep -a -o '[a-z]*ed-[0-9]*' | sort -u | cut -d- -f1 | uniq -c | tr -s ' \n' ' '; }
say() {
  sync; echo 3 > /proc/sys/vm/drop_caches; cat $mount/flushed $mount/cached > /run/read
  echo $1 $(grep -o '\[[U_]*\]' /proc/mdstat), one $(count /dev/vda), other $(count /dev/vdb), files $(count /run/read)
}
check() { echo check > $md/sync_action; mdadm --wait $array || true; echo mismatches $(cat $md/mismatch_cnt); }
mount=$1; array=$(ls /dev/md/ileave*); md=/sys/block/$(basename $(readlink -f $array))/md
pages cached > /run/pages; pages flushed > $mount/flushed
dd if=/dev/zero of=$mount/cached bs=1M count=12 2> /run/said; sync
until_ms 5500
for n in $(seq 0 59); do
  dd if=/run/pages of=$mount/cached bs=4k skip=$n seek=$((n * 19 % 60 * 50)) count=1 oflag=direct conv=notrunc 2> /run/said
done
[ $(now_ms) -lt 5550 ] && echo acknowledged
until_ms 5700; say cut
until_ms 8000; if ! grep -q '\[U_\]' /proc/mdstat; then check; exit 0; fi
say back
mdadm --remove $array /dev/vdb 2> /run/said; mdadm --re-add $array /dev/vdb 2> /run/said; mdadm --wait $array || true
say restored
check
";

/// What a member had in its cache alone is gone when its power is back, and what was flushed is there. md fails it where it
/// meets a command without power, and restores it by its bitmap; else nobody notices.
#[test]
fn a_member_without_power_loses_its_cache() {
    if takes_long() || !has_kernel() {
        return;
    }
    let here = scratch();
    let script = here.path().join("power.sh");
    fs::write(&script, POWER).unwrap();
    let script = script.display();
    let file = write(
        here.path(),
        &format!(
            r#"
            volume = {{ drives = "2xmd-hdd:48MiB", level = "md-mirror", bitmap = "internal" }}
            drive.write_cache = true
            fs.kind = "ext4"
            fault = {{ kind = "power", member = 1, at = "5550ms" }}
            workload.unmet = {{ kind = "command", command = "sh {script} {{mount}}", fault.lasts = "50ms" }}
            workload.met = {{ kind = "command", command = "sh {script} {{mount}}", fault.lasts = "2s" }}
            "#
        ),
    );
    stdout(here.path(), &["run", &file, "--on", "kernel", "--out", "k"]);
    let trials = fs::read_to_string(here.path().join("k/trials.jsonl")).unwrap();
    let said = |workload: &str| {
        let trials = trials.lines().map(|trial| serde_json::from_str::<Json>(trial).unwrap());
        let trial = trials.into_iter().find(|trial| trial["workload"] == workload).unwrap();
        let output = format!("k/kept/trial-{}-output", trial["trial"]);
        fs::read_to_string(here.path().join(output)).unwrap()
    };
    let all = "60 cached 60 flushed";
    // What the other member still has of what was acknowledged and not flushed.
    let left = |said: &str, line: &str| -> u32 {
        let of_line = said.lines().find(|of| of.starts_with(line)).expect(said);
        let (_, other) = of_line.split_once(&format!(", one {all} , other ")).expect(of_line);
        let (cached, rest) = other.split_once(" cached ").unwrap_or(("0", other));
        assert!(rest.starts_with("60 flushed"), "{of_line}");
        cached.parse().unwrap()
    };
    let unmet = said("unmet");
    assert!(unmet.starts_with("acknowledged\ncut [UU], ") && left(&unmet, "cut") < 60, "{unmet}");
    let differ = unmet.rsplit_once("mismatches ").unwrap().1.trim().parse::<u32>().unwrap();
    assert!(differ > 0, "md does not know: {unmet}");
    let met = said("met");
    let failed = format!("acknowledged\ncut [U_], one {all} , other , files {all}\nback [U_], ");
    assert!(met.starts_with(&failed) && left(&met, "back") < 60, "{met}");
    assert_eq!(left(&met, "restored"), 60);
    assert!(met.ends_with("mismatches 0\n"), "{met}");
}
