//! The commands that make a volume of members: none for one device and for btrfs, mdadm's for md, dmsetup's for
//! the device mapper, LVM's own.

mod lvm;
pub(super) mod zfs;

use super::super::site::Step;
use crate::error::{Error, Result};
use crate::experiment::{STRIPE_CACHE_ROWS, Volume, check_interleave, check_stripe_cache};
use crate::file_system::real::Geometry;
use block::Level;
use block::layout::btrfs::Profile;
use block::layout::{Mdadm, NestedLevel, Redundancy, System};

/// A volume to be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Build {
    /// What builds it.
    pub make: Vec<Step>,
    /// What assembles it again of members that hold it.
    pub assemble: Vec<Step>,
    /// What mkfs is given.
    pub devices: Vec<String>,
    /// What takes it down, in order.
    pub take_down: Vec<Step>,
    /// What a file system on it can be told.
    pub geometry: Geometry,
    /// The programs and kernel drivers that it takes.
    pub needs: Vec<Need>,
    /// What imports it before each mount and exports it after, where it is a pool of ZFS.
    pub pool: Option<[Step; 2]>,
}

/// Something that a machine may lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// A program, and Debian's package that has it.
    Program(&'static str, &'static str),
    /// A path that is there where the kernel has a driver, and the driver's name.
    Driver(&'static str, &'static str),
}

/// md, as the kernel shows it.
const MD: [Need; 2] = [Need::Program("mdadm", "mdadm"), Need::Driver("/proc/mdstat", "md")];
/// The device mapper.
const DM: [Need; 2] =
    [Need::Program("dmsetup", "dmsetup"), Need::Driver("/dev/mapper/control", "dm")];

/// A member: its device and its size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// Its path.
    pub path: String,
    /// Its size.
    pub sectors: u64,
}

/// What makes `volume` of these `members`, under `name`, as its keys say.
///
/// # Errors
///
/// Where no tool makes it, or not with this interleave; and where a member is to fail whose level no command takes one out of.
pub fn build_volume(volume: &Volume, members: &[Device], name: &str) -> Result<Build> {
    check_stripe_cache(volume)?;
    let mut build = build(volume.level, volume.interleave_sectors, members, name)?;
    let is_md = volume.level.is_of(System::Md);
    if volume.level.has_stripe_cache() && volume.stripe_cache_rows != STRIPE_CACHE_ROWS {
        if !is_md {
            return Err(Error::input(format!(
                "`volume.stripe_cache`: LVM has no such key for `volume.level` = {}; leave it out, or take a level of md",
                volume.level
            )));
        }
        // The array's name is a link to its device.
        let rows = volume.stripe_cache_rows;
        for device in arrays(volume.level, name) {
            let write = format!(
                "echo {rows} > /sys/block/$(basename $(readlink -f {device}))/md/stripe_cache_size"
            );
            build.make.push(Step::new(["sh", "-c", &write]));
        }
    }
    if let Some(sectors) = volume.region_sectors.filter(|_| !volume.has_bitmap) {
        let create = build.make.pop().expect("lvcreate comes last");
        build.make.push(create.and(&format!("--regionsize={}k", sectors / 2)));
    }
    if volume.has_ppl {
        // It is made with the array.
        build.make[0] = build.make[0].clone().and("--consistency-policy=ppl");
    }
    for &member in &volume.write_mostly {
        // As `--write-mostly` in front of the device, which holds for all that come behind it.
        let state = format!(
            "echo writemostly > /sys/block/$(basename $(readlink -f {}))/md/dev-$(basename {})/state",
            build.devices[0], members[member as usize].path
        );
        build.make.push(Step::new(["sh", "-c", &state]));
    }
    if volume.has_bitmap {
        for device in arrays(volume.level, name) {
            let chunk =
                volume.region_sectors.map(|sectors| format!("--bitmap-chunk={}K", sectors / 2));
            let words = ["mdadm", "--grow", "--bitmap=internal"].into_iter();
            let words = words.chain(chunk.as_deref()).chain([device.as_str()]);
            build.make.push(Step::new(words));
        }
    }
    if volume.has_bitmap || volume.level.has_bitmap_of_lvm() {
        // A new bitmap has every bit set, and md clears them after two looks, 5 s apart.
        build.make.push(Step::new(["sleep", "15"]));
    }
    if let Some(sectors) = volume.read_ahead.0 {
        let sectors = sectors.to_string();
        build.make.push(Step::new(["blockdev", "--setra", &sectors, &build.devices[0]]));
    }
    for &failed in &volume.failed {
        if !is_md {
            return Err(Error::input(format!(
                "`volume.failed`: no command takes a member out of `volume.level` = {}; take a level of md",
                volume.level
            )));
        }
        let member = &members[failed as usize].path;
        let arrays = arrays(volume.level, name);
        let array = &arrays[failed as usize * arrays.len() / members.len()];
        build.make.push(Step::new(["mdadm", "--fail", array, member]));
    }
    Ok(build)
}

