//! The commands that build a layout, and those that check it afterwards.
//!
//! Geometry is derived once: a file system's stripe unit is the chunk, and its stripe is as many chunks as drives hold
//! data. RAID 6 on eight drives with chunks of 64 KiB: `su=64k,sw=6` for XFS, `stride=16,stripe_width=96` for ext4.

mod caches;
mod ccd;
mod dm;
mod elsewhere;
mod ffs;
mod file_systems;
mod fio;
mod names;
mod of_trial;
mod printed;
mod queue;
mod requests;
mod terraform;

use crate::beside::bitmap::Remembered;
use block::layout::{Level, Redundancy, Spread};
pub use caches::CacheBy;
pub(crate) use caches::CachesOff;
pub(crate) use file_systems::{ChosenFileSystem, Stripes};
pub use fio::Fio;
pub(crate) use names::free;
pub(crate) use of_trial::{file_system_of, is_nvme, of_trial};
pub(crate) use printed::printed;
use queue::Queue;
pub(crate) use requests::Requests;
use requests::raidz_kib;
pub(crate) use terraform::volumes;

use block::units::parse_bytes;
use lab::file_system::btrfs_profiles;
use serde::Serialize;

/// A command, and what it is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Command {
    /// `build`, `check` or `elsewhere`.
    pub when: &'static str,
    /// What it does.
    pub what: String,
    /// The line for the shell; or the text of the file that `what` names.
    pub line: String,
}

/// What is built.
#[derive(Clone, Debug)]
pub struct Plan<'a> {
    /// The level.
    pub level: Level,
    /// The chunk, as it is written.
    pub chunk: &'a str,
    /// Rows of the stripe cache.
    pub cache: &'a str,
    /// Members and spares.
    pub members: usize,
    /// Spares beside them.
    pub spares: usize,
    /// Where the system has all of them, as in `/dev/sdb`; none where nothing says it.
    pub devices: Vec<String>,
    /// Drives that are to fail without losing data.
    pub survive: usize,
    /// Why the drives' write caches are to be off; nothing where they stay as they are.
    pub caches_off: Option<CachesOff>,
    /// What md remembers of writes, for a crash.
    pub remembered: Remembered,
    /// Members that md reads only where no other can be, from 0.
    pub write_mostly: Vec<u32>,
    /// What the work would have of a bitmap that is not built, where that was measured.
    pub with_bitmap: Option<String>,
    /// What the work asks for.
    pub requests: Requests,
    /// What is known of near copies, where far or offset ones are built, which only md has.
    pub near: Option<String>,
    /// What a bit of LVM's bitmap is to stand for, where it is not LVM's default.
    pub region_kib: Option<u64>,
    /// The I/O scheduler before each drive, where it is not the one that Linux takes by itself.
    pub scheduler: Option<&'static str>,
    /// How far Linux reads ahead on the array, where it is not as far as by itself.
    pub read_ahead_kib: Option<u64>,
    /// The largest request that reaches the array, where the experiment chose it.
    pub max_sectors_kib: Option<u64>,
    /// Which commands turn off the drives' caches.
    pub cache_by: CacheBy,
    /// Whether they are on `NVMe`, by themselves and not a cloud's volumes.
    pub is_nvme: bool,
    /// Whether a cloud's machine has them, as volumes or as its own: it is to start, too, where they are gone.
    pub is_of_cloud: bool,
    /// The drives as blocks of Terraform, where they are cloud volumes.
    pub volumes: Option<String>,
    /// What repeats the work, where it is one of plain requests.
    pub fio: Option<Fio>,
    /// The file system that was chosen, where one was.
    pub file_system: Option<ChosenFileSystem>,
}

/// So many KiB as mdadm(8) reads them.
fn with_suffix(kib: u64) -> String {
    let large = [(20, "G"), (10, "M")].into_iter().find(|(bits, _)| kib.is_multiple_of(1 << bits));
    large.map_or_else(|| format!("{kib}K"), |(bits, suffix)| format!("{}{suffix}", kib >> bits))
}

