//! Which link a flash drive has, and what that says of its queue.

use super::{Cell, Fitting, Given, Source};
use crate::error::{Error, Result};

/// How a flash drive is attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interface {
    /// SATA: 32 commands, one direction at a time.
    Sata,
    /// `NVMe` over PCI Express: many commands, both directions at once.
    Nvme,
}

impl Interface {
    /// Their words.
    pub const WORDS: [&'static str; 2] = ["sata", "nvme"];

    /// The interface that is called `word`.
    pub fn of_word(word: &str) -> Option<Interface> {
        match word {
            "sata" => Some(Interface::Sata),
            "nvme" => Some(Interface::Nvme),
            _ => None,
        }
    }

    /// As given. A device that is called so or takes more commands than SATA says it itself; of others what they move
    /// does.
    pub(super) fn of(used: &[Cell], given: &Given) -> Interface {
        let is_nvme = used.iter().any(|cell| cell.device.to_ascii_lowercase().contains("nvme"))
            || given.queue_depth.is_some_and(|depth| depth > SATA_COMMANDS);
        let guess =
            if is_nvme || most_mb(used) > SATA_MB_MAX { Interface::Nvme } else { Interface::Sata };
        given.interface.unwrap_or(guess)
    }

    /// Controller time of a read where no cell says it, in us, and of what drives.
    pub(crate) fn read_command_us(self) -> (&'static str, &'static str) {
        match self {
            Interface::Sata => ("10", "no cell of reads; of SATA drives in general"),
            Interface::Nvme => ("2", "no cell of reads; of NVMe drives in general"),
        }
    }
}

/// The most that any cell moves, in MB/s.
fn most_mb(used: &[Cell]) -> f64 {
    used.iter().map(Cell::bytes_per_s).fold(0.0, f64::max) / 1e6
}

/// Commands that a SATA drive takes at a time.
const SATA_COMMANDS: u32 = 32;

/// What SATA carries in measurements, in MB/s, of 600 on the wire.
const SATA_MB_MAX: f64 = 575.0;

/// Four lanes of `NVMe` drives: what the wire carries in MB/s (8, 16 and 32 GT/s a lane in codes of 130 bits for 128), and
/// what is assumed that they make of it.
const PCIE: [(f64, f64, &str); 3] = [
    (3938.0, 3500.0, "PCIe 3.0 x4"),
    (7877.0, 7000.0, "PCIe 4.0 x4"),
    (15_754.0, 14_000.0, "PCIe 5.0 x4"),
];

/// Adds the link's rates, its directions and the queue's depth.
///
/// # Errors
///
/// Where more was moved than the given interface carries.
pub(super) fn add(fitting: &mut Fitting, used: &[Cell], interface: Interface) -> Result<()> {
    let most_mb = most_mb(used);
    let (rate_mb, what) = match interface {
        Interface::Sata if most_mb > 600.0 => {
            return Err(Error::input(format!(
                "`--interface` sata carries 600 MB/s, and these results have {most_mb:.0}; give nvme"
            )));
        }
        Interface::Sata => (560.0, "SATA"),
        Interface::Nvme => {
            let link = PCIE.into_iter().find(|(wire_mb, ..)| most_mb <= *wire_mb);
            link.map_or((most_mb, "more than PCIe 5.0 x4"), |(_, rate_mb, what)| (rate_mb, what))
        }
    };
    let rate_mb = rate_mb.max(most_mb.ceil());
    fitting.add("read_mb_per_s", rate_mb, Source::Estimate, what);
    fitting.add("write_mb_per_s", rate_mb, Source::Estimate, what);
    let (depth, what) = match interface {
        Interface::Sata => {
            fitting.add("half_duplex", true, Source::Estimate, "SATA: one direction at a time");
            (SATA_COMMANDS, "NCQ")
        }
        Interface::Nvme => (1023, "NVMe"),
    };
    if !fitting.has("queue_depth") {
        fitting.add("queue_depth", depth, Source::Estimate, what);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::fit;
    use super::*;
    use crate::catalogue::Model;

    /// Rate in MB/s, queue and whether one direction at a time, of a drive that reads and writes so many MB/s.
    fn link(name: &str, mb_per_s: f64, interface: Option<Interface>) -> Result<(f64, u32, bool)> {
        let given = Given {
            name: Some(name.into()),
            interface,
            read_iops: Some(90_000.0),
            read_mb_per_s: Some(mb_per_s),
            write_mb_per_s: Some(mb_per_s - 30.0),
            ..Given::default()
        };
        let Model::Flash(flash) = fit(&[], &given)?.drive.model else { panic!("flash is fitted") };
        let figures = flash.figures;
        assert_eq!(figures.read_mb_per_s.to_bits(), figures.write_mb_per_s.to_bits());
        Ok((figures.read_mb_per_s, figures.queue_depth, figures.half_duplex))
    }

    #[test]
    fn what_a_drive_moves_or_its_name_says_how_it_is_attached() {
        use Interface::{Nvme, Sata};
        for (name, mb_per_s, given, expected) in [
            ("A 1TB", 540.0, None, (560.0, 32, true)),
            ("A 1TB", 571.8, None, (572.0, 32, true)),
            ("A 1TB", 580.0, None, (3500.0, 1023, false)),
            ("A 1TB", 580.0, Some(Sata), (580.0, 32, true)),
            ("A 1TB", 330.0, Some(Nvme), (3500.0, 1023, false)),
            ("A nvme 1TB", 330.0, None, (3500.0, 1023, false)),
            ("A 1TB", 3541.0, None, (3541.0, 1023, false)),
            // What a PCIe 4.0 drive of 7450 MB/s makes, its link makes.
            ("A 1TB", 7450.0, None, (7450.0, 1023, false)),
            ("A 1TB", 7900.0, None, (14_000.0, 1023, false)),
            ("A 1TB", 20_000.0, None, (20_000.0, 1023, false)),
        ] {
            assert_eq!(link(name, mb_per_s, given).unwrap(), expected, "{name} {mb_per_s}");
        }
        let error = link("A 1TB", 3000.0, Some(Sata)).unwrap_err().to_string();
        assert!(error.contains("sata carries 600 MB/s, and these results have 3000"), "{error}");
    }
}
