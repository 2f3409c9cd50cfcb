use super::*;

const DETAIL: &str = "\
/dev/md0:
           Version : 1.2
     Creation Time : Sat Mar 14 15:09:26 2026
        Raid Level : raid5
        Array Size : 119808 (117.00 MiB 122.68 MB)
     Used Dev Size : 39936 (39.00 MiB 40.89 MB)
      Raid Devices : 4
     Total Devices : 5
       Persistence : Superblock is persistent

             State : clean, degraded
    Active Devices : 3

            Layout : left-symmetric
        Chunk Size : 64K

Consistency Policy : resync

              Name : host:0  (local to host host)
            Events : 18

    Number   Major   Minor   RaidDevice State
       0       7        0        0      active sync   /dev/loop0
       -       0        0        1      removed
       2       7        2        2      active sync set-A   /dev/loop2
       3       7        3        3      spare rebuilding   /dev/loop3

       1       7        1        -      faulty   /dev/loop1
       4       7        4        -      spare   /dev/loop4
";

fn examined(device: &str, role: &str) -> String {
    format!(
        "{device}:
          Magic : a92b4efc
        Version : 1.2
    Feature Map : 0x0
     Array UUID : 76511602:3cb6e647:c8dea76f:2238c348
           Name : host:0
     Raid Level : raid10
   Raid Devices : 4

 Avail Dev Size : 79875 sectors (39.00 MiB 40.90 MB)
     Array Size : 79872 KiB (78.00 MiB 81.79 MB)
  Used Dev Size : 79872 sectors (39.00 MiB 40.89 MB)
    Data Offset : 2048 sectors
   Super Offset : 8 sectors
   Unused Space : before=1968 sectors, after=3 sectors

         Layout : near=2
     Chunk Size : 64K

   Device Role : {role}
   Array State : AAAA ('A' == active, '.' == missing, 'R' == replacing)
"
    )
}

const OLD: &str = "\
/dev/hdc1:
          Magic : a92b4efc
        Version : 00.90.00
           UUID : 23d10d44:d59ed967:79f65471:854ffca8
     Raid Level : raid5
    Device Size : 156288256 (149.05 GiB 160.04 GB)
   Raid Devices : 3
     Chunk Size : 64K

      Number   Major   Minor   RaidDevice State
this     1      34       65        1      active sync   /dev/hdh1

   0     0      34        1        0      active sync   /dev/hdg1
   1     1      34       65        1      active sync   /dev/hdh1
   2     2       0        0        2      faulty removed
";

fn names(md: &Md) -> Vec<&str> {
    md.members.iter().map(|member| member.name.as_str()).collect()
}

#[test]
fn detail_reads_with_members_gone_and_standing_by() {
    let md = parse("md0.txt", DETAIL, None).unwrap();
    assert_eq!(
        (md.name.as_deref(), md.shape.level().as_str()),
        (Some("/dev/md0"), "md-raid5-left-symmetric")
    );
    assert_eq!(
        (md.interleave_sectors, md.used_sectors, md.array_sectors),
        (128, Some(79_872), Some(239_616))
    );
    assert_eq!(names(&md), ["/dev/loop0", "missing", "/dev/loop2", "/dev/loop3"]);
    let notes = md.notes.join("; ");
    for expected in
        ["loop1 is faulty", "loop4 is a spare", "loop3 is being rebuilt", "member 1 is missing"]
    {
        assert!(notes.contains(expected), "{notes}");
    }
    assert_eq!(md.members[0].data_offset_sectors, None);
    let two = format!("{DETAIL}{}", DETAIL.replace("md0:", "md1:"));
    let error = parse("md.txt", &two, None).unwrap_err().to_string();
    assert!(error.contains("/dev/md0, /dev/md1; choose one with --unit"), "{error}");
    assert_eq!(parse("md.txt", &two, Some("/dev/md1")).unwrap().name.as_deref(), Some("/dev/md1"));
}

#[test]
fn examine_reads_members_in_any_order() {
    let roles = [("/dev/sdb", "2"), ("/dev/sda", "0"), ("/dev/sdd", "3"), ("/dev/sdc", "1")];
    let mut text: String = roles
        .iter()
        .map(|(device, role)| examined(device, &format!("Active device {role}")))
        .collect();
    text.push_str(&examined("/dev/sde", "spare"));
    let md = parse("md0.txt", &text, None).unwrap();
    assert_eq!(names(&md), ["/dev/sda", "/dev/sdc", "/dev/sdb", "/dev/sdd"]);
    assert_eq!(md.shape.level(), "md-raid10-n2");
    let first = &md.members[0];
    assert_eq!((first.data_offset_sectors, first.data_sectors), (Some(2048), Some(79_875)));
    assert_eq!((md.used_sectors, md.notes.len()), (Some(79_872), 1));
    let twice = text.replace("Active device 3", "Active device 0");
    let error = parse("md0.txt", &twice, None).unwrap_err().to_string();
    assert!(error.contains("/dev/sdd and /dev/sda both claim to be member 0"), "{error}");
    let other = text.replacen("76511602", "11111111", 1);
    assert!(parse("md0.txt", &other, None).unwrap_err().to_string().contains("two arrays"));
}

#[test]
fn the_old_metadata_reads_with_its_own_table() {
    let md = parse("hdc1.txt", OLD, None).unwrap();
    assert_eq!(names(&md), ["/dev/hdg1", "/dev/hdc1", "missing"]);
    assert_eq!((md.metadata.as_str(), md.used_sectors), ("0.90", Some(312_576_512)));
    assert_eq!(md.members[1].data_offset_sectors, Some(0));
}

#[test]
fn older_words_for_copies_read_too() {
    for (text, level) in [
        ("near=2", Some("md-raid10-n2")),
        ("near=2, far=1", Some("md-raid10-n2")),
        ("near=1, far=3", Some("md-raid10-f3")),
        ("near=1, offset=2", Some("md-raid10-o2")),
        ("near=2, far=2", None),
        ("near", None),
        ("nearly=2", None),
    ] {
        assert_eq!(copies(text).map(Shape::level).as_deref(), level, "{text}");
    }
}

#[test]
fn what_is_no_report_names_line_and_word() {
    for (was, is, expected) in [
        ("raid5", "raid7", "md0.txt:4: `Raid Level`: `raid7` is not a supported level"),
        ("raid5", "container", "`container` is not a supported level"),
        ("left-symmetric", "leftish", ":14: `Layout`: `leftish` is not a layout of md"),
        ("64K", "64Q", ":15: `Chunk Size`: `64Q` is not a size"),
        ("        Chunk Size : 64K\n", "", "`Chunk Size` is missing"),
        ("64K", "0K", "`Chunk Size` is 0"),
        ("1.2", "2.0", "`2.0` is not a version"),
        ("Devices : 4", "Devices : four", "`four` is not a valid value of `Raid Devices`"),
        ("Events : 18", "Reshape Status : 3% complete", "the array is being reshaped"),
        (
            "0      active sync   /dev/loop0",
            "9      active sync   /dev/loop0",
            "`9` is not a valid RaidDevice",
        ),
        ("0      active sync   /dev/loop0", "", "`0 7 0` is not a device row"),
        (
            "Persistence : ",
            "Persistence ",
            ":9: `Persistence Superblock is persistent` is not a line",
        ),
    ] {
        let error = parse("md0.txt", &DETAIL.replacen(was, is, 1), None).unwrap_err().to_string();
        assert!(error.contains(expected), "{is:?}: {error}");
    }
    let error = parse("x", "", None).unwrap_err().to_string();
    assert!(error.contains("no `Raid Level`"), "{error}");
}