/// What a bit of mdadm's bitmap stands for by default. LVM always keeps one, of 2 MiB a bit by default, which costs far
/// more (docs/md.md): its regions are as large as the bits that were chosen, or these.
pub(crate) const REGION_KIB: u64 = 64 << 10;

/// The level with near copies, of one that has as many far or offset ones on so many members.
pub(crate) fn near_level(level: &Level, members: usize) -> Option<&'static str> {
    let is_apart = matches!(level.spread(), Some(Spread::Far | Spread::Offset));
    is_apart.then_some(match (level.redundancy(), members) {
        (Redundancy::Copies(3, _), _) => "md-raid10-n3",
        (_, 2) => "md-mirror",
        (_, _) => "md-raid10",
    })
}

/// What volumes are called in Linux, by a part of their blocks of Terraform. Nitro instances have none of the names that those give.
const OF_PROVIDERS: [(&str, &str); 4] = [
    (
        "aws_ebs_volume",
        "/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_vol…, which `ls /dev/disk/by-id` lists (Nitro instances call them \
         /dev/nvme*n1; others /dev/xvd*)",
    ),
    (
        "azurerm_managed_disk",
        "/dev/disk/azure/scsi1/lun0 (with NVMe /dev/disk/azure/data/by-lun/0); /dev/sdb may be the temporary disk",
    ),
    ("google_compute_disk", "/dev/disk/by-id/google-data-0"),
    ("oci_core_volume", "/dev/oracleoci/oraclevdb"),
];

/// mdadm's configuration, as a shell finds it: Debian and its kin have a folder for it, all others have /etc/mdadm.conf, and a
/// line that failed would end the commands behind the array.
const CONFIGURATION: &str =
    "$([ -d /etc/mdadm ] && echo /etc/mdadm/mdadm.conf || echo /etc/mdadm.conf)";

/// What Debian's mdadm.conf says at its head. Without it an array that is needed at boot may come up as md127.
const OF_DEBIAN: &str = "on Debian then run `update-initramfs -u`, as mdadm.conf there says";

