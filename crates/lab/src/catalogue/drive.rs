//! A drive of the catalogue: what drives of every class have. Each class is a file of `drive/`: its figures, and the
//! model that follows from them.

mod cloud;
mod disk;
mod flash;
mod ideal_disk;
mod ideal_flash;
mod instance;
mod smr;

pub use cloud::shared::{Shared, shared};
pub use cloud::{Cloud, CloudFigures, Credit};
pub(crate) use disk::ZONES_BY_DEFAULT;
pub use disk::{Disk, DiskFigures, QueueDiscipline};
pub use flash::{FillState, Flash, FlashFigures};
pub use ideal_disk::{IdealDisk, IdealDiskFigures};
pub use ideal_flash::{IdealFlash, IdealFlashFigures};
pub use smr::{MediaCache, Shingled, ShingledFigures};

use super::declare::figures;
use super::figure::{Cited, Kind, Shape, count, figure};
use super::listing::{Derived, Row};
use super::provisioned::Provisioned;
use super::sheet::{Class, Figures, Sheet, wrong};
use crate::error::{Error, Result};
use crate::keys::{Takes, choice, condition, keys};
pub(super) use cloud::sold;
use sim::drive::DriveModel;
use sim::{Device, Nanos};
use store::known::Promise;

figures! {
    /// The figures of every drive.
    pub struct DriveFigures {
        /// year of introduction
        year: Option<u64> = figure("year", "", count(1950, 2100))
            .or("not known"),
        /// price of one drive
        price_usd: Option<f64> = figure("price_usd", "US$", Shape::Number(0.0..=1e7))
            .or("not known"),
        /// capacity in 512-byte sectors
        sectors: u64 = figure("sectors", "sectors", count(1, 1 << 40)),
        /// how far the model's service times lie from measured ones, as `ileave validate` says; smaller differences
        /// are ties
        model_error_percent: Option<f64> = figure("model_error_percent", "%", Shape::Number(0.0..=100.0))
            .or("that of the worst measured: 5.1 of disks, 9 of flash"),
        /// it is a disk of a cloud instance's host: what stops the instance erases it
        goes_with_instance: bool = figure("goes_with_instance", "", Shape::Switch).default("false"),
    }
}

/// What a drive is, by its class.
#[derive(Clone, Debug)]
pub enum Model {
    /// An ideal disk, with an arm and nothing else.
    IdealDisk(IdealDisk),
    /// An ideal flash drive.
    IdealFlash(IdealFlash),
    /// A disk with platters and an arm.
    Disk(Box<Disk>),
    /// A shingled disk.
    Shingled(Box<Shingled>),
    /// A flash drive.
    Flash(Box<Flash>),
    /// A cloud volume.
    Cloud(Box<Cloud>),
}

impl Model {
    fn of(&self) -> &dyn ClassModel {
        match self {
            Model::IdealDisk(disk) => disk,
            Model::IdealFlash(flash) => flash,
            Model::Disk(disk) => &**disk,
            Model::Shingled(disk) => &**disk,
            Model::Flash(flash) => &**flash,
            Model::Cloud(cloud) => &**cloud,
        }
    }

    fn of_mut(&mut self) -> &mut dyn ClassModel {
        match self {
            Model::IdealDisk(disk) => disk,
            Model::IdealFlash(flash) => flash,
            Model::Disk(disk) => &mut **disk,
            Model::Shingled(disk) => &mut **disk,
            Model::Flash(flash) => &mut **flash,
            Model::Cloud(cloud) => &mut **cloud,
        }
    }
}

/// What a class says of a drive. A new class implements it in its file, and nobody else asks for the class.
trait ClassModel {
    /// Takes in what the keys of an experiment change.
    fn change(&mut self, keys: &DriveKeys);

    /// The drive as the simulator has it, as it now is; what is left to chance in it follows from `seed`.
    fn build(&self, seed: u64) -> Result<Built>;

    /// What it cannot exceed.
    fn limits(&self) -> Result<Limits>;

    /// The least rates at which it moves data, in bytes a second, each with the figure that says so.
    fn slowest_bytes_per_s(&self) -> Result<Vec<(&'static str, u64)>>;

    /// At what all of it can be copied in order onto another of its kind, in bytes a second, at its start and at its
    /// end.
    fn copied_bytes_per_s(&self) -> Result<(f64, f64)> {
        let rate = self.limits()?.media_bytes_per_s;
        Ok((rate, rate))
    }

    /// Whether it acknowledges a write before the write is durable.
    fn write_cache(&self) -> bool;

    /// Among how many commands it chooses.
    fn queue_depth(&self) -> usize;

    /// Whether Linux takes it for a disk that turns.
    fn is_rotational(&self) -> bool {
        false
    }

    /// Whether it writes sectors of 4096 bytes, whatever it lets be addressed.
    fn has_large_sectors(&self) -> bool {
        false
    }

    /// Whether a Linux of today is in front of it where nobody says what is.
    fn is_of_today(&self) -> bool {
        !self.is_rotational() || self.has_large_sectors()
    }

    /// How it is filled when a run begins, or what burst credit it has; none where that makes no difference.
    fn state(&self) -> Option<&'static str> {
        None
    }