/// The arrays of md that have members of their own, each so many neighbours.
fn arrays(level: Level, name: &str) -> Vec<String> {
    match level.nested() {
        Some(of) => (0..of.groups).map(|group| format!("/dev/md/{name}-{group}")).collect(),
        None => vec![format!("/dev/md/{name}")],
    }
}

impl Build {
    /// What assembles an array of md without a member. One that is not known to be clean is not put together without a
    /// member; whoever needs its data says `--force`, which is the risk. A partial parity log knows.
    ///
    /// # Errors
    ///
    /// Where it is no array of md.
    pub(super) fn assemble_without(&self, member: &Device, volume: &Volume) -> Result<Step> {
        let is_one_array = volume.level.mdadm().is_some();
        let assemble = self.assemble.first().filter(|_| is_one_array);
        let assemble = assemble.ok_or_else(|| {
            Error::input(format!(
                "a member is lost: no command puts `volume.level` = {} together without it; take a level of md that is one array",
                volume.level
            ))
        })?;
        let step = assemble.without(&member.path);
        Ok(if volume.has_ppl { step } else { step.and("--force") })
    }
}

/// What makes a volume of this level of `members`, under `name`.
///
/// # Errors
///
/// Where no tool makes it, or not with this interleave; the message says which to take.
fn build(level: Level, interleave_sectors: u64, members: &[Device], name: &str) -> Result<Build> {
    let paths: Vec<String> = members.iter().map(|member| member.path.clone()).collect();
    let bare = |devices: Vec<String>, geometry| Build {
        make: Vec::new(),
        assemble: Vec::new(),
        devices,
        take_down: Vec::new(),
        geometry,
        needs: Vec::new(),
        pool: None,
    };
    if level.name == "single" {
        return Ok(bare(paths[..1].to_vec(), Geometry::default()));
    }
    if let Some(profile) = level.btrfs_profile().map(Profile::name) {
        let needed = level.members_min();
        if paths.len() < needed {
            return Err(Error::input(format!(
                "`volume.level` = {level} takes {needed} members, and there are {}; add some",
                paths.len()
            )));
        }
        // What one device has once is no profile: its metadata cannot be on two, as mkfs is told to have them then.
        let is_one = paths.len() == 1 && ["single", "raid0"].contains(&profile);
        let geometry = Geometry { profile: (!is_one).then_some(profile), ..Geometry::default() };
        return Ok(bare(paths, geometry));
    }
    let geometry = striped(level, interleave_sectors, members.len());
    if let Some(of) = level.nested() {
        return Ok(Build { geometry, ..nested(level, of, interleave_sectors, members, name)? });
    }
    if let Some(mdadm) = level.mdadm() {
        return Ok(Build { geometry, ..md(level, mdadm, interleave_sectors, paths, name)? });
    }
    if level.is_of(System::Dm) {
        return Ok(Build { geometry, ..dm(level, interleave_sectors, members, name)? });
    }
    if level.is_of(System::Lvm) {
        return Ok(Build { geometry, ..lvm::build(level, interleave_sectors, &paths, name)? });
    }
    let own = format!(
        "`volume.level` = {level} is ileave's own arithmetic, and no system makes a device of it"
    );
    Err(Error::input(match Level::of_md(level.name) {
        Some(_) => {
            format!("{own}; Linux has this layout as `--set volume.level=md-{}`", level.name)
        }
        None => format!(
            "{own}; take single, a level of md or LVM, dm-stripe, dm-concat, or below a file system of its own a btrfs \
             profile"
        ),
    }))
}