impl Plan<'_> {
    /// Members that hold data in a row.
    pub fn data_members(&self) -> usize {
        let survived = self.level.losses_survived(self.members);
        if let Some(of) = self.level.nested() {
            return self.members - of.groups * survived;
        }
        let copies = survived + 1;
        match self.level.parity_members() {
            0 => (self.members / copies).max(1),
            parity => self.members - parity,
        }
    }

    /// Members' worth of room that ZFS's raidz3 would leave, where three failures are to be survived and that is more than the
    /// copies leave. md has no such parity.
    pub(crate) fn raidz3_members(&self) -> Option<usize> {
        let large = self.members.checked_sub(3).filter(|across| *across > 0)?;
        let room = match (self.requests, self.requests.record()) {
            // Small records have much parity.
            (Requests::Random(_), (kib, _)) => {
                let members = self.members as u64;
                large.min((members * kib / raidz_kib(kib, 3, members)) as usize)
            }
            _ => large,
        };
        (self.survive == 3 && room > self.data_members()).then_some(room)
    }

    /// All commands, in order.
    pub fn commands(&self) -> Vec<Command> {
        if let Some(profile) = self.level.btrfs_profile() {
            return self.of_btrfs(profile.name());
        }
        let mut commands = self.build();
        commands.extend(self.file_systems("/dev/md0"));
        commands.extend(self.check());
        commands.extend(elsewhere::commands(self));
        commands
    }

    /// That the commands turn write caches off, where nobody asked for it.
    pub(crate) fn caches_line(&self) -> Option<(String, String)> {
        let is_said = self.caches_off == Some(CachesOff::Measured) && self.volumes.is_none();
        is_said.then(|| {
            let by = self.cache_by.word();
            let text = format!(
                "off: that is what was measured, and what the commands build ({by}); to ask about caches that are on, write \
                 [write_cache=true] after the drive's name"
            );
            ("write caches".into(), text)
        })
    }

    /// What the other commands have the drives from.
    pub(super) fn named_drives(&self, example: &str) -> Command {
        let all = self.members + self.spares;
        match self.device_paths() {
            Some(paths) => {
                let what = "your drives, as the listing of --from names them; `lsblk` shows whether they are still called so";
                build(what, format!("disks=\"{}\"", paths.join(" ")))
            }
            None => {
                build("your drives", format!("disks=\"…\"   # the {all} devices, as in {example}"))
            }
        }
    }

    /// What a drive is called in Linux, for who knows no name. Of a cloud's that is a name which stays: /dev/sdb may be another at
    /// each start, and on Azure it is the machine's own temporary disk.
    fn example(&self) -> &'static str {
        let of_volumes = |volumes: &str| {
            OF_PROVIDERS
                .iter()
                .find(|(part, _)| volumes.contains(part))
                .map(|(_, example)| *example)
        };
        let else_named = if self.is_nvme { "/dev/nvme1n1" } else { "/dev/sdb" };
        self.volumes.as_deref().and_then(of_volumes).unwrap_or(else_named)
    }

    /// The paths of all drives, where they are known. A file says their names: what a shell would take apart is none.
    fn device_paths(&self) -> Option<Vec<String>> {
        let is_plain = |path: &String| {
            let parts: Vec<&str> =
                path.strip_prefix("/dev/").into_iter().flat_map(|rest| rest.split('/')).collect();
            let is_name = |part: &&str| {
                part.starts_with(|first: char| first.is_ascii_alphanumeric())
                    && part.chars().all(|of| of.is_ascii_alphanumeric() || "-_.:".contains(of))
            };
            !parts.is_empty() && parts.iter().all(is_name)
        };
        let is_whole = self.devices.len() == self.members + self.spares;
        (is_whole && self.devices.iter().all(is_plain)).then(|| self.devices.clone())
    }

    /// The drives themselves.
    pub(super) fn drives(&self) -> Vec<Command> {
        let mut commands: Vec<Command> = self.rented().into_iter().collect();
        commands.push(self.named_drives(self.example()));
        // Nobody switches a cache behind a network.
        if let (Some(off), None) = (self.caches_off, &self.volumes) {
            let by = self.cache_by;
            let line = format!("for disk in $disks; do {}; done", by.command());
            commands.push(build(&off.why(by), line));
        }
        if let Some(name) = self.scheduler {
            commands.push(build(
                "the I/O scheduler of each, now and after a restart, by their current names",
                format!(
                    "for disk in $disks; do name=$(basename $(readlink -f $disk)); echo {name} > /sys/block/$name/queue/scheduler; \
                     echo \"ACTION==\\\"add|change\\\", KERNEL==\\\"$name\\\", \
                     ATTR{{queue/scheduler}}=\\\"{name}\\\"\" >> /etc/udev/rules.d/60-scheduler.rules; done"
                ),
            ));
        }
        commands
    }

    /// btrfs over the drives themselves.
    fn of_btrfs(&self, profile: &str) -> Vec<Command> {
        let mut commands = self.drives();
        commands.push(build(
            "btrfs over all of them",
            format!("mkfs.btrfs {} $disks", btrfs_profiles(profile, self.members)),
        ));
        commands.push(self.mount("mount it, by any of its devices", "${disks%% *}"));
        commands.push(check("profiles and drives", "btrfs filesystem usage /srv".into()));
        commands.push(check("checksums of everything stored", "btrfs scrub start -B /srv".into()));
        commands
    }

    fn build(&self) -> Vec<Command> {
        let mut commands = self.drives();
        let inner = self.level.nested().map_or(self.level, |of| of.inner);
        let Some(mdadm) = inner.mdadm() else { return Vec::new() };
        // How many copies RAID 10 has is said even where it is md's own.
        let layout = mdadm.layout.or((mdadm.level == "10").then_some("n2"));
        let layout = layout.map_or(String::new(), |layout| format!(" --layout={layout}"));
        let chunk = if self.level.interleaved() {
            format!(" --chunk={}", self.chunk_kib())
        } else {
            String::new()
        };
        let (mut what, bitmap) = self.consistency();
        if inner.redundancy() == Redundancy::Mirror {
            what += ". mdadm asks whether it is to boot from it: answer y";
        }
        let options = format!("--level={}{layout}", mdadm.level);
        commands.extend(self.arrays_made(&what, &options, &format!("{chunk}{bitmap}")));
        commands.extend(self.read_last());
        if self.level.has_stripe_cache() && self.cache != "256" {
            let rows = self.cache;
            for name in self.arrays().iter().map(|device| device.trim_start_matches("/dev/")) {
                commands.push(build(
                    &format!("the stripe cache of {name}, now and after a restart"),
                    format!(
                        "echo {rows} > /sys/block/{name}/md/stripe_cache_size; echo 'SUBSYSTEM==\"block\", \
                         KERNEL==\"{name}\", ACTION==\"add|change\", TEST==\"md/stripe_cache_size\", \
                         ATTR{{md/stripe_cache_size}}=\"{rows}\"' > /etc/udev/rules.d/60-{name}.rules"
                    ),
                ));
            }
        }
        commands.extend(self.of_queue(&Queue::of_md()));
        // `--scan` would add the arrays that are there already once more.
        let arrays = self.arrays().join(" ");
        let over = if self.level.nested().is_some() { " /dev/md0" } else { "" };
        let scan = format!("mdadm --detail --brief {arrays}{over} >> {CONFIGURATION}");
        let (what, line) = if self.level.nested().is_some() && self.spares > 0 {
            (
                "add them to the configuration; a running `mdadm --monitor` moves spares within a group",
                format!(
                    "{{ mdadm --detail --brief {arrays} | sed 's/$/ spare-group=md0/'; mdadm --detail --brief /dev/md0; }} \
                     >> {CONFIGURATION}"
                ),
            )
        } else {
            ("add it to the configuration", scan)
        };
        commands.push(build(&format!("{what}; {OF_DEBIAN}"), line));
        commands
    }

    /// What is said of the array, and mdadm's option for what it remembers; its default depends on its version.
    fn consistency(&self) -> (String, String) {
        let with = self.with_bitmap.as_deref().unwrap_or("random writes are slower instead");
        match self.remembered {
            _ if !self.level.has_bitmap() => ("the array".into(), String::new()),
            Remembered::Nothing => (
                format!(
                    "the array, without a bitmap, as it was measured: a crash costs a full resync; with `--bitmap=internal`, \
                     {with} (docs/md.md)"
                ),
                " --bitmap=none".into(),
            ),
            Remembered::Parts => ("the array, with a bitmap".into(), " --bitmap=internal".into()),
            Remembered::PartsOfKib(kib) => (
                "the array, with a bitmap of large parts".into(),
                format!(" --bitmap=internal --bitmap-chunk={}", with_suffix(kib)),
            ),
            Remembered::Parity => {
                ("the array, with a partial parity log".into(), " --consistency-policy=ppl".into())
            }
        }
    }

    /// What sets how far Linux reads ahead on the device that is mounted, and how large requests to it are.
    fn of_queue(&self, queue: &Queue) -> Vec<Command> {
        let Queue { name, block, rule } = queue;
        let set = |what: &str, key: &str, kib: u64, file: &str| {
            build(
                &format!("{what} of {name}, now and after a restart"),
                format!(
                    "echo {kib} > /sys/block/{block}/queue/{key}; echo 'SUBSYSTEM==\"block\", {rule}, \
                     ACTION==\"add|change\", ATTR{{queue/{key}}}=\"{kib}\"' > /etc/udev/rules.d/60-{file}.rules"
                ),
            )
        };
        let ahead = self.read_ahead_kib;
        let ahead = ahead.map(|kib| set("the read-ahead", "read_ahead_kb", kib, "read-ahead"));
        let most = self.max_sectors_kib;
        let most = most.map(|kib| set("the largest request", "max_sectors_kb", kib, "max-sectors"));
        ahead.into_iter().chain(most).collect()
    }

    /// What has md read some members only where no other can be. `mdadm --create --write-mostly` would mark all that come behind.
    fn read_last(&self) -> Option<Command> {
        let fields: Vec<String> =
            self.write_mostly.iter().map(|member| (member + 1).to_string()).collect();
        (!fields.is_empty()).then(|| {
            let line = format!(
                "for disk in $(echo $disks | cut -d' ' -f{}); do echo writemostly > /sys/block/md0/md/dev-$(basename $(readlink -f \
                 $disk))/state; done",
                fields.join(",")
            );
            build("the members that are written mostly, which md's superblock remembers", line)
        })
    }

    /// What makes the array of all drives, or arrays of neighbours and a stripe over them.
    fn arrays_made(&self, what: &str, options: &str, more: &str) -> Vec<Command> {
        let spares = match self.spares {
            0 => String::new(),
            spares => format!(" --spare-devices={spares}"),
        };
        let arrays = self.arrays();
        let each = self.members / arrays.len();
        let create = |device: &str, spares: &str, disks: &str| {
            format!("mdadm --create {device} {options} --raid-devices={each}{spares}{more} {disks}")
        };
        if self.level.nested().is_none() {
            return vec![build(what, create(&arrays[0], &spares, "$disks"))];
        }
        let made = arrays.iter().enumerate().map(|(array, device)| {
            let (first, last) = (array * each + 1, (array + 1) * each);
            // The first has all spares, and lends them.
            let (own, behind) = match (array, self.spares) {
                (0, 1..) => (spares.as_str(), format!(",{}-", self.members + 1)),
                _ => ("", String::new()),
            };
            let disks = format!("$(echo $disks | cut -d' ' -f{first}-{last}{behind})");
            let number = format!("array {} of {}", array + 1, arrays.len());
            let said = if array == 0 { what.replacen("the array", &number, 1) } else { number };
            build(&said, create(device, own, &disks))
        });
        let over = format!(
            "mdadm --create /dev/md0 --level=0 --raid-devices={} --chunk={} {}",
            arrays.len(),
            self.chunk_kib(),
            arrays.join(" ")
        );
        made.chain([build("a stripe over them", over)]).collect()
    }

    /// All of md's devices.
    fn devices(&self) -> Vec<String> {
        let over = self.level.nested().map(|_| "/dev/md0".to_string());
        over.into_iter().chain(self.arrays()).collect()
    }

    /// The arrays that have the drives as members.
    fn arrays(&self) -> Vec<String> {
        match self.level.nested() {
            Some(of) => (1..=of.groups).map(|number| format!("/dev/md{number}")).collect(),
            None => vec!["/dev/md0".into()],
        }
    }

    /// What rents the drives. Those of a listing are there: more of them would be paid for, and used by no line.
    fn rented(&self) -> Option<Command> {
        if !self.devices.is_empty() {
            return None;
        }
        Some(build("volumes.tf, for `terraform apply`", self.volumes.clone()?))
    }

    fn chunk_kib(&self) -> u64 {
        parse_bytes(self.chunk).unwrap_or(0) / 1024
    }

    fn check(&self) -> Vec<Command> {
        let mut commands = vec![check(
            "level, chunk and drives",
            format!(
                "mdadm --detail {} | grep -E 'Raid Level|Chunk Size|Raid Devices|State'",
                self.devices().join(" ")
            ),
        )];
        if self.level.has_stripe_cache() {
            let arrays = self.arrays();
            let files = arrays.iter().map(|device| {
                let name = device.trim_start_matches("/dev/");
                format!("/sys/block/{name}/md/stripe_cache_size")
            });
            let files: Vec<String> = files.collect();
            commands.push(check("stripe cache", format!("cat {}", files.join(" "))));
        }
        if self.read_ahead_kib.is_some() {
            commands.push(check("read-ahead", "cat /sys/block/md0/queue/read_ahead_kb".into()));
        }
        if self.max_sectors_kib.is_some() {
            commands
                .push(check("largest request", "cat /sys/block/md0/queue/max_sectors_kb".into()));
        }
        // A stripe has nothing to synchronise.
        if self.level.losses_survived(self.members) > 0 {
            commands.push(check(
                "first synchronisation: wait for its end before you measure",
                "cat /proc/mdstat".into(),
            ));
        }
        commands.extend(self.fio.as_ref().map(|fio| check(&fio.what, fio.line())));
        commands
    }
}

