use super::*;
use crate::experiment::{Experiment, Member, Plan};
use proptest::prelude::*;
use std::fmt::Write as _;

const MDSTAT: &str = "Personalities : [raid6] [raid5] [raid4]
md0 : active raid6 sdh1[7] sdg1[6] sdf1[5] sde1[4] sdd1[3] sdc1[2] sdb1[1] sda1[0] sdi1[8](S)
      105470681088 blocks super 1.2 level 6, 512k chunk, algorithm 2 [8/8] [UUUUUUUU]
      bitmap: 0/131 pages [0KB], 65536KB chunk

unused devices: <none>
";

fn lsblk(model: &str, bytes: u64, disks: usize) -> String {
    let disk = |index: usize| {
        let name = char::from(b'a' + index as u8);
        format!(
            "{{\"name\":\"sd{name}\",\"type\":\"disk\",\"model\":\"{model}\",\"size\":{bytes},\"maj:min\":\"8:{}\",\
             \"children\":[{{\"name\":\"sd{name}1\",\"type\":\"part\",\"maj:min\":\"8:{}\"}}]}}",
            16 * index,
            16 * index + 1,
        )
    };
    let disks: Vec<String> = (0..disks).map(disk).collect();
    format!("{{\"blockdevices\":[{}]}}", disks.join(","))
}

fn experiment(files: &[&str]) -> Result<String> {
    let files: Vec<(String, String)> =
        files.iter().enumerate().map(|(n, text)| (format!("f{n}"), (*text).to_string())).collect();
    Inventory::read(&files)?.experiment(None)
}

/// The volume of an experiment: its level, its chunk, and its drives.
fn planned(text: &str) -> (String, u64, Vec<String>) {
    let plan = Plan::new(&Experiment::parse("x.toml", text).unwrap()).unwrap();
    let volume = &plan.trials[0].setup.volume;
    let name = |member: &Member| match member {
        Member::Modelled { drive, .. } => drive.name.clone(),
        Member::Real { name, .. } => name.clone(),
    };
    let drives = volume.members.iter().map(name).collect();
    (volume.level.name.into(), volume.interleave_sectors, drives)
}

#[test]
fn mdstat_and_lsblk_make_an_experiment_that_runs() {
    let text =
        experiment(&[&lsblk("ST18000NM000J-2TV103", 18_000_207_937_536, 9), MDSTAT]).unwrap();
    let (level, chunk, drives) = planned(&text);
    assert_eq!((level.as_str(), chunk), ("md-raid6", 1024));
    assert_eq!(drives, vec!["st18000nm000j"; 8]);
}

/// An array of four disks: what mdstat says of it below its first line, and the experiment.
fn array(word: &str, lines: &str) -> String {
    let mdstat =
        format!("md0 : active {word} sdd[3] sdc[2] sdb[1] sda[0]\n      1 blocks {lines}\n");
    experiment(&[&lsblk("ST18000NM000J", 18_000_207_937_536, 4), &mdstat]).unwrap()
}

/// RAID 1 has no chunk, and was written with its bitmap's, 64 MiB.
#[test]
fn a_bitmap_is_one_and_its_chunk_is_not_the_arrays() {
    let bitmap = "\n      bitmap: 3/131 pages [12KB], 65536KB chunk";
    let text = array("raid1", &format!("super 1.2 [4/4] [UUUU]{bitmap}"));
    assert!(!text.contains("interleave"), "{text}");
    for (word, line) in [
        ("raid1", "super 1.2 [4/4] [UUUU]"),
        ("raid10", "super 1.2 512K chunks 2 near-copies [4/4] [UUUU]"),
        ("raid5", "super 1.2 level 5, 512k chunk, algorithm 2 [4/4] [UUUU]"),
        ("raid6", "super 1.2 level 6, 512k chunk, algorithm 2 [4/4] [UUUU]"),
    ] {
        let has_bitmap = |text: &str| {
            let plan = Plan::new(&Experiment::parse("x.toml", text).unwrap()).unwrap();
            plan.trials[0].setup.volume.has_bitmap
        };
        assert!(has_bitmap(&array(word, &format!("{line}{bitmap}"))), "{word}");
        assert!(!has_bitmap(&array(word, line)), "{word}");
        let text = array(word, &format!("{line}{bitmap}, file: /bitmap"));
        assert!(!has_bitmap(&text) && text.contains("# Its bitmap is in a file"), "{text}");
    }
}

/// Far copies were near ones, and every parity left-symmetric.
#[test]
fn layouts_of_md_are_read() {
    for (word, line, level) in [
        ("linear", "super 1.2 64k rounding", "md-concat"),
        ("raid0", "super 1.2 512k chunks", "md-stripe"),
        ("raid1", "super 1.2 [4/4] [UUUU]", "md-mirror"),
        ("raid4", "super 1.2 level 4, 512k chunk, algorithm 0 [4/4] [UUUU]", "md-raid4"),
        ("raid10", "super 1.2 512K chunks 2 near-copies [4/4] [UUUU]", "md-raid10"),
        ("raid10", "super 1.2 512K chunks 3 near-copies [4/4] [UUUU]", "md-raid10-n3"),
        ("raid10", "super 1.2 512K chunks 2 far-copies [4/4] [UUUU]", "md-raid10-f2"),
        ("raid10", "super 1.2 512K chunks 2 offset-copies [4/4] [UUUU]", "md-raid10-o2"),
        ("raid5", "level 5, 64k chunk, algorithm 0 [4/4] [UUUU]", "md-raid5-left-asymmetric"),
        ("raid5", "level 5, 64k chunk, algorithm 2 [4/4] [UUUU]", "md-raid5"),
        ("raid5", "level 5, 64k chunk, algorithm 5 [4/4] [UUUU]", "md-raid5-parity-last"),
        ("raid6", "level 6, 64k chunk, algorithm 8 [4/4] [UUUU]", "md-raid6-ddf-zero-restart"),
        ("raid6", "level 6, 64k chunk, algorithm 20 [4/4] [UUUU]", "md-raid6-parity-first-6"),
    ] {
        let text = array(word, line);
        assert_eq!(planned(&text).0, level, "{text}");
        assert!(!text.contains("is not modelled"), "{text}");
    }
    for (word, line, what) in [
        ("raid10", "512K chunks 2 near-copies 2 far-copies [4/4] [UUUU]", "n2-f2"),
        ("raid5", "level 5, 64k chunk, algorithm 18 [4/4] [UUUU]", "left-symmetric-6"),
        ("raid6", "level 6, 64k chunk, algorithm 7 [4/4] [UUUU]", "algorithm 7"),
    ] {
        let text = array(word, line);
        let warned = format!("# Its layout is {what}, which is not modelled; that of md-{word} ");
        assert!(text.contains(&warned), "{text}");
    }
}

#[test]
fn nvme_and_lvm_are_read() {
    let nvme = r#"{"Devices":[{"DevicePath":"/dev/nvme0n1","ModelNumber":"Samsung SSD 990 PRO 2TB","PhysicalSize":2000398934016},
        {"DevicePath":"/dev/nvme1n1","ModelNumber":"Samsung SSD 990 PRO 2TB","PhysicalSize":2000398934016}]}"#;
    let lvs = "  LV   VG Attr       LSize  #Str Stripe Devices\n  data vg -wi-ao---- <3.64t    2 64.00k /dev/nvme0n1(0),/dev/nvme1n1(0)\n";
    let (level, chunk, drives) = planned(&experiment(&[nvme, lvs]).unwrap());
    assert_eq!((level.as_str(), chunk), ("lvm-stripe", 128));
    assert_eq!(drives, vec!["iocost-samsung-ssd-990-pro-2tb"; 2]);
    let table = "vg-data: 0 163840 striped 2 128 8:1 2048 8:17 2048\n";
    let disks = lsblk("Amazon Elastic Block Store", 107_374_182_400, 2);
    let text = experiment(&[&disks, table]).unwrap();
    assert!(text.contains("gp2, gp3, io1"), "{text}");
    assert_eq!(planned(&text).2, vec!["ebs-gp3[size=100GiB]"; 2]);
    for (table, level) in [
        (table, "lvm-stripe"),
        ("x: 0 163840 striped 2 128 8:1 0 8:17 0\n", "dm-stripe"),
        ("vg-data: 0 81920 linear 8:1 2048\nvg-data: 81920 81920 linear 8:17 2048\n", "dm-concat"),
    ] {
        let text = experiment(&[&disks, table]).unwrap();
        assert_eq!(planned(&text).0, level, "{text}");
    }
}