/// What a file system should know of a level's stripes: the chunk, and how many of a row's chunks are data.
fn striped(level: Level, interleave_sectors: u64, members: usize) -> Geometry {
    let data = level.stripe_chunks(members);
    if !level.interleaved() || data < 2 {
        return Geometry::default();
    }
    let chunk_bytes = interleave_sectors * block::SECTOR_BYTES;
    Geometry { chunk_bytes: Some(chunk_bytes), data_members: data as u64, profile: None }
}

/// Arrays side by side, and a stripe over them. The members are those of the arrays in turn.
fn nested(
    level: Level,
    of: NestedLevel,
    interleave_sectors: u64,
    members: &[Device],
    name: &str,
) -> Result<Build> {
    let each = members.len() / of.groups;
    if each * of.groups != members.len() || members.len() < level.members_min() {
        return Err(Error::input(format!(
            "`volume.level` = {level} takes {} equal arrays of at least {} members, and there are {} in all",
            of.groups,
            level.members_min() / of.groups,
            members.len()
        )));
    }
    let arrays = arrays(level, name);
    let parts = arrays.iter().zip(members.chunks_exact(each)).map(|(array, part)| {
        let own = array.rsplit('/').next().unwrap_or_default();
        build(of.inner, interleave_sectors, part, own)
    });
    let parts: Vec<Build> = parts.collect::<Result<_>>()?;
    let device = |array: &String| Device { path: array.clone(), sectors: 0 };
    let over: Vec<Device> = arrays.iter().map(device).collect();
    let outer = build(of.outer, interleave_sectors, &over, name)?;
    let all = |steps: fn(&Build) -> &Vec<Step>| parts.iter().flat_map(steps).cloned();
    Ok(Build {
        make: all(|part| &part.make).chain(outer.make.clone()).collect(),
        assemble: all(|part| &part.assemble).chain(outer.assemble.clone()).collect(),
        take_down: outer.take_down.iter().cloned().chain(all(|part| &part.take_down)).collect(),
        ..outer
    })
}

/// mdadm's commands. md counts chunks in KiB and takes multiples of 4; RAID 4, 5, 6 and 10 want a power of two.
fn md(
    level: Level,
    mdadm: Mdadm,
    interleave_sectors: u64,
    paths: Vec<String>,
    name: &str,
) -> Result<Build> {
    let device = format!("/dev/md/{name}");
    let mut words: Vec<String> =
        ["mdadm", "--create", &device, "--run", "--metadata=1.2"].map(String::from).to_vec();
    words.push(format!("--level={}", mdadm.level));
    words.extend(mdadm.layout.map(|layout| format!("--layout={layout}")));
    if level.interleaved() {
        check_interleave(level, interleave_sectors)?;
        words.push(format!("--chunk={}", interleave_sectors * block::SECTOR_BYTES / 1024));
    }
    if level.redundancy() != Redundancy::Nothing {
        // The members are blank or their contents given up: nothing is copied while the trial runs, and what was
        // written is remembered nowhere.
        words.extend(["--assume-clean".into(), "--bitmap=none".into()]);
    }
    words.push(format!("--raid-devices={}", paths.len()));
    words.extend(paths.iter().cloned());
    let mut zero = vec!["mdadm".to_string(), "--zero-superblock".into()];
    zero.extend(paths.iter().cloned());
    let mut assemble: Vec<String> =
        ["mdadm", "--assemble", "--run", &device].map(String::from).to_vec();
    assemble.extend(paths);
    Ok(Build {
        make: vec![Step::new(words)],
        assemble: vec![Step::new(assemble)],
        devices: vec![device.clone()],
        take_down: vec![Step::new(["mdadm", "--stop", &device]), Step::new(zero)],
        geometry: Geometry::default(),
        needs: MD.to_vec(),
        pool: None,
    })
}