    /// Whether the host's limits on network storage hold for it.
    fn is_remote(&self) -> bool {
        false
    }

    /// The figures that make the time of `reads`, `writes` and `flushes`, where files without a measurement have guesses
    /// for them that say little of the drive.
    fn rates(&self) -> &'static [(&'static str, &'static [&'static str])] {
        &[]
    }

    /// What its data sheet promises, beside the most that it makes.
    fn promised(&self) -> Vec<Promise> {
        Vec::new()
    }

    /// Its line in the list of drives; none for a model of no real drive.
    fn row(&self, drive: &Drive) -> Result<Option<Row>>;

    /// What follows from its figures.
    fn derived(&self, _: &Drive) -> Result<Vec<Derived>> {
        Ok(vec![])
    }
}

/// A drive as the simulator has it.
pub(crate) enum Built {
    /// A disk, which shares buses with others.
    Disk(Box<DriveModel>),
    /// A device with a link of its own.
    Alone(Box<dyn Device>),
}

/// What a drive cannot exceed, whatever it is asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// What goes to or comes from its medium, in bytes a second.
    pub media_bytes_per_s: f64,
    /// What its interface carries, in bytes a second.
    pub interface_bytes_per_s: f64,
    /// What its buffers hold for reads, in sectors.
    pub read_cache_sectors: u64,
    /// What it takes before writes go at the pace of its medium, in sectors.
    pub write_cache_sectors: u64,
    /// Whether it takes commands in another order than they come in.
    pub reorders: bool,
}

/// A class of drives.
pub(super) struct DriveClass {
    /// The word of `class` in a file.
    pub(super) name: &'static str,
    /// What the documentation calls its figures.
    pub(super) title: &'static str,
    /// Its own figures.
    pub(super) figures: &'static [super::Figure],
    /// The keys of [`DriveKeys`] that change something of it.
    keys: &'static [&'static str],
    /// What can be given in brackets behind its name, and the figure that says it.
    pub(super) provisioned: &'static [(&'static str, &'static str)],
    /// All figures of its files.
    pub(super) all: Figures,
    /// Makes the model of the figures, and checks that a drive can be that way.
    read: fn(&Sheet, &DriveFigures) -> Result<Model>,
}

/// All classes of drives; a file that does not say is of the first.
pub(super) static CLASSES: &[DriveClass] =
    &[disk::CLASS, smr::CLASS, flash::CLASS, cloud::CLASS, ideal_disk::CLASS, ideal_flash::CLASS];

/// The classes, for the reader of files.
pub(super) fn classes() -> Vec<Class> {
    CLASSES.iter().map(|class| (class.name, class.all)).collect()
}

/// The classes whose drives take a key of [`DriveKeys`].
pub fn classes_with(key: &str) -> Vec<&'static str> {
    CLASSES.iter().filter(|class| class.keys.contains(&key)).map(|class| class.name).collect()
}

keys! {
    /// The keys of `drive`: what an experiment changes of all drives.
    pub struct DriveKeys {
        /// Drive write-back cache [default: as the drive was used]
        write_cache: Option<bool> = choice("write_cache", Takes::Switch),
        /// Drive read-ahead [default: the drive's own]
        read_ahead: Option<bool> = choice("read_ahead", Takes::Switch),
        /// Zero-latency access (start a track at any sector) [default: the drive's own]
        zero_latency: Option<bool> = condition("zero_latency", Takes::Switch),
        /// Order in which the drive takes the commands in its queue: by age, by sector, or the soonest reached [default:
        /// the drive's own]
        queue_discipline: Option<QueueDiscipline> =
            condition("queue_discipline", QueueDiscipline::TAKES),
        /// Commands in the drive's queue (tags, NCQ) [default: the drive's own]
        queue_depth: Option<u32> = choice("queue_depth", Takes::Count(1, 65_536)),
        /// How flash drives were filled before the run [default: as they were measured]
        state: Option<FillState> = condition("state", FillState::TAKES),
        /// Burst credit of cloud volumes when the run begins: spent, which is what lasts, or full [default: spent]
        credit: Option<Credit> = condition("credit", Credit::TAKES),
        /// What the media caches of shingled disks hold when the run begins: as many random writes as they keep, which is
        /// what lasts, or nothing [default: filled]
        media_cache: Option<MediaCache> = condition("media_cache", MediaCache::TAKES),
    }
}