/// What `lvs -a` prints of a RAID with four images, beside another group's of the same name.
fn lvs_of_raid(segments: &str, stripe: &str) -> String {
    let image = |index: usize| format!("data_rimage_{index}(0)");
    let images: Vec<String> = (0..4).map(image).collect();
    let mut text = format!(
        "  LV              VG  Attr       LSize  Cpy%Sync Type   #Str Stripe Devices\n\
         \x20 data            vg0 rwi-a-r---  2.00g 100.00   {segments}  4 {stripe} {}\n",
        images.join(",")
    );
    for (index, disk) in ["sda", "sdb", "sdc", "sdd"].iter().enumerate() {
        for line in [
            format!("  [data_rimage_{index}] vg0 iwi-aor--- 1.00g linear 1 0 /dev/{disk}1(1)\n"),
            format!("  [data_rmeta_{index}]  vg0 ewi-aor--- 4.00m linear 1 0 /dev/{disk}1(0)\n"),
            format!("  [data_rimage_{index}] vg1 iwi-aor--- 1.00g linear 1 0 /dev/sdx1(1)\n"),
        ] {
            text += &line;
        }
    }
    text
}

/// The images are hidden volumes: they were asked for as if they were disks, and every level was a stripe.
#[test]
fn raid_of_lvm_is_read() {
    let disks = lsblk("ST18000NM000J-2TV103", 18_000_207_937_536, 5);
    for (segments, stripe, level, chunk) in [
        ("raid1", "0", "lvm-mirror", 0),
        ("raid5", "64.00k", "lvm-raid5", 128),
        ("raid10", "64.00k", "lvm-raid10", 128),
        ("raid0", "64.00k", "lvm-stripe", 128),
        ("raid4", "64.00k", "md-raid4", 128),
        ("raid5_n", "64.00k", "md-raid5-parity-last", 128),
        ("raid6", "64.00k", "md-raid6-ddf-zero-restart", 128),
        ("raid6_nr", "64.00k", "md-raid6-ddf-n-restart", 128),
        ("raid6_nc", "64.00k", "md-raid6-ddf-n-continue", 128),
    ] {
        let text = experiment(&[&disks, &lvs_of_raid(segments, stripe)]).unwrap();
        let (found, interleave, drives) = planned(&text);
        assert_eq!((found.as_str(), drives.len()), (level, 4), "{text}");
        assert!(chunk == 0 || interleave == chunk, "{text}");
        assert_eq!(text.contains("is not modelled; md's"), level.starts_with("md-"), "{text}");
    }
    let fails = |text: &str| experiment(&[&disks, text]).unwrap_err().to_string();
    let whole = lvs_of_raid("raid5", "64.00k");
    let open = fails(&whole.lines().take(2).collect::<Vec<_>>().join("\n"));
    assert!(
        open.contains("f1: data is RAID of LVM, and nothing says on which disk vg0/data_rimage_0")
    );
    assert!(open.ends_with("give what `lvs -a -o +segtype,stripes,stripe_size,devices` prints"));
    let untyped = fails(&whole.replace(" Type ", " ").replace("raid5", "").replace("linear", ""));
    assert!(untyped.contains("data is RAID of LVM, and its level is not said"), "{untyped}");
    let unknown = fails(&lvs_of_raid("raid7", "64.00k"));
    assert!(unknown.ends_with("raid7, which is not known here; leave its line out"), "{unknown}");
}

/// They stopped the import, which asked for what it had been given.
#[test]
fn the_nearest_level_stands_for_a_layout_of_lvm() {
    let disks = lsblk("ST18000NM000J-2TV103", 18_000_207_937_536, 5);
    for (segments, plain, level) in [
        ("raid6_ls_6", "raid6", "md-raid6-ddf-zero-restart"),
        ("raid6_n_6", "raid6", "md-raid6-ddf-zero-restart"),
        ("raid10_far", "raid10", "lvm-raid10"),
    ] {
        let text = experiment(&[&disks, &lvs_of_raid(segments, "64.00k")]).unwrap();
        let said = format!("# It is {segments}, which is not modelled; {plain} stands for it.\n");
        assert!(text.contains(&said), "{text}");
        assert_eq!(planned(&text).0, level, "{text}");
    }
}

/// Their parts became volumes, of which one had to be chosen.
#[test]
fn thin_pools_and_caches_of_lvm_are_left_out() {
    let disks = lsblk("ST18000NM000J-2TV103", 18_000_207_937_536, 2);
    let lvs = "  LV              VG Attr       LSize Pool Data% Type      #Str Stripe Devices\n\
         \x20 data            vg -wi-a----- 2.00g            striped   2 64.00k /dev/sda1(0),/dev/sdb1(0)\n\
         \x20 fast            vg Cwi-a-C--- 2.00g [x]  0.00  cache     1 0      fast_corig(0)\n\
         \x20 [fast_corig]    vg owi-aoC--- 2.00g            linear    1 0      /dev/sdb1(900)\n\
         \x20 [lvol0_pmspare] vg ewi------- 4.00m            linear    1 0      /dev/sda1(256)\n\
         \x20 old             vg mwi-a-m--- 2.00g            mirror    2 0      old_mimage_0(0)\n\
         \x20 pool            vg twi-aotz-- 1.00g      10.94 thin-pool 1 0      pool_tdata(0)\n\
         \x20 [pool_tdata]    vg Twi-ao---- 1.00g            linear    1 0      /dev/sda1(257)\n\
         \x20 [pool_tmeta]    vg ewi-ao---- 4.00m            linear    1 0      /dev/sdb1(256)\n\
         \x20 thin            vg Vwi-a-tz-- 1.00g pool 0.00  thin      0 0\n";
    let text = experiment(&[&disks, lvs]).unwrap();
    let (level, chunk, drives) = planned(&text);
    assert_eq!((level.as_str(), chunk, drives.len()), ("lvm-stripe", 128, 2), "{text}");
    for said in ["pool is a thin pool", "thin is a thin volume", "fast is a cache", "old is mirror"]
    {
        assert!(text.contains(&format!("# LVM's {said}, which is not read.\n")), "{text}");
    }
    let table = "vg-data: 0 163840 striped 2 128 8:1 2048 8:17 2048\n\
         vg-pool_tdata: 0 2097152 linear 8:1 10240\n\
         vg-pool_tmeta: 0 8192 linear 8:17 10240\n\
         vg-pool: 0 2097152 thin-pool 253:1 253:2 128 0 0\n";
    assert_eq!(planned(&experiment(&[&disks, table]).unwrap()).0, "lvm-stripe");
}