fn check(what: &str, line: String) -> Command {
    Command { when: "check", what: what.into(), line }
}

fn build(what: &str, line: String) -> Command {
    Command { when: "build", what: what.into(), line }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write as _;

    /// hdparm(8) and its file are of ATA, and not of `NVMe`.
    #[test]
    fn caches_of_flash_are_not_hdparm_s() {
        let said = |is_flash: bool, off: CachesOff| {
            let cache_by = CacheBy::of(false, is_flash);
            let plan = Plan { caches_off: Some(off), cache_by, ..plan("md-raid10", 4) };
            let commands = plan.drives();
            let own = commands.iter().find(|command| command.line.contains("hdparm -W0")).unwrap();
            (own.what.clone(), plan.caches_line().map(|(_, text)| text))
        };
        let (why, line) = said(true, CachesOff::Measured);
        assert!(why.contains("a unit of systemd") && !why.contains("hdparm.conf"), "{why}");
        assert!(!why.contains("three times as fast"), "that is of disks: {why}");
        assert!(line.unwrap().contains("`nvme set-feature -f 6`, or `hdparm -W0`"));
        let (why, line) = said(false, CachesOff::Measured);
        assert!(why.contains("hdparm.conf") && why.contains("three times as fast"), "{why}");
        assert!(line.unwrap().contains("(`hdparm -W0`)"));
        assert!(said(false, CachesOff::Asked).0.ends_with("use a udev rule or hdparm.conf"));
    }

    fn plan(level: &str, members: usize) -> Plan<'static> {
        Plan {
            level: level.parse().unwrap(),
            chunk: "64KiB",
            cache: "4096",
            members,
            spares: 0,
            devices: Vec::new(),
            survive: 1,
            caches_off: None,
            remembered: Remembered::Nothing,
            write_mostly: Vec::new(),
            with_bitmap: None,
            requests: Requests::Other,
            near: None,
            region_kib: Some(REGION_KIB),
            scheduler: None,
            read_ahead_kib: None,
            max_sectors_kib: None,
            cache_by: CacheBy::Ata,
            is_nvme: false,
            is_of_cloud: false,
            volumes: None,
            fio: None,
            file_system: None,
        }
    }

    #[test]
    fn data_members_are_what_holds_data() {
        let data = |level: &str, members| plan(level, members).data_members();
        assert_eq!([data("md-stripe", 4), data("md-raid5", 4), data("md-raid6", 8)], [4, 3, 6]);
        assert_eq!(
            [data("md-raid10", 8), data("md-raid10-n3", 6), data("md-mirror", 2)],
            [4, 2, 1]
        );
    }

    fn chosen(kind: &'static str, block_bytes: Option<u64>, options: &str) -> ChosenFileSystem {
        ChosenFileSystem {
            kind,
            block_bytes,
            stripes: Stripes::default(),
            more: String::new(),
            options: options.into(),
        }
    }

    /// Both AWS and Azure say so: a volume that was taken away would keep the machine from starting.
    #[test]
    fn a_machine_starts_without_its_cloud_s_volumes() {
        let table = |is_of_cloud: bool| {
            let plan = Plan { is_of_cloud, ..plan("md-raid5", 4) };
            let lines = plan.commands().into_iter().map(|command| command.line);
            lines.filter(|line| line.contains("/etc/fstab")).collect::<String>()
        };
        assert!(table(true).contains(" noatime,nofail 0 2"), "{}", table(true));
        assert!(table(false).contains(" noatime 0 2"), "{}", table(false));
    }

    /// What a shell is given, to the letter.
    #[test]
    fn commands_are_exact() {
        let write = |text: &mut String, plan: &Plan<'_>| {
            writeln!(text, "# {} on {}", plan.level, plan.members).unwrap();
            for Command { when, what, line } in plan.commands() {
                writeln!(text, "# {when}: {what}\n{line}").unwrap();
            }
        };
        let mut text = String::new();
        for (level, members) in [
            ("md-stripe", 4),
            ("md-mirror", 2),
            ("md-raid10", 8),
            ("md-raid10-f2", 4),
            ("md-raid10-n3", 6),
            ("md-raid10-f3", 6),
            ("md-raid10-n4", 8),
            ("md-raid5", 4),
            ("md-raid6", 8),
            ("md-raid60-2", 24),
            ("md-raid50-2", 8),
        ] {
            let plan = Plan {
                spares: usize::from(members == 8 && level != "md-raid10-n4"),
                survive: if level == "md-raid10-n4" { 3 } else { 1 },
                caches_off: match level {
                    "md-raid5" => Some(CachesOff::Measured),
                    "md-raid6" => Some(CachesOff::Asked),
                    _ => None,
                },
                with_bitmap: (level == "md-raid6").then(|| "this work is 16 % slower".into()),
                fio: (level == "md-raid6").then(|| Fio {
                    what: "the same work on a file on the array".into(),
                    options: Some(
                        "--name=check --filename=/srv/check --size=64g --direct=0 --end_fsync=1 --rw=write --bs=1m".into(),
                    ),
                }),
                ..plan(level, members)
            };
            write(&mut text, &plan);
        }
        for plan in [
            Plan { file_system: Some(chosen("btrfs", None, "")), ..plan("btrfs-raid10", 4) },
            Plan { file_system: Some(chosen("btrfs", None, "compress")), ..plan("btrfs-raid0", 2) },
            Plan {
                file_system: Some(chosen("ext4", Some(1024), "")),
                remembered: Remembered::Parity,
                ..plan("md-raid5", 4)
            },
            Plan { file_system: Some(chosen("f2fs", None, "noatime")), ..plan("md-stripe", 4) },
            Plan {
                file_system: Some(chosen("xfs", None, "")),
                remembered: Remembered::Parts,
                scheduler: Some("none"),
                read_ahead_kib: Some(4096),
                max_sectors_kib: Some(512),
                caches_off: Some(CachesOff::Asked),
                cache_by: CacheBy::NvmeOrAta,
                ..plan("md-raid10-n3", 8)
            },
        ] {
            write(&mut text, &plan);
        }
        assert_eq!(text, include_str!("../tests/commands.txt"));
    }

    /// The listing's names stand in the commands, and nothing of a name that a shell would take apart.
    #[test]
    fn disks_have_the_names_of_the_listing() {
        let of = |names: &[&str]| {
            let devices = names.iter().map(ToString::to_string).collect();
            Plan { devices, ..plan("md-mirror", 2) }.named_drives("/dev/sdb").line
        };
        assert_eq!(of(&["/dev/sdc", "/dev/nvme0n1"]), "disks=\"/dev/sdc /dev/nvme0n1\"");
        let others =
            ["/dev/mapper/36000c29e", "/dev/disk/by-id/ata-WDC_WD121KRYZ-01W0RB0_5PG1AAAA"];
        assert_eq!(of(&others), format!("disks=\"{}\"", others.join(" ")));
        let open = "disks=\"…\"   # the 2 devices, as in /dev/sdb";
        for other in ["/dev/sd$(reboot)", "/dev/../sda", "/dev/", "sdd", ""] {
            assert_eq!(of(&["/dev/sdc", other]), open, "{other}");
        }
        for names in [&["/dev/sdc"][..], &[]] {
            assert_eq!(of(names), open, "{names:?}");
        }
        // Those of EBS have no such name on Nitro instances.
        let asked = crate::question::tests::question("2x ebs-gp3[size=500GiB]", "postgres", 1);
        let volumes = crate::commands::volumes(&asked.drives.drive, 2);
        let ebs = Plan { volumes, ..plan("md-mirror", 2) };
        let lines: Vec<String> = ebs.drives().into_iter().map(|of| of.line).collect();
        let named = lines.iter().find(|line| line.starts_with("disks=")).unwrap();
        assert!(named.contains("/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_vol"), "{named}");
    }

    /// Two volumes that a machine had were to be made by Terraform, which makes two more.
    #[test]
    fn volumes_that_are_there_are_not_rented_again() {
        let asked = crate::question::tests::question("2x ebs-gp3[size=500GiB]", "postgres", 1);
        let volumes = crate::commands::volumes(&asked.drives.drive, 2);
        let first = |devices: &[&str]| {
            let devices = devices.iter().map(ToString::to_string).collect();
            let plan = Plan { volumes: volumes.clone(), devices, ..plan("md-mirror", 2) };
            plan.commands().remove(0).what
        };
        assert_eq!(first(&[]), "volumes.tf, for `terraform apply`");
        let there = first(&["/dev/nvme1n1", "/dev/nvme2n1"]);
        assert!(there.starts_with("your drives, as the listing"), "{there}");
    }

    /// `hdparm -W0` fails on SAS, and the commands ended there, before the array.
    #[test]
    fn caches_on_sas_are_turned_off_by_scsis_command() {
        let line = |is_scsi: bool| {
            let plan = Plan {
                caches_off: Some(CachesOff::Measured),
                cache_by: CacheBy::of(is_scsi, false),
                ..plan("md-raid10", 4)
            };
            let commands = plan.drives();
            let own = commands.iter().find(|of| of.line.starts_with("for disk in")).unwrap();
            (own.line.clone(), own.what.clone(), plan.caches_line().unwrap().1)
        };
        let (line_of_sas, why, said) = line(true);
        assert_eq!(line_of_sas, "for disk in $disks; do sdparm --clear=WCE --save $disk; done");
        assert!(why.contains("keep that (`--save`)") && !why.contains("hdparm"), "{why}");
        assert!(said.contains("(`sdparm --clear=WCE`)"), "{said}");
        assert!(line(false).0.contains("hdparm -W0"));
    }

    /// Red Hat, SUSE and Arch have no /etc/mdadm: the line failed, and no file system was made. Each root here has only what its
    /// system has.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "folders of this test")]
    fn the_configuration_is_where_the_system_has_it() {
        use std::process::Command as Process;
        let lines = plan("md-raid5", 4).build();
        let line = &lines.iter().find(|of| of.what.starts_with("add it to")).unwrap().line;
        let root = std::env::temp_dir().join(format!("ileave-mdadm-{}", std::process::id()));
        for (folder, file) in [("etc/mdadm", "etc/mdadm/mdadm.conf"), ("etc", "etc/mdadm.conf")] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
            let here = line.replace("/etc/", &format!("{}/etc/", root.display()));
            let script = format!("mdadm() {{ echo ARRAY; }}; set -e; {here}; echo on");
            for shell in ["sh", "bash"] {
                let said = Process::new(shell).args(["-c", &script]).output().unwrap();
                assert_eq!(String::from_utf8_lossy(&said.stdout), "on\n", "{shell}: {said:?}");
            }
            assert_eq!(std::fs::read_to_string(root.join(file)).unwrap(), "ARRAY\nARRAY\n");
            std::fs::remove_dir_all(&root).unwrap();
        }
    }

    /// `/dev/sdb` is the temporary disk of a machine on Azure.
    #[test]
    fn volumes_of_a_cloud_are_named_as_it_names_them() {
        for (name, own) in [
            ("azure-p30", "/dev/disk/azure/scsi1/lun0"),
            ("gcp-pd-ssd", "/dev/disk/by-id/google-data-0"),
            ("oci-balanced[size=1TiB]", "/dev/oracleoci/oraclevdb"),
        ] {
            let volumes = volumes(&lab::catalogue::drive(name).unwrap(), 2);
            assert!(volumes.is_some(), "{name}");
            let example = Plan { volumes, ..plan("md-mirror", 2) }.example();
            assert!(example.starts_with(own), "{name}: {example}");
        }
        let of_drive = |name: &str| {
            let is_nvme = is_nvme(&lab::catalogue::drive(name).unwrap());
            Plan { is_nvme, ..plan("md-mirror", 2) }.example()
        };
        assert_eq!(of_drive("980 pro 1tb"), "/dev/nvme1n1");
        assert_eq!([of_drive("st18000nm000j"), of_drive("d3-s4610-480gb")], ["/dev/sdb"; 2]);
    }
}