/// A drive of the catalogue, or of a file in the same format.
#[derive(Clone, Debug)]
pub struct Drive {
    /// Its name in the catalogue, or the path of its file.
    pub name: String,
    /// What people call it.
    pub title: String,
    /// A hash of its file.
    pub digest: String,
    /// What drives of every class have.
    pub figures: DriveFigures,
    /// What it is, by its class.
    pub model: Model,
    pub(super) sheet: Sheet,
}

impl Drive {
    /// Reads a drive from the text of its file, and checks that a drive can be that way.
    pub(super) fn read(name: &str, label: &str, text: &str) -> Result<Self> {
        Drive::of(name.into(), Sheet::read(label, text, &classes())?, Provisioned::default())
    }

    /// The drive of a file, as it is `provisioned`; checks that a drive can be that way.
    pub(super) fn of(name: String, mut sheet: Sheet, provisioned: Provisioned) -> Result<Self> {
        let name = provisioned.of(name);
        provisioned.into_sheet(&mut sheet)?;
        // Only results of the drive alone, which say so, are worth giving up as predictions.
        let is_its_own = |cited: &Cited| cited.fitted_to.iter().all(|c| c.at.contains_key("drive"));
        let anothers = |cited: &Cited| cited.kind == Kind::Fitted && !is_its_own(cited);
        if let Some((figure, _)) = sheet.figures.iter().find(|(_, cited)| anothers(cited)) {
            let why = "a drive's figures do not come from the results they are to predict";
            let next = "cite a source of its own, or name rows of this drive: `at = { drive = … }`";
            return Err(wrong(&sheet.label, figure.key, format!("{why}; {next}")));
        }
        let figures = DriveFigures::read(&sheet);
        let class = CLASSES.iter().find(|class| class.name == sheet.class);
        let model = (class.expect("a sheet is of one of the classes").read)(&sheet, &figures)?;
        Ok(Drive {
            name,
            title: sheet.title.clone(),
            digest: sheet.digest.clone(),
            figures,
            model,
            sheet,
        })
    }

    /// The drive with what the keys of an experiment change of all drives.
    #[must_use]
    pub fn with(mut self, keys: &DriveKeys) -> Self {
        self.model.of_mut().change(keys);
        self
    }

    /// Whether a key of [`DriveKeys`] changes something of it.
    pub fn takes(&self, key: &str) -> bool {
        CLASSES.iter().any(|class| class.name == self.sheet.class && class.keys.contains(&key))
    }