#[test]
fn raid_of_lvm_is_read_of_device_mapper() {
    let disks = lsblk("ST18000NM000J-2TV103", 18_000_207_937_536, 3);
    let raid = "vg0-data: 0 4194304 raid raid5_ls 3 128 region_size 4096 3 253:0 253:1 253:2 253:3 253:4 253:5\n";
    let images = |index: u32| {
        let number = 16 * index + 1;
        format!(
            "vg0-data_rimage_{index}: 0 2097152 linear 8:{number} 10240\n\
             vg0-data_rmeta_{index}: 0 8192 linear 8:{number} 2048\n"
        )
    };
    let table = format!("{raid}{}", (0..3).map(images).collect::<String>());
    let (level, chunk, drives) = planned(&experiment(&[&disks, &table]).unwrap());
    assert_eq!((level.as_str(), chunk, drives.len()), ("lvm-raid5", 128, 3));
    for (text, said) in [
        (raid, "nothing says on which disk vg0-data_rimage_0 is; give all"),
        (&raid[..30], "its line is cut off"),
        (&raid.replace(" 3 253", " 99999999 253"), "its line is cut off"),
    ] {
        let error = experiment(&[&disks, text]).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn kernel_messages_are_read() {
    let linux =
        "[    1.5] scsi 0:0:0:0: Direct-Access     ATA      WDC WD740GD-00FL 33.0 PQ: 0 ANSI: 5
[    1.6] sd 0:0:0:0: [sda] 145226112 512-byte logical blocks: (74.4 GB/69.2 GiB)\n";
    assert_eq!(planned(&experiment(&[linux]).unwrap()).2, ["wd740gd"]);
    let netbsd = "sd0 at scsibus0 target 0 lun 0: <SEAGATE, ST118273LC, 6244> disk fixed
sd0: 17366 MB, 7501 cyl, 20 head, 237 sec, 512 bytes/sect x 35566480 sectors
sd1 at scsibus1 target 0 lun 0: <SEAGATE, SX118273LC, 6679> disk fixed\n";
    assert_eq!(planned(&experiment(&[netbsd]).unwrap()).2, vec!["st118273lc"; 2]);
    let freebsd = "da0: <SEAGATE ST32171W 0484> Fixed Direct Access SCSI-2 device
da0: 2006MB (4110000 512 byte sectors)\n";
    assert_eq!(planned(&experiment(&[freebsd]).unwrap()).2, ["st32171w"]);
}

#[test]
fn pools_say_what_is_not_modelled() {
    let pool = "  pool: tank\n state: ONLINE\nconfig:\n\n\tNAME        STATE     READ WRITE CKSUM\n\ttank        ONLINE\n\
                \t  raidz2-0  ONLINE\n\t    sda     ONLINE\n\t    sdb     ONLINE\n\t    sdc     ONLINE\n\t    sdd     ONLINE\n\
                \tlogs\n\t  sde  ONLINE\n\nerrors: No known data errors\n";
    let text = experiment(&[&lsblk("ST18000NM000J", 18_000_207_937_536, 5), pool]).unwrap();
    assert!(text.contains("raidz stripes are as long as a block"), "{text}");
    let (level, _, drives) = planned(&text);
    assert_eq!((level.as_str(), drives.len()), ("raid6", 4));
}

/// Two raidz2 of six and a dRAID of 24 were one wide RAID 6 each.
#[test]
fn vdevs_side_by_side_are_arrays_side_by_side() {
    let pool = |vdevs: &[(&str, usize)]| {
        let mut lines = String::new();
        let mut disks = 0_u8;
        for (name, count) in vdevs {
            writeln!(lines, "\t  {name}  ONLINE").unwrap();
            for _ in 0..*count {
                writeln!(lines, "\t    sd{}  ONLINE", char::from(b'a' + disks)).unwrap();
                disks += 1;
            }
        }
        let text = format!("  pool: tank\nconfig:\n\n\ttank  ONLINE\n{lines}\nerrors: No\n");
        let disks = lsblk("ST18000NM000J", 18_000_207_937_536, disks.into());
        let text = experiment(&[&disks, &text]).unwrap();
        let (level, _, drives) = planned(&text);
        let note = text.lines().find(|line| line.contains("the nearest")).unwrap().to_string();
        (level, drives.len(), note)
    };
    let found = |vdevs: &[(&str, usize)], level: &str, drives: usize, note: &str| {
        let (is, count, said) = pool(vdevs);
        assert_eq!((is.as_str(), count), (level, drives), "{vdevs:?}");
        assert!(said.contains(note), "{said}");
    };
    found(&[("raidz2-0", 6), ("raidz2-1", 6)], "md-raid60-2", 12, "; RAID 60 of 2 arrays is");
    found(&[("raidz1-0", 4), ("raidz1-1", 4), ("raidz1-2", 4)], "md-raid50-3", 12, "RAID 50 of 3");
    found(&[("raidz3-0", 6), ("raidz3-1", 6)], "md-raid60-2", 12, "a third parity");
    found(&[("raidz2-0", 6), ("raidz2-1", 5)], "raid6", 11, "there are 2 groups of them");
    found(&[("mirror-0", 2), ("mirror-1", 2)], "raid10", 4, "RAID 10 is the nearest");
    found(&[("draid2:8d:24c:2s-0", 24)], "md-raid60-2", 22, "dRAID spreads its groups");
    found(&[("draid1:4d:10c:0s-0", 10)], "md-raid50-2", 10, "RAID 50 of 2 arrays");
    found(&[("draid2:4d:7c:1s-0", 7)], "raid6", 6, "; RAID 6 is the nearest");
    // Odd numbers are no panic.
    for odd in ["draid0:0d-0", "draid1:18446744073709551615d:8c:0s-0"] {
        pool(&[(odd, 8)]);
    }
}

/// Room on the disks of a dRAID was taken for a vdev.
#[test]
fn room_of_a_draid_is_no_disk() {
    let pool = "  pool: tank\nconfig:\n\n\ttank  DEGRADED\n\t  draid2:4d:7c:1s-0  DEGRADED\n\t    sda  ONLINE\n\
                \t    spare-1  DEGRADED\n\t      sdb  UNAVAIL\n\t      draid2-0-0  ONLINE\n\t    sdc  ONLINE\n\
                \t    sdd  ONLINE\n\t    sde  ONLINE\n\t    sdf  ONLINE\n\t    sdg  ONLINE\n\
                \tspares\n\t  draid2-0-0  INUSE\n\nerrors: No\n";
    let text = experiment(&[&lsblk("ST18000NM000J", 18_000_207_937_536, 7), pool]).unwrap();
    assert_eq!(planned(&text).2.len(), 6);
    assert!(text.contains("failed = \"1\"") && !text.contains("draid2-0-0"), "{text}");
    assert!(text.contains("# Left out: as many members as dRAID keeps free"), "{text}");
}

#[test]
fn what_is_not_known_is_said() {
    let fails = |files: &[&str]| experiment(files).unwrap_err().to_string();
    assert!(fails(&["nothing\n"]).contains("no disk and no volume"));
    assert!(fails(&[MDSTAT]).contains("nothing is known of its member sda1"));
    assert!(fails(&["{"]).contains("no JSON"));
    let unknown = experiment(&[&lsblk("XYZZY 9000", 1 << 40, 1)]).unwrap();
    assert!(unknown.contains("XYZZY 9000 (sda) is not in the catalogue"), "{unknown}");
}

/// The system's disk, eight others and one of another kind were one stripe, which was said to run and did not.
#[test]
fn disks_of_several_kinds_are_no_volume() {
    let disk = |name: &str, model: &str, bytes: u64, more: &str| {
        format!(r#"{{"name":"{name}","type":"disk","model":"{model}","size":{bytes}{more}}}"#)
    };
    let system =
        r#","children":[{"name":"nvme0n1p1","type":"part","fstype":"ext4","mountpoints":["/"]}]"#;
    let mut disks = vec![disk("nvme0n1", "Nobody's NVMe", 500_107_862_016, system)];
    for name in ["sda", "sdb", "sdc"] {
        let holds = if name == "sdb" { r#","fstype":"xfs","mountpoint":"/data""# } else { "" };
        disks.push(disk(name, "ST18000NM000J", 18_000_207_937_536, holds));
    }
    disks.push(disk("sdd", "Samsung SSD 870 EVO 1TB", 1_000_204_886_016, ""));
    let lsblk = |disks: &[String]| format!("{{\"blockdevices\":[{}]}}", disks.join(","));
    let text = experiment(&[&lsblk(&disks)]).unwrap();
    assert_eq!(planned(&text).2, vec!["st18000nm000j"; 3]);
    for part in [
        "`ileave run FILE` runs it.",
        "the most numerous kind of disk, as one stripe",
        "# nvme0n1 holds / of the running system.",
        "# Left out: Samsung SSD 870 EVO 1TB: sdd.",
        "# In use: sdb: xfs on /data; what",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // Alone it is still worth a look, and lacks its file.
    let text = experiment(&[&lsblk(&disks[..1])]).unwrap();
    assert!(text.starts_with("# What was found. First make nvme0n1.toml, or"), "{text}");
    assert!(text.contains("level = \"single\""), "{text}");
}

/// A disk of virtio and one of persistent memory, both without a model, were two of one kind; Google's disks were told to be one of
/// Amazon's kinds, and those of Azure were not known.
#[test]
fn what_clouds_call_their_disks_is_read() {
    let disk = |name: &str, vendor: &str, model: &str, bytes: u64| {
        format!(
            r#"{{"name":"{name}","type":"disk","vendor":"{vendor}  ","model":"{model}","size":{bytes}}}"#
        )
    };
    let of = |disks: &[String]| {
        experiment(&[&format!("{{\"blockdevices\":[{}]}}", disks.join(","))]).unwrap()
    };
    let none = of(&["vda", "vdb", "pmem0"].map(|name| disk(name, "", "", 100 << 30)));
    assert!(none.contains("# Left out: a disk without a model: pmem0."), "{none}");
    assert!(none.contains(r#"{ model = "vda.toml", count = 2 }"#), "{none}");
    let google = of(&["sdb", "sdc"].map(|name| disk(name, "Google", "PersistentDisk", 500 << 30)));
    assert!(google.contains("write pd-standard, pd-balanced, pd-ssd, hyperdisk-"), "{google}");
    assert!(!google.contains("gp2"), "{google}");
    assert_eq!(planned(&google).2, ["gcp-pd-balanced[size=500GiB]"; 2]);
    let local = [0, 1, 2, 3]
        .map(|at| disk(&format!("nvme{at}n1"), "", &format!("nvme_card{at}"), 375 << 30));
    assert_eq!(planned(&of(&local)).2, ["gcp-local-ssd"; 4]);
    let azure = of(&["sdb", "sdc"].map(|name| disk(name, "Msft", "Virtual Disk", 1 << 40)));
    assert_eq!(planned(&azure).2, ["azure-p30"; 2]);
    let messages = "scsi 0:0:0:0: Direct-Access     Msft     Virtual Disk     1.0  PQ: 0 ANSI: 5\n\
                    sd 0:0:0:0: [sdb] 2147483648 512-byte logical blocks: (1.10 TB/1.00 TiB)\n";
    assert_eq!(planned(&experiment(&[messages]).unwrap()).2, ["azure-p30"]);
}

/// Disks of one model need one file.
#[test]
fn what_does_not_run_is_not_said_to() {
    let text = experiment(&[&lsblk("XYZZY 9000", 1 << 40, 3)]).unwrap();
    assert!(text.contains(r#"drives = [{ model = "sda.toml", count = 3 }]"#), "{text}");
    assert!(text.starts_with("# What was found. First make sda.toml, or"), "{text}");
    let odd = "Personalities : [raid5]\nmd0 : active raid5 sda1[0]\n      1 blocks super 1.2 level 5, 512k chunk\n";
    let text = experiment(&[&lsblk("ST18000NM000J", 18_000_207_937_536, 2), odd]).unwrap();
    assert!(text.contains("refuses it as it is: "), "{text}");
}

/// A failed member was counted as a good one, and the experiment was of a whole array.
#[test]
fn failed_members_are_said_to_be() {
    let disks = lsblk("ST18000NM000J", 18_000_207_937_536, 7);
    let failed = |members: &str, places: &str| {
        let mdstat = format!(
            "Personalities : [raid6]\nmd0 : active raid6 {members}\n      70313787392 blocks super 1.2 level 6, 512k chunk, \
             algorithm 2 {places}\n      [=>...........]  recovery =  7.9% (1/2) finish=9.9min speed=1K/sec\n"
        );
        let text = experiment(&[&disks, &mdstat]).unwrap();
        assert!(text.contains("`ileave run FILE` runs it."), "{text}");
        let plan = Plan::new(&Experiment::parse("x.toml", &text).unwrap()).unwrap();
        let volume = &plan.trials[0].setup.volume;
        (volume.members.len(), volume.failed.clone(), text)
    };
    let whole = "sdf1[6] sdd1[4] sdc1[2] sdb1[1] sda1[0]";
    let (count, places, text) = failed(&format!("{whole} sde1[3](F)"), "[6/5] [UUU_UU]");
    assert_eq!((count, places), (6, vec![3]));
    assert!(text.contains("# Member 3, sde1, has failed."), "{text}");
    let (count, places, text) = failed(&format!("sdg1[7] {whole} sde1[3](F)"), "[6/5] [UUU_UU]");
    assert_eq!((count, places), (6, vec![3]));
    assert!(text.contains("# Member 3, sdg1, is being restored, and counts as failed."), "{text}");
    let (count, places, text) = failed(whole, "[7/5] [UUU_U_U]");
    assert_eq!((count, places), (7, vec![3, 5]));
    assert!(text.contains("# Member 5 is not there; a drive"), "{text}");
    // A drive that an array has given up is no free one, whichever file says so first.
    let mdstat = format!("md0 : active raid6 {whole} sde1[3](F)\n      1 blocks [6/5] [UUU_UU]\n");
    let files = [disks.clone(), mdstat].map(|text| (String::from("f"), text));
    for files in [files.clone(), [files[1].clone(), files[0].clone()]] {
        let inventory = Inventory::read(&files).unwrap();
        let [(disk, why)] = &inventory.left_out()[..] else { panic!("one has failed") };
        assert_eq!((disk.device.as_str(), why.as_str()), ("sde", "sde has failed in md0"));
        assert_eq!(inventory.free().len(), 6);
    }
}

/// That an array was busy with itself was not said, and what it makes then is less.
#[test]
fn what_an_array_does_beside_its_work_is_said() {
    let disks = lsblk("ST18000NM000J", 18_000_207_937_536, 7);
    let of = |members: &str, places: &str, line: &str| {
        let mdstat = format!(
            "Personalities : [raid6]\nmd0 : active raid6 {members}\n      70313787392 blocks super 1.2 level 6, 512k chunk, \
             algorithm 2 {places}\n      {line}\n      bitmap: 0/131 pages [0KB], 65536KB chunk\n"
        );
        let text = experiment(&[&disks, &mdstat]).unwrap();
        assert!(text.contains("`ileave run FILE` runs it."), "{text}");
        let plan = Plan::new(&Experiment::parse("x.toml", &text).unwrap()).unwrap();
        (plan.trials[0].setup.volume.rebuild_bytes_per_s, text)
    };
    let whole = "sdf1[6] sdd1[4] sdc1[2] sdb1[1] sda1[0]";
    let progress = "7.9% (1/2) finish=9.9min speed=200000K/sec";
    let (rate, text) = of(
        &format!("sdg1[7] {whole}"),
        "[6/5] [UUU_UU]",
        &format!("[=>..]  recovery =  {progress}"),
    );
    assert_eq!(rate, Some(204_800_000), "{text}");
    assert!(
        text.contains(
            "# It is being rebuilt: 7.9 % is done, 9.9min are left, at 204.8MB/s; `volume.rebuild`"
        ),
        "{text}"
    );
    for (line, said) in [
        (format!("[=>..]  resync =  {progress}"), "is being made consistent (resync): 7.9 % is"),
        (format!("[=>..]  reshape =  {progress}"), "reshaped, and lies partly in its old layout"),
        (format!("[=>..]  check =  {progress}"), "is being checked: 7.9 % is done"),
        ("\tresync=DELAYED".into(), "(resync): md says DELAYED, so it waits; that is not modelled"),
        ("\tresync=PENDING".into(), "(resync): md says PENDING"),
    ] {
        let (rate, text) = of(&format!("sde1[3] {whole}"), "[6/6] [UUUUUU]", &line);
        assert!(rate.is_none() && text.contains(said), "{text}");
    }
}

/// lsblk shows spares and failed members as members: where mdstat is there, it says which are.
#[test]
fn mdstat_counts_members_before_lsblk() {
    let disk = |name: &str| {
        format!(
            r#"{{"name":"sd{name}","type":"disk","model":"ST18000NM000J","size":18000207937536,"children":[
                {{"name":"md0","type":"raid5"}}]}}"#
        )
    };
    let disks: Vec<String> = ["a", "b", "c", "d"].map(disk).into();
    let lsblk = format!("{{\"blockdevices\":[{}]}}", disks.join(","));
    let mdstat = "md0 : active raid5 sdc[3] sdb[1] sda[0] sdd[4](S)\n      1 blocks level 5, 512k chunk [3/3] [UUU]\n";
    for files in [[lsblk.as_str(), mdstat], [mdstat, lsblk.as_str()]] {
        assert_eq!(planned(&experiment(&files).unwrap()).2.len(), 3);
    }
    let journal = experiment(&[&lsblk, &mdstat.replace("(S)", "(J)")]).unwrap();
    assert_eq!(planned(&journal).2.len(), 3);
    assert!(
        journal.contains(
            "# Left out: its journal sdd, which is not modelled; it closes the write hole"
        ),
        "{journal}"
    );
}

/// A pool as `zpool status` prints it: the lines of its table without those of the pool.
fn zpool(lines: &str) -> String {
    let lines: Vec<String> = lines.lines().map(|line| format!("\t{line}\n")).collect();
    format!(
        "  pool: tank\n state: DEGRADED\n  scan: scrub repaired 0B\nconfig:\n\n\tNAME  STATE  READ WRITE CKSUM\n\ttank  DEGRADED\n{}\n\
         errors: No known data errors\n",
        lines.concat()
    )
}

/// How many members an experiment has, those that count as failed, and its text.
fn failed(text: &str) -> (usize, Vec<u32>, &str) {
    assert!(text.contains("`ileave run FILE` runs it."), "{text}");
    let plan = Plan::new(&Experiment::parse("x.toml", text).unwrap()).unwrap();
    let volume = &plan.trials[0].setup.volume;
    (volume.members.len(), volume.failed.clone(), text)
}

/// A pool without one of its members was a whole one, and what stands beside its data was not said.
#[test]
fn what_a_pool_misses_has_failed() {
    let disks = lsblk("ST18000NM000J", 18_000_207_937_536, 8);
    for state in ["REMOVED", "UNAVAIL", "FAULTED", "OFFLINE"] {
        let pool = zpool(&format!(
            "  raidz2-0  DEGRADED\n    sda  ONLINE\n    sdb  ONLINE\n    sdx  {state}\n    sdd  DEGRADED\n    sde  ONLINE\n\
             logs\n  mirror-1  ONLINE\n    nvme0n1p4  ONLINE\n    nvme1n1p4  ONLINE\ncache\n  sdf  ONLINE\n\
             special\n  mirror-2  ONLINE\n    sdg  ONLINE\n    sdh  ONLINE\nspares\n  sdg  AVAIL\n"
        ));
        let text = experiment(&[&disks, &pool]).unwrap();
        assert_eq!(failed(&text).0, 5);
        assert_eq!(failed(&text).1, [2]);
        for said in [
            format!("# Member 2, sdx, is {state}, and counts as failed.\n"),
            "# Nothing is known of sdx; a drive like the first stands for it.\n".into(),
            "# Left out: its log nvme0n1p4, nvme1n1p4, where synchronous writes go first.\n".into(),
            "# Left out: its read cache sdf.\n".into(),
            "# Left out: its special vdev sdg, sdh, where metadata and small blocks go.\n".into(),
            "# Left out: its spare sdg.\n".into(),
        ] {
            assert!(text.contains(&said), "{said}: {text}");
        }
        assert!(!text.contains("chunk"), "{text}");
    }
}

/// A volume of LVM on an array was one bare disk: the first below the array, or even its spare.
#[test]
fn what_lies_on_an_array_is_that_array() {
    let lsblk = r#"{"blockdevices":[
        {"name":"sda","type":"disk","size":18000207937536,"model":"ST18000NM000J","maj:min":"8:0","children":[{"name":"md7","type":"raid6","maj:min":"9:7"}]},
        {"name":"sdb","type":"disk","size":18000207937536,"model":"ST18000NM000J","maj:min":"8:16","children":[{"name":"md7","type":"raid6","maj:min":"9:7"}]},
        {"name":"sdc","type":"disk","size":18000207937536,"model":"ST18000NM000J","maj:min":"8:32","children":[{"name":"md7","type":"raid6","maj:min":"9:7"}]},
        {"name":"sdd","type":"disk","size":18000207937536,"model":"ST18000NM000J","maj:min":"8:48","children":[{"name":"md7","type":"raid6","maj:min":"9:7"}]}]}"#;
    let mdstat = "Personalities : [raid6]\nmd7 : active raid6 sdd[3] sdc[2] sdb[1] sda[0]\n      \
                  35156249600 blocks super 1.2 level 6, 128k chunk, algorithm 2 [4/4] [UUUU]\n";
    let lvs = "  LV   VG  Attr       LSize  Type   #Str Stripe Devices\n  data vg0 -wi-ao---- 30.00t linear 1 0 /dev/md7(0)\n";
    let table = "vg0-data: 0 35156249600 linear 9:7 2048\n";
    for (above, unit) in [(lvs, "data"), (table, "vg0-data")] {
        let files = [lsblk, mdstat, above].map(|text| ("x".to_string(), text.to_string()));
        let text = Inventory::read(&files).unwrap().experiment(Some(unit)).unwrap();
        for said in [
            "count = 4",
            "level = \"md-raid6\"",
            "interleave = \"128KiB\"",
            "lies on md7, which this is",
        ] {
            assert!(text.contains(said), "{said}: {text}");
        }
    }
    let two = lvs.replace("/dev/md7(0)", "/dev/md7(0),/dev/sde(0)");
    let files = [lsblk, mdstat, &two].map(|text| ("x".to_string(), text.to_string()));
    let inventory = Inventory::read(&files).unwrap();
    assert!(inventory.experiment(Some("data")).is_err());
    let text = inventory.experiment(None).unwrap();
    assert!(text.contains("data lies on md7, sde, not all disks, and is not read"), "{text}");
}

/// LVM on a partition of an array, or on LUKS over that, had members of which nothing was known.
#[test]
fn what_lies_on_a_part_of_an_array_is_that_array() {
    let disk = |name: &str, minor: u32| {
        format!(
            r#"{{"name":"{name}","type":"disk","size":18000207937536,"model":"ST18000NM000J","maj:min":"8:{minor}","children":[
            {{"name":"md7","type":"raid1","maj:min":"9:7","children":[{{"name":"md7p1","type":"part","maj:min":"259:0","children":[
            {{"name":"luks-1","type":"crypt","maj:min":"254:0","children":[{{"name":"vg0-data","type":"lvm","maj:min":"254:1"}}]}}]}}]}}]}}"#
        )
    };
    let lsblk = format!(r#"{{"blockdevices":[{},{}]}}"#, disk("sda", 0), disk("sdb", 16));
    let lvs = |below: &str| {
        format!(
            "  LV   VG  Attr       LSize  Type   #Str Stripe Devices\n  data vg0 -wi-ao---- 15.00t linear 1 0 /dev/{below}(0)\n"
        )
    };
    let table = "vg0-data: 0 35156249600 linear 254:0 2048\n".to_string();
    for (above, unit) in
        [(lvs("md7p1"), "data"), (lvs("mapper/luks-1"), "data"), (table, "vg0-data")]
    {
        let files = [lsblk.clone(), above].map(|text| ("x".to_string(), text));
        let text = Inventory::read(&files).unwrap().experiment(Some(unit)).unwrap();
        for said in ["count = 2", "level = \"md-mirror\"", "lies on md7, which this is"] {
            assert!(text.contains(said), "{said}: {text}");
        }
    }
}

/// Both were left out, and the error named none of the volumes that there were.
#[test]
fn a_volume_with_the_name_of_its_disk_is_read_and_a_circle_of_volumes_named() {
    let lsblk = r#"{"blockdevices":[{"name":"sde","type":"disk","size":18000207937536,"model":"ST18000NM000J"}]}"#;
    let lvs = |rows: &[(&str, &str)]| {
        let rows = rows.iter().map(|(name, below)| {
            format!("  {name} vg0 -wi-ao---- 15.00t linear 1 0 /dev/{below}(0)\n")
        });
        let head = "  LV   VG  Attr       LSize  Type   #Str Stripe Devices\n".to_string();
        std::iter::once(head).chain(rows).collect::<String>()
    };
    let of = |rows: &[(&str, &str)], unit: &str| {
        let files = [lsblk.to_string(), lvs(rows)].map(|text| ("x".to_string(), text));
        let inventory = Inventory::read(&files).unwrap();
        inventory.experiment(Some(unit)).map_err(|error| error.to_string())
    };
    let own = of(&[("sde", "sde")], "sde").unwrap();
    assert!(own.contains("st18000nm000j"), "{own}");
    let above = of(&[("sde", "b"), ("b", "sde")], "sde").unwrap();
    assert!(above.contains("sde lies on b, which this is"), "{above}");
    let circle = of(&[("a", "b"), ("b", "a")], "a").unwrap_err();
    assert!(circle.starts_with("--unit a: no volume is read: a lies on "), "{circle}");
    assert!(circle.ends_with("; give what `lsblk -J -O` prints, too"), "{circle}");
}

/// A member and what takes its place were two: three disks and two made a RAID 10 of five.
#[test]
fn a_replacement_is_no_further_member() {
    let disks = lsblk("ST18000NM000J", 18_000_207_937_536, 8);
    let pool = |pair: &str| {
        let pool = zpool(&format!(
            "  mirror-0  ONLINE\n    sda  ONLINE\n{pair}  mirror-1  ONLINE\n    sdc  ONLINE\n    sdd  ONLINE\n"
        ));
        let text = experiment(&[&disks, &pool]).unwrap();
        let (count, places, _) = failed(&text);
        assert_eq!((count, planned(&text).0.as_str()), (4, "raid10"), "{text}");
        (places, text)
    };
    let (places, text) = pool(
        "    replacing-1  DEGRADED\n      sdb  OFFLINE\n      sdg  ONLINE  0 0 0  (resilvering)\n",
    );
    assert_eq!(places, [1]);
    assert!(text.contains("# Member 1, sdg, is being restored, and counts as failed."), "{text}");
    // The old one is still whole.
    let whole =
        "    replacing-1  ONLINE\n      sdb  ONLINE\n      sdg  ONLINE  0 0 0  (resilvering)\n";
    assert_eq!(pool(whole).0, [0_u32; 0]);
    // A spare that has all of it, one that does not yet, and one that has failed, too.
    let spare = "    spare-1  DEGRADED\n      12345678901  UNAVAIL  0 0 0  was /dev/sdb1\n      sdg  ONLINE\n";
    assert_eq!(pool(spare).0, [0_u32; 0]);
    assert_eq!(pool(&spare.replace("sdg  ONLINE", "sdg  ONLINE  0 0 0  (resilvering)")).0, [1]);
    let (places, text) = pool(&spare.replace("sdg  ONLINE", "sdg  REMOVED"));
    assert_eq!(places, [1]);
    assert!(text.contains("# Member 1, /dev/sdb1, is UNAVAIL"), "{text}");
    // A replacement of what a spare stands for, and that spare, which stands among the spares, too: one member.
    let nested = "    spare-1  DEGRADED\n      replacing-0  DEGRADED\n        sdb  FAULTED\n        sdh  ONLINE  0 0 0  \
                  (resilvering)\n      sdg  ONLINE\n";
    assert_eq!(pool(nested).0, [0_u32; 0]);
    let spares = "spares\n  sdg  INUSE  currently in use\n  sdh  AVAIL\n";
    let listed = zpool(&format!("  mirror-0  ONLINE\n    sda  ONLINE\n{spare}{spares}"));
    let text = experiment(&[&disks, &listed]).unwrap();
    assert!(text.contains("its spare sdh") && !text.contains("its spare sdg"), "{text}");
    // Three disks in each mirror are three copies.
    let three = zpool(
        "  mirror-0  ONLINE\n    sda  ONLINE\n    sdb  ONLINE\n    sdc  ONLINE\n  mirror-1  ONLINE\n    sdd  ONLINE\n    sde  ONLINE\n    sdf  ONLINE\n",
    );
    assert_eq!(planned(&experiment(&[&disks, &three]).unwrap()).0, "md-raid10-n3");
    // Mirrors of two and of three are refused in whole words.
    let odd = three.lines().filter(|line| !line.contains("sdc")).collect::<Vec<_>>().join("\n");
    let text = experiment(&[&disks, &odd]).unwrap();
    assert!(
        text.contains("refuses it as it is: ") && !text.lines().next().unwrap().contains("  "),
        "{text}"
    );
}

/// Names of `/dev/disk/by-id` were never found, though lsblk has all that they are made of.
#[test]
fn members_are_found_by_id() {
    let disk = |index: usize| {
        format!(
            r#"{{"name":"sd{0}","type":"disk","model":"ST18000NM000J-2TV103","serial":"ZR50AAA{index}","size":18000207937536,
                "children":[{{"name":"sd{0}1","type":"part","partuuid":"0fc63daf-{index}"}}]}}"#,
            char::from(b'a' + index as u8)
        )
    };
    let disks: Vec<String> = (0..3).map(disk).collect();
    let disks = format!("{{\"blockdevices\":[{}]}}", disks.join(","));
    for member in ["ata-ST18000NM000J-2TV103_ZR50AAA", "0fc63daf-"] {
        let part = if member.starts_with("ata") { "-part1" } else { "" };
        let lines: Vec<String> =
            (0..3).map(|n| format!("    {member}{n}{part}  ONLINE\n")).collect();
        let text =
            experiment(&[&disks, &zpool(&format!("  raidz1-0  ONLINE\n{}", lines.concat()))])
                .unwrap();
        assert_eq!(planned(&text).2, vec!["st18000nm000j"; 3], "{text}");
    }
}