/// dmsetup's commands: a table of striped or linear targets, in sectors.
fn dm(level: Level, interleave_sectors: u64, members: &[Device], name: &str) -> Result<Build> {
    let table = if level.name == "dm-stripe" {
        let smallest = members.iter().map(|member| member.sectors).min().unwrap_or(0);
        check_interleave(level, interleave_sectors)?;
        let each = smallest / interleave_sectors * interleave_sectors;
        let places: Vec<String> =
            members.iter().map(|member| format!("{} 0", member.path)).collect();
        let sectors = each * members.len() as u64;
        format!("0 {sectors} striped {} {interleave_sectors} {}", members.len(), places.join(" "))
    } else {
        let mut start = 0;
        let line = |member: &Device| {
            let line = format!("{start} {} linear {} 0", member.sectors, member.path);
            start += member.sectors;
            line
        };
        members.iter().map(line).collect::<Vec<_>>().join("\n")
    };
    let create = Step::new(["dmsetup", "create", name, "--table", &table]);
    Ok(Build {
        make: vec![create.clone()],
        assemble: vec![create],
        devices: vec![format!("/dev/mapper/{name}")],
        take_down: vec![Step::new(["dmsetup", "remove", "--retry", name])],
        geometry: Geometry::default(),
        needs: DM.to_vec(),
        pool: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Experiment, Plan};

    fn built(level: &str, interleave_sectors: u64) -> Result<Build> {
        let member = |n: u32| Device { path: format!("/dev/loop{n}"), sectors: 2_097_152 };
        let members: Vec<Device> = (0..4).map(member).collect();
        build(level.parse().unwrap(), interleave_sectors, &members, "ileave")
    }

    fn commands(level: &str, interleave_sectors: u64) -> String {
        let build = built(level, interleave_sectors).unwrap();
        let steps = build.make.iter().chain(&build.take_down).map(ToString::to_string);
        steps.collect::<Vec<_>>().join("\n")
    }

    const DEVICES: &str = "/dev/loop0 /dev/loop1 /dev/loop2 /dev/loop3";

    #[test]
    fn md_is_made_by_mdadm() {
        let made = |options: &str| {
            format!(
                "mdadm --create /dev/md/ileave --run --metadata=1.2 {options} --raid-devices=4 {DEVICES}\n\
                 mdadm --stop /dev/md/ileave\nmdadm --zero-superblock {DEVICES}"
            )
        };
        assert_eq!(commands("md-stripe", 128), made("--level=0 --chunk=64"));
        let clean = "--assume-clean --bitmap=none";
        assert_eq!(commands("md-mirror", 128), made(&format!("--level=1 {clean}")));
        assert_eq!(commands("md-concat", 128), made("--level=linear"));
        assert_eq!(commands("md-raid6", 1024), made(&format!("--level=6 --chunk=512 {clean}")));
        let asymmetric = made(&format!("--level=5 --layout=left-asymmetric --chunk=64 {clean}"));
        assert_eq!(commands("md-raid5-left-asymmetric", 128), asymmetric);
        assert_eq!(
            commands("md-raid10-f2", 128),
            made(&format!("--level=10 --layout=f2 --chunk=64 {clean}"))
        );
    }

    #[test]
    fn arrays_side_by_side_are_made_first_and_taken_down_last() {
        let member = |n: u32| Device { path: format!("/dev/loop{n}"), sectors: 2_097_152 };
        let members: Vec<Device> = (0..8).map(member).collect();
        let text = "[volume]\ndrives = '8xwd740gd:1GiB'\nlevel = 'md-raid60-2'\ninterleave = '64KiB'\n\
                    stripe_cache = 1024\nread_ahead = '1MiB'\nfailed = '6'\n[workload.r]\nkind = 'random'\ncount = 1\n";
        let plan = Plan::new(&Experiment::parse("t.toml", text).unwrap()).unwrap();
        let build = build_volume(&plan.trials[0].setup.volume, &members, "ileave").unwrap();
        let said = |steps: &[Step]| {
            let words = |step: &Step| {
                step.to_string()
                    .replace("mdadm ", "")
                    .replace("--run --metadata=1.2 ", "")
                    .replace("--assume-clean --bitmap=none ", "")
                    .replace("/dev/", "")
            };
            steps.iter().map(words).collect::<Vec<_>>()
        };
        let [first, second] = ["loop0 loop1 loop2 loop3", "loop4 loop5 loop6 loop7"];
        let made = said(&build.make);
        assert!(made.contains(&"blockdev --setra 2048 md/ileave".into()), "{made:?}");
        assert_eq!(
            made[..3],
            [
                format!("--create md/ileave-0 --level=6 --chunk=64 --raid-devices=4 {first}"),
                format!("--create md/ileave-1 --level=6 --chunk=64 --raid-devices=4 {second}"),
                "--create md/ileave --level=0 --chunk=64 --raid-devices=2 md/ileave-0 md/ileave-1"
                    .into()
            ]
        );
        assert!(made[3].contains("1024") && made[3].contains("ileave-0"), "{}", made[3]);
        assert!(made[4].contains("1024") && made[4].contains("ileave-1"), "{}", made[4]);
        assert_eq!(made.last().unwrap(), "--fail md/ileave-1 loop6");
        assert_eq!(
            said(&build.take_down),
            [
                "--stop md/ileave".into(),
                "--zero-superblock md/ileave-0 md/ileave-1".into(),
                "--stop md/ileave-0".into(),
                format!("--zero-superblock {first}"),
                "--stop md/ileave-1".into(),
                format!("--zero-superblock {second}")
            ]
        );
        assert_eq!(
            (build.devices, build.geometry.data_members),
            (vec!["/dev/md/ileave".into()], 2)
        );
    }

    /// The volume of an experiment, over four devices.
    fn of_experiment(keys: &str) -> Result<(Volume, Build)> {
        let text = format!("[volume]\ndrives = '4xwd740gd'\n{keys}\n[workload.r]\ncount = 9\n");
        let plan = Plan::new(&Experiment::parse("x.toml", &text).unwrap())?;
        let volume = plan.trials[0].setup.volume.clone();
        let member = |n: u32| Device { path: format!("/dev/loop{n}"), sectors: 2_097_152 };
        let members: Vec<Device> = (0..4).map(member).collect();
        let built = build_volume(&volume, &members, "ileave")?;
        Ok((volume, built))
    }

    /// "Under a file system take single, …" was said where there was none, and nothing of which level is the same.
    #[test]
    fn the_level_of_linux_that_is_the_same_is_named() {
        let error =
            |level: &str| of_experiment(&format!("level = '{level}'")).unwrap_err().to_string();
        for (level, of_linux) in
            [("stripe", "md-stripe"), ("raid5", "md-raid5"), ("mirror", "md-mirror")]
        {
            let next = format!("; Linux has this layout as `--set volume.level={of_linux}`");
            assert!(error(level).ends_with(&next), "{}", error(level));
        }
        let of_no_linux = error("ccd-mirror");
        assert!(of_no_linux.contains("; take single, a level of md"), "{of_no_linux}");
        assert!(!of_no_linux.contains("under a file system"), "{of_no_linux}");
    }

    #[test]
    fn lvm_is_told_what_a_bit_of_its_bitmap_stands_for() {
        let (_, built) = of_experiment("level = 'lvm-raid5'\nregion_size = '64MiB'").unwrap();
        let made: Vec<String> = built.make.iter().map(ToString::to_string).collect();
        assert!(
            made[1].contains("lvcreate") && made[1].ends_with(" --regionsize=65536k"),
            "{made:?}"
        );
        let error = |keys: &str| of_experiment(keys).unwrap_err().to_string();
        assert!(error("level = 'lvm-mirror'\nregion_size = '3MiB'").contains("powers of two"));
        assert!(error("level = 'md-raid5'\nregion_size = '2MiB'").contains("take lvm-mirror"));
        assert!(error("level = 'lvm-raid5'\nbitmap = 'internal'").contains("LVM keeps its own"));
    }

    #[test]
    fn mdadm_is_told_what_a_bit_of_its_bitmap_stands_for() {
        let added = |bitmap: &str| {
            let (_, built) = of_experiment(&format!("level = 'md-raid5'\nbitmap = '{bitmap}'"))?;
            let made: Vec<String> = built.make.iter().map(ToString::to_string).collect();
            Ok::<_, Error>(made.into_iter().find(|line| line.contains("--grow")))
        };
        let line = |bitmap| added(bitmap).unwrap().unwrap_or_default();
        assert_eq!(line("none"), "");
        assert!(line("internal").contains("--bitmap=internal /dev/md"), "{}", line("internal"));
        let large = line("1GiB");
        assert!(large.contains("--bitmap=internal --bitmap-chunk=1048576K /dev/md"), "{large}");
        for wrong in ["3MiB", "2KiB", "2GiB", "external"] {
            let text = format!("volume.bitmap = '{wrong}'");
            let why = Experiment::parse("x.toml", &text).unwrap_err().to_string();
            assert!(why.contains("volume.bitmap") && why.contains("from 4 KiB to 1 GiB"), "{why}");
        }
    }

    /// `--write-mostly` would mark all that come behind.
    #[test]
    fn one_member_is_marked_as_written_mostly() {
        let made = |keys: &str| {
            let (_, built) = of_experiment(keys).unwrap();
            built.make.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(made("level = 'md-mirror'").len(), 1);
        let marked = made("level = 'md-mirror'\nwrite_mostly = '2'");
        let marks = "/md/dev-$(basename /dev/loop2)/state";
        assert!(
            marked.len() == 2 && marked[1].contains("echo writemostly > /sys/block/"),
            "{marked:?}"
        );
        assert!(marked[1].contains(marks), "{marked:?}");
    }

    /// A partial parity log is made with the array, and makes `--force` needless where a member is lost in a crash.
    #[test]
    fn an_array_is_put_together_without_a_member() {
        let said = |keys: &str| {
            let (volume, built) = of_experiment(keys)?;
            let second = Device { path: "/dev/loop1".into(), sectors: 2_097_152 };
            let without = built.assemble_without(&second, &volume)?;
            Ok::<_, Error>(format!("{}\n{without}", built.make[0]))
        };
        let three = "/dev/loop0 /dev/loop2 /dev/loop3";
        let plain = said("level = 'md-raid5'").unwrap();
        assert!(!plain.contains("--consistency-policy"), "{plain}");
        assert!(plain.ends_with(&format!("--assemble --run /dev/md/ileave {three} --force")));
        let logged = said("level = 'md-raid5'\nppl = true").unwrap();
        assert!(logged.contains(&format!("{DEVICES} --consistency-policy=ppl\n")), "{logged}");
        assert!(logged.ends_with(&format!("--run /dev/md/ileave {three}")), "{logged}");
        let error = |keys: &str| said(keys).unwrap_err().to_string();
        assert!(error("level = 'md-raid6'\nppl = true").contains("take md-raid5"));
        let both = error("level = 'md-raid5'\nppl = true\nbitmap = 'internal'");
        assert!(both.contains("md keeps one of them"), "{both}");
        assert!(error("level = 'dm-stripe'").contains("take a level of md"));
    }

    #[test]
    fn the_device_mapper_is_given_tables() {
        assert_eq!(
            commands("dm-stripe", 128),
            "dmsetup create ileave --table '0 8388608 striped 4 128 /dev/loop0 0 /dev/loop1 0 /dev/loop2 0 \
             /dev/loop3 0'\ndmsetup remove --retry ileave"
        );
        let linear = commands("dm-concat", 0);
        assert!(
            linear.contains(
                "2097152 2097152 linear /dev/loop1 0\n4194304 2097152 linear /dev/loop2 0"
            )
        );
    }

    #[test]
    fn lvm_is_made_by_lvcreate() {
        let made = |options: &str| {
            let config = lvm::CONFIG;
            format!(
                "vgcreate --config '{config}' -y ileave {DEVICES}\n\
                 lvcreate --config '{config}' -y -W n -Z n {options} -l 100%FREE -n data ileave\n\
                 vgremove --config '{config}' -f -y ileave\npvremove --config '{config}' -y {DEVICES}"
            )
        };
        assert_eq!(commands("lvm-stripe", 128), made("--type striped -i 4 -I 64k"));
        assert_eq!(commands("lvm-mirror", 0), made("--type raid1 -m 3 --nosync"));
        assert_eq!(commands("lvm-raid5", 1024), made("--type raid5 -i 3 -I 512k --nosync"));
        assert_eq!(commands("lvm-raid10", 128), made("--type raid10 -m 1 -i 2 -I 64k --nosync"));
        let built = built("lvm-raid5", 128).unwrap();
        assert_eq!(built.devices, ["/dev/mapper/ileave-data"]);
        assert_eq!(built.geometry.data_members, 3);
    }

    #[test]
    fn what_no_tool_takes_is_refused_with_what_it_takes() {
        let said = |level, interleave| built(level, interleave).unwrap_err().to_string();
        assert!(said("md-stripe", 7).contains("multiples of 4 KiB"));
        assert!(said("md-raid5", 24).contains("powers of two"));
        assert!(built("md-stripe", 24).is_ok());
        assert!(said("raid5", 128).contains("--set volume.level=md-raid5`"));
        assert!(said("lvm-raid5", 24).contains("powers of two"));
        assert!(said("lvm-stripe", 16_384).contains("4 MiB"));
        assert!(said("dm-stripe", 4).contains("multiples of a page"));
    }

    #[test]
    fn a_file_system_is_told_of_the_chunk_and_the_members_with_data() {
        let geometry = |level| built(level, 128).unwrap().geometry;
        let striped =
            |data_members| Geometry { chunk_bytes: Some(65_536), data_members, profile: None };
        assert_eq!(geometry("md-raid5"), striped(3));
        assert_eq!(geometry("md-raid6"), striped(2));
        assert_eq!(geometry("md-raid10"), striped(2));
        assert_eq!(geometry("dm-stripe"), striped(4));
        assert_eq!(geometry("single"), Geometry::default());
        assert_eq!(geometry("md-mirror"), Geometry::default());
        assert_eq!(geometry("btrfs-raid10").profile, Some("raid10"));
        assert_eq!(geometry("btrfs-single").profile, Some("single"));
        let one = [Device { path: "/dev/loop0".into(), sectors: 2_097_152 }];
        let alone =
            |level: &str| build(level.parse().unwrap(), 128, &one, "ileave").unwrap().geometry;
        assert_eq!(
            [alone("btrfs-single").profile, alone("btrfs-dup").profile],
            [None, Some("dup")]
        );
    }
}