    /// The word of `class` in its file.
    pub fn class(&self) -> &'static str {
        self.sheet.class
    }

    /// The disk that it is.
    ///
    /// # Errors
    ///
    /// Where it is a drive of another class.
    pub fn disk(&self) -> Result<&Disk> {
        match &self.model {
            Model::Disk(disk) => Ok(&**disk),
            _ => Err(self.is_no("disk")),
        }
    }

    /// The flash drive that it is.
    ///
    /// # Errors
    ///
    /// Where it is a drive of another class.
    pub fn flash(&self) -> Result<&Flash> {
        match &self.model {
            Model::Flash(flash) => Ok(&**flash),
            _ => Err(self.is_no("flash drive")),
        }
    }

    /// Whether it takes SCSI's commands and not ATA's, where its file names the interface.
    pub fn is_scsi(&self) -> bool {
        let note = self.sheet.note("interface_mb_per_s").unwrap_or_default();
        note.split(|c: char| !c.is_alphanumeric()).any(|word| ["SAS", "SCSI"].contains(&word))
    }

    /// What its file notes of its price: when it was paid.
    pub fn price_note(&self) -> Option<&str> {
        self.sheet.note("price_usd")
    }

    /// The cloud volume that it is.
    ///
    /// # Errors
    ///
    /// Where it is a drive of another class.
    pub fn cloud(&self) -> Result<&Cloud> {
        match &self.model {
            Model::Cloud(cloud) => Ok(&**cloud),
            _ => Err(self.is_no("cloud volume")),
        }
    }

    /// Whether the host's limits on network storage hold for it.
    pub fn is_remote(&self) -> bool {
        self.model.of().is_remote()
    }

    /// Whether its limits follow from its size, and that is its file's example: nobody has said which size it is of.
    pub fn has_an_examples_limits(&self) -> bool {
        let follows = |key: &str| self.sheet.gives(key);
        !self.sheet.is_known("sectors") && cloud::OF_THE_SIZE.iter().copied().any(follows)
    }

    /// How it is filled when a run begins, or what burst credit it has; none where that makes no difference.
    pub fn state(&self) -> Option<&'static str> {
        self.model.of().state()
    }

    /// `reads`, `writes`, `long writes` and `flushes`, where all figures that make their time are estimates, or there are none.
    pub fn guessed(&self) -> impl Iterator<Item = &'static str> + '_ {
        let is_known = |key: &&str| self.sheet.is_known(key);
        let rates = self.model.of().rates().iter();
        rates.filter(move |(_, keys)| !keys.iter().any(is_known)).map(|(what, _)| *what)
    }

    /// Whether it holds what it read, and how its buffer is divided is an estimate.
    pub fn has_guessed_buffer(&self) -> bool {
        let is_guess = |key: &str| self.sheet.gives(key) && !self.sheet.is_known(key);
        self.has_spindle() && ["buffer_segments", "segment_sectors"].iter().any(|key| is_guess(key))
    }

    /// What its data sheet promises, beside the most that its model makes.
    pub fn promised(&self) -> Vec<Promise> {
        self.model.of().promised()
    }

    fn is_no(&self, class: &str) -> Error {
        Error::input(format!(
            "{} is of the class `{}`, and no {class}",
            self.name, self.sheet.class
        ))
    }

    /// Whether it is on a bus with others, as disks are; other drives have a link each.
    pub fn shares_buses(&self) -> bool {
        matches!(self.model, Model::Disk(_))
    }

    /// Whether Linux takes it for a disk that turns.
    pub fn is_rotational(&self) -> bool {
        self.model.of().is_rotational()
    }

    /// Whether it has a spindle, which stands as the seed says when a trial begins.
    pub fn has_spindle(&self) -> bool {
        matches!(self.model, Model::Disk(_) | Model::Shingled(_))
    }

    /// Whether it writes sectors of 4096 bytes, whatever it lets be addressed.
    pub fn has_large_sectors(&self) -> bool {
        self.model.of().has_large_sectors()
    }

    /// Whether a Linux of today is in front of it where nobody says what is.
    pub fn is_of_today(&self) -> bool {
        self.model.of().is_of_today()
    }

    /// Capacity, in 10^9 bytes.
    fn gigabytes(&self) -> f64 {
        self.sectors() as f64 * block::SECTOR_BYTES as f64 / 1e9
    }

    /// Sectors that can be addressed.
    pub fn sectors(&self) -> u64 {
        self.figures.sectors
    }

    /// Whether it acknowledges a write before the write is durable.
    pub fn write_cache(&self) -> bool {
        self.model.of().write_cache()
    }

    /// Among how many commands it chooses.
    pub fn queue_depth(&self) -> usize {
        self.model.of().queue_depth()
    }

    /// The drive as the simulator has it; what is left to chance in it follows from `seed`. One without moving parts answers
    /// `sooner_ns` sooner than its file says, where programs reach it faster than those that it was measured with.
    ///
    /// # Errors
    ///
    /// Where it cannot be built as it now is, after [`Drive::with`].
    pub(crate) fn build(&self, seed: u64, sooner_ns: Nanos) -> Result<Built> {
        match &self.model {
            Model::Flash(flash) if sooner_ns > 0 => flash.build_sooner(sooner_ns),
            _ => self.model.of().build(seed),
        }
    }

    /// Whether it can be built as it now is, after [`Drive::with`].
    ///
    /// # Errors
    ///
    /// Where it cannot.
    pub fn check(&self) -> Result<()> {
        self.limits().map(drop)
    }

    /// Its line in the list of drives; none for a model of no real drive.
    ///
    /// # Errors
    ///
    /// Where its figures make no drive.
    pub fn row(&self) -> Result<Option<Row>> {
        self.model.of().row(self)
    }

    /// What follows from its figures.
    pub(super) fn derived(&self) -> Result<Vec<Derived>> {
        self.model.of().derived(self)
    }

    /// What it cannot exceed.
    ///
    /// # Errors
    ///
    /// Where it cannot be built.
    pub fn limits(&self) -> Result<Limits> {
        self.model.of().limits()
    }

    /// All that people call it: its name, its title, and its other names.
    pub fn names(&self) -> Vec<String> {
        let mut names = vec![self.name.clone(), self.title.clone()];
        names.extend(self.sheet.also.iter().cloned());
        names
    }

    /// At what all of it can be copied onto another of its kind, in bytes a second, at its start and at its end.
    ///
    /// # Errors
    ///
    /// Where it cannot be built.
    pub fn copied_bytes_per_s(&self) -> Result<(f64, f64)> {
        self.model.of().copied_bytes_per_s()
    }

    /// The least rates at which it moves data, in bytes a second, each with the figure that says so.
    ///
    /// # Errors
    ///
    /// Where it cannot be built.
    pub fn slowest_bytes_per_s(&self) -> Result<Vec<(&'static str, u64)>> {
        self.model.of().slowest_bytes_per_s()
    }
}