const DETAIL: &str = "/dev/md127:
           Version : 1.2
        Raid Level : raid5
        Array Size : 31251490816 (29.10 TiB 32.00 TB)
      Raid Devices : 3
     Total Devices : 4

     Intent Bitmap : Internal

             State : clean, degraded, recovering
            Layout : left-symmetric
        Chunk Size : 512K

Consistency Policy : bitmap

    Number   Major   Minor   RaidDevice State
       0       8        0        0      active sync   /dev/sda
       1       8       16        1      active sync   /dev/sdb
       4       8       64        2      spare rebuilding   /dev/sde

       3       8       32        -      faulty   /dev/sdc
";

/// Its output was asked for, and "no disk and no volume is in it" was said.
#[test]
fn details_of_mdadm_are_read() {
    let disks = lsblk("ST18000NM000J", 18_000_207_937_536, 5);
    let text = experiment(&[&disks, DETAIL]).unwrap();
    assert_eq!((failed(&text).0, failed(&text).1), (3, vec![2]));
    assert_eq!(planned(&text).1, 1024);
    assert!(
        text.contains("bitmap = \"internal\"") && text.contains("level = \"md-raid5\""),
        "{text}"
    );
    assert!(text.contains("# Member 2, sde, is being restored, and counts as failed."), "{text}");
    let gone = DETAIL.replace(
        "4       8       64        2      spare rebuilding   /dev/sde",
        "-       0        0        2      removed",
    );
    let text = experiment(&[&disks, &gone]).unwrap();
    assert!(
        text.contains("# Member 2 is not there; a drive like the first stands for it."),
        "{text}"
    );
    for (level, layout, found) in [
        ("raid6", "left-symmetric", "md-raid6"),
        ("raid5", "right-asymmetric", "md-raid5-right-asymmetric"),
        ("raid10", "far=2", "md-raid10-f2"),
        ("raid10", "near=2", "md-raid10"),
        ("raid1", "", "md-mirror"),
    ] {
        let text = DETAIL.replace("Level : raid5", &format!("Level : {level}"));
        let text = text.replace("Layout : left-symmetric", &format!("Layout : {layout}"));
        let text = text
            .replace("            Layout : \n", "")
            .replace("Intent Bitmap : Internal", "Intent Bitmap : /x");
        let text = experiment(&[&disks, &text]).unwrap();
        assert!(text.contains(&format!("level = \"{found}\"")), "{text}");
        assert!(
            text.contains("# Its bitmap is in a file") && !text.contains("Its layout is"),
            "{text}"
        );
    }
}

/// A disk behind USB joined the others, and a disk without its write cache or NCQ was as good as one with them.
#[test]
fn how_disks_are_connected_is_said() {
    let usb = lsblk("ST18000NM000J", 18_000_207_937_536, 2).replacen(
        "\"type\":\"disk\"",
        "\"type\":\"disk\",\"tran\":\"usb\"",
        1,
    );
    let text = experiment(&[&usb]).unwrap();
    assert!(
        text.contains("# sda is on USB: its bridge is not modelled")
            && !text.contains("sdb is on USB"),
        "{text}"
    );
    let linux = "[    1.5] ata1: SATA link up 6.0 Gbps (SStatus 133 SControl 300)
[    1.5] ata1.00: ATA-11: ST18000NM000J-2TV103, SN02, max UDMA/133
[    1.5] ata1.00: 35156656128 sectors, multi 16: LBA48 NCQ (depth 32), AA
[    1.5] ata2: SATA link up 3.0 Gbps (SStatus 123 SControl 300)
[    1.5] ata2.00: ATA-11: ST18000NM000J-2TV103, SN02, max UDMA/133
[    1.5] ata2.00: 35156656128 sectors, multi 16: LBA48 NCQ (not used)
[    1.5] ata3: SATA link up 1.5 Gbps (SStatus 113 SControl 300)
[    1.5] ata3.00: ATAPI: HL-DT-ST DVDRAM GUD1N, PF01, max UDMA/133
[    1.6] scsi 0:0:0:0: Direct-Access     ATA      ST18000NM000J-2T SN02 PQ: 0 ANSI: 5
[    1.6] sd 0:0:0:0: [sda] 35156656128 512-byte logical blocks: (18.0 TB/16.4 TiB)
[    1.6] sd 0:0:0:0: [sda] Write cache: enabled, read cache: enabled, doesn't support DPO or FUA
[    1.6] scsi 1:0:0:0: Direct-Access     ATA      ST18000NM000J-2T SN02 PQ: 0 ANSI: 5
[    1.6] sd 1:0:0:0: [sdb] 35156656128 512-byte logical blocks: (18.0 TB/16.4 TiB)
[    1.6] sd 1:0:0:0: [sdb] Write cache: disabled, read cache: enabled, doesn't support DPO or FUA\n";
    let text = experiment(&[linux]).unwrap();
    let said: Vec<&str> =
        text.lines().filter(|line| line.contains("sdb") || line.contains("ata")).collect();
    assert_eq!(
        said,
        [
            "# sdb has a link of 3.0 Gbit/s, 300 MB/s at most, which is not modelled.",
            "# sdb takes one command at a time (NCQ is not used); `drive.queue_depth = 1` models that, for all drives.",
            "# The write cache of sdb is off; `drive.write_cache = false` models that, for all drives.",
        ]
    );
    // Where the disk behind a port is not known, the port is named.
    let text =
        experiment(&[&linux.replace("scsi 1:", "scsi 7:").replace("sd 1:", "sd 7:")]).unwrap();
    assert!(text.contains("# ata2 has a link of 3.0 Gbit/s"), "{text}");
    assert!(
        text.contains(
            "# ata2 takes one command at a time (NCQ is not used); `drive.queue_depth = 1`"
        ),
        "{text}"
    );
}

/// `opt-io` and `zoned` of `lsblk -O`, and the read-ahead of the array that follows, went unread.
#[test]
fn odd_best_sizes_and_zones_are_said() {
    let disk = |name: &str, more: &str| {
        format!(
            r#"{{"name":"{name}","type":"disk","model":"ST18000NM000J","size":18000207937536,{more}}}"#
        )
    };
    let md = |ra: &str| format!(r#""children":[{{"name":"md0","type":"raid5","ra":{ra}}}]"#);
    let of = |more: &[String]| {
        let names = ["sda", "sdb", "sdc", "sdd"];
        let all: Vec<String> =
            names.iter().zip(more).map(|(name, more)| disk(name, more)).collect();
        experiment(&[&format!("{{\"blockdevices\":[{}]}}", all.join(","))]).unwrap()
    };
    let odd = format!(r#""opt-io":16776704,"zoned":"none",{}"#, md("4194176"));
    let text = of(&[odd.clone(), odd.clone(), odd]);
    assert!(
        text.contains("# The best size of a request (opt-io) of sda, sdb, sdc is said to be 16776704 bytes (32767 sectors), which"),
        "{text}"
    );
    assert_eq!(text.matches("# md0 reads ahead 4096 MiB, more").count(), 1, "{text}");
    // Older versions of lsblk write numbers as texts; 0 is none, and what is even is fine.
    let fine = |size: &str| format!(r#""opt-io":{size},"zoned":"none",{}"#, md("\"3072\""));
    let text = of(&[fine("0"), fine("\"0\""), fine("1048576")]);
    assert!(!text.contains("best size") && !text.contains("reads ahead"), "{text}");
    let text = of(&[
        r#""opt-io":"16776704","zoned":"host-managed""#.into(),
        r#""zoned":"host-aware""#.into(),
    ]);
    for words in [
        "# sda is a host-managed zoned disk, which arrays cannot be built of",
        "# sdb is a host-aware shingled disk",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

/// Where one namespace may have several paths, nvme-cli lists it under the subsystem, and no disk was found.
#[test]
fn namespaces_of_subsystems_are_disks() {
    let subsystem = |number: usize, own: &str, shared: &str| {
        format!(
            r#"{{"Controllers":[{{"ModelNumber":"Samsung SSD 990 PRO 2TB","SerialNumber":"S{number}","Namespaces":[{own}],"Paths":[]}}],"Namespaces":[{shared}]}}"#
        )
    };
    let listed = |is_shared: bool| {
        let all = [0, 1].map(|number| {
            let one = format!(r#"{{"NameSpace":"nvme{number}n1","PhysicalSize":2000398934016}}"#);
            if is_shared { subsystem(number, "", &one) } else { subsystem(number, &one, "") }
        });
        format!("{{\"Devices\":[{{\"Subsystems\":[{}]}}]}}", all.join(","))
    };
    let of_controllers = experiment(&[&listed(false)]).unwrap();
    assert_eq!(experiment(&[&listed(true)]).unwrap(), of_controllers);
    assert_eq!(planned(&of_controllers).2, vec!["iocost-samsung-ssd-990-pro-2tb"; 2]);
}

/// The lines of libata alone were no disks, and beside one of a BSD that one was asked about.
#[test]
fn ports_say_what_is_behind_them_where_nothing_else_does() {
    let ports = "[    1.0] ata1.00: ATA-11: ST18000NM000J-2TV103, SN02, max UDMA/133\n\
                 [    1.0] ata1.00: 35156656128 sectors, multi 16: LBA48 NCQ (depth 32), AA\n\
                 [    1.0] ata2.00: ATA-11: ST18000NM000J-2TV103, SN02, max UDMA/133\n";
    assert_eq!(planned(&experiment(&[ports]).unwrap()).2, vec!["st18000nm000j"; 2]);
    let beside =
        format!("{ports}ada0: <WDC WD140EDFZ-11A0VA0 81.00A81> ACS-2 ATA SATA 3.x device\n");
    assert_eq!(planned(&experiment(&[&beside]).unwrap()).2, vec!["st18000nm000j"; 2]);
}

/// Names of `/dev/disk/by-id` have the model, and `lsblk` was asked for all the same.
#[test]
fn members_with_their_model_in_their_name_are_known() {
    let member = |serial: &str| format!("\t  ata-ST18000NM000J-2TV103_{serial}  ONLINE  0 0 0\n");
    let members: String = ["ZR50AAAA", "ZR50AAAB", "ZR50AAAC"].map(member).concat();
    let pool = format!(
        "  pool: tank\nconfig:\n\n\tNAME STATE\n\ttank ONLINE\n\t raidz1-0 ONLINE\n{members}errors: none\n"
    );
    assert_eq!(planned(&experiment(&[&pool]).unwrap()).2, vec!["st18000nm000j"; 3]);
}

/// A card reader without a card got advice on how to measure it.
#[test]
fn what_has_no_bytes_is_no_disk() {
    let disks = lsblk("ST18000NM000J", 18_000_207_937_536, 2);
    let empty = disks.replace("{\"blockdevices\":[", "{\"blockdevices\":[{\"name\":\"sdz\",\"type\":\"disk\",\"model\":\"Storage Device\",\"size\":0},");
    assert_eq!(experiment(&[&empty]).unwrap(), experiment(&[&disks]).unwrap());
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "(md0 : active raid[0156] |sd[a-c]1?\\[[0-9]\\](\\(F\\))? |\\[[U_]{1,4}\\]|[0-9]+ |512k chunk|pool: |config:|\\n|raidz2-0|LV |Stripe |Devices |: 0 8 striped 2 4 8:0 0 |sd0: |<|>|, |\\[sda\\] |sectors|byte |scsi 0: Direct-Access|PQ: |\\{\"blockdevices\":\\[|\\]\\}|.){0,60}") {
        let _ = experiment(&[&text]);
        let _ = experiment(&[&lsblk("ST18000NM000J", 18_000_207_937_536, 3), &text]);
    }
}

/// The chain ended at /data, which was busy, and then at a partition of an array that was gone.
#[test]
fn what_is_built_of_disks_is_let_go_from_the_top() {
    let disk = |name: &str, below: &str| {
        let model = r#""type":"disk","size":18000207937536,"model":"ST18000NM000J""#;
        format!(r#"{{"name":"{name}",{model},"children":[{below}]}}"#)
    };
    let part = |name: &str, at: &str| {
        format!(r#"{{"name":"{name}","type":"part","fstype":"xfs","mountpoints":["{at}"]}}"#)
    };
    let array =
        format!(r#"{{"name":"md126","type":"raid1","children":[{}]}}"#, part("md126p1", "/data"));
    let disks = [disk("sdb", &array), disk("sdc", &array), disk("sdd", &part("sdd1", "/data/sub"))];
    let text = format!(r#"{{"blockdevices":[{}]}}"#, disks.join(","));
    let inventory = Inventory::read(&[("lsblk.json".into(), text)]).unwrap();
    assert_eq!(
        inventory.let_go(&["sdb", "sdc", "sdd"]).unwrap(),
        [
            "umount /data/sub",
            "umount /data",
            "mdadm --stop /dev/md126",
            "wipefs -a /dev/sdb /dev/sdc /dev/sdd1 /dev/sdd"
        ]
    );
}

/// Disks of a shelf on two cables: each path of it, and what multipathd has made of them, where that runs.
fn on_two_paths(disks: usize, is_mapped: bool, more: &str) -> String {
    let path = |index: usize| {
        let (number, letter) = (index % disks, char::from(b'a' + index as u8));
        let map = char::from(b'a' + number as u8);
        let map = format!(
            r#"{{"name":"mpath{map}","kname":"dm-{number}","path":"/dev/mapper/mpath{map}","type":"mpath"{more}}}"#
        );
        let (member, children) =
            if is_mapped { (r#""mpath_member""#, map) } else { ("null", String::new()) };
        format!(
            r#"{{"name":"sd{letter}","type":"disk","tran":"sas","vendor":"SEAGATE ","model":"ST18000NM000J","size":18000207937536,
            "serial":"ZR5AAAA{number}","wwn":"0x5000c500d000000{number}","fstype":{member},"children":[{children}]}}"#
        )
    };
    let paths: Vec<String> = (0..2 * disks).map(path).collect();
    format!(r#"{{"blockdevices":[{}]}}"#, paths.join(","))
}

fn read(texts: &[&str]) -> Inventory {
    let files = texts.iter().map(|text| ("f".to_string(), (*text).to_string()));
    Inventory::read(&files.collect::<Vec<_>>()).unwrap()
}

/// Four disks on two cables were eight, and RAID 10 had both halves of a pair on one of them.
#[test]
fn paths_to_a_disk_are_one_disk() {
    let mapped = on_two_paths(4, true, "");
    let inventory = read(&[&mapped]);
    let disks: Vec<(&str, String)> =
        inventory.disks.iter().map(|disk| (disk.device.as_str(), disk.path().unwrap())).collect();
    assert_eq!(disks[0], ("mpatha", "/dev/mapper/mpatha".into()));
    assert_eq!((disks.len(), disks[3].0), (4, "mpathd"));
    assert_eq!(inventory.disks[0].paths, ["sda", "sde"]);
    let all: Vec<&str> = disks.iter().map(|disk| disk.0).collect();
    assert_eq!((inventory.in_use(&all), inventory.concerns(&all)), (vec![], vec![]));
    assert_eq!(inventory.let_go(&all).unwrap(), [""; 0]);
    assert_eq!(planned(&inventory.experiment(None).unwrap()).2, vec!["st18000nm000j"; 4]);
    // Kernel messages know the paths alone.
    let dmesg = "sd 0:0:0:0: [sda] 35156656128 512-byte logical blocks: (18.0 TB/16.4 TiB)\n";
    assert_eq!(read(&[dmesg, &mapped]).disks.len(), 4);
    assert_eq!(read(&[&mapped, dmesg]).disks.len(), 4);
    // A member of an array is the map, as mdstat has it.
    let array = "Personalities : [raid1]\nmd0 : active raid1 dm-1[1] dm-0[0]\n      1 blocks super 1.2 [2/2] [UU]\n";
    let arrays = read(&[&mapped, array]).arrays_of(&all);
    assert_eq!(arrays, ["mpatha, mpathb are members of md0 (md-mirror)"]);
}

/// What is on the map is on the disk, and what is wiped is the map: its paths are busy.
#[test]
fn what_a_disk_on_two_paths_holds_is_let_go() {
    let more = r#","children":[{"name":"mpatha1","kname":"dm-9","path":"/dev/mapper/mpatha1","type":"part","fstype":"xfs","mountpoints":["/data"]}]"#;
    let inventory = read(&[&on_two_paths(1, true, more)]);
    assert_eq!(inventory.in_use(&["mpatha"]), ["mpatha: xfs on /data"]);
    let lines = ["umount /data", "wipefs -a /dev/mapper/mpatha1 /dev/mapper/mpatha"];
    assert_eq!(inventory.let_go(&["mpatha"]).unwrap(), lines);
}

/// Where multipathd does not run, one path stands for the disk, and that is said.
#[test]
fn paths_that_nobody_joined_are_said() {
    let inventory = read(&[&on_two_paths(4, false, "")]);
    assert_eq!(inventory.disks.len(), 4);
    let said = inventory.concerns(&["sda"]);
    assert!(
        said[0].starts_with("sda and sde are paths to one disk, by their serial numbers"),
        "{said:?}"
    );
}

/// The kernel's own paths of `NVMe` were drives beside the one that they lead to.
#[test]
fn paths_of_nvme_are_no_drives() {
    let drive = |name: &str| {
        format!(
            r#"{{"DevicePath":"/dev/{name}","ModelNumber":"Samsung SSD 990 PRO 2TB","SerialNumber":"S7KHNJ0W1","PhysicalSize":2000398934016}}"#
        )
    };
    let list = |names: &[&str]| {
        let all: Vec<String> = names.iter().map(|name| drive(name)).collect();
        read(&[&format!(r#"{{"Devices":[{}]}}"#, all.join(","))])
    };
    for names in [&["nvme0n1", "nvme0c0n1", "nvme0c1n1"][..], &["nvme0c0n1", "nvme0c1n1"]] {
        let disks = list(names).disks;
        assert_eq!(
            (disks.len(), disks[0].path().as_deref()),
            (1, Some("/dev/nvme0n1")),
            "{names:?}"
        );
    }
    // Without the kernel's multipath each controller has a namespace; namespaces of one are several.
    assert_eq!(list(&["nvme0n1", "nvme1n1"]).disks.len(), 1);
    assert_eq!(list(&["nvme0n1", "nvme0n2"]).disks.len(), 2);
}

/// `/dev/ata-WDC…` is no path, and a part of a disk is no disk.
#[test]
fn members_of_pools_are_where_their_names_are() {
    let member = |name: &str| format!("\t  ata-ST18000NM000J-2TV103_{name}  ONLINE  0 0 0\n");
    let members: String = ["ZR50AAAA", "ZR50AAAB-part1", "ZR50AAAB-part9"].map(member).concat();
    let pool = format!(
        "  pool: tank\nconfig:\n\n\tNAME STATE\n\ttank ONLINE\n\t raidz1-0 ONLINE\n{members}errors: none\n"
    );
    let inventory = read(&[&pool]);
    let paths: Vec<String> = inventory.disks.iter().filter_map(HeldDisk::path).collect();
    let by_id = ["ZR50AAAA", "ZR50AAAB"]
        .map(|name| format!("/dev/disk/by-id/ata-ST18000NM000J-2TV103_{name}"));
    assert_eq!(paths, by_id);
    assert_eq!(inventory.arrays_of(&[&inventory.disks[1].device]).len(), 1);
}
