//! Cloud volumes as blocks of Terraform, each with its attachment to a machine.
//!
//! Names of resources and arguments are those of the providers' documentation: hashicorp/aws, hashicorp/google,
//! hashicorp/azurerm and oracle/oci. What else they need is a variable, declared here and left to whoever applies it.

use block::SECTOR_BYTES;
use lab::catalogue::Drive;
use std::fmt::Write as _;

/// An argument of a block, and its value as it is written.
type Argument = (&'static str, String);

const GIB: u64 = 1 << 30;
const BYTES_PER_MIB: f64 = 1_048_576.0;
/// What is lost where a whole rate is converted.
const NEARLY: f64 = 1e-6;

/// `count` volumes of the catalogue's kind; none for drives that nobody rents.
pub(crate) fn volumes(drive: &Drive, count: usize) -> Option<String> {
    let cloud = drive.cloud().ok()?;
    let name = drive.name.split('[').next()?;
    let (provider, kind) = name.split_once('-')?;
    let volume = Volume {
        kind,
        count,
        gib: (drive.sectors() * SECTOR_BYTES).div_ceil(GIB),
        iops: cloud.figures.iops,
        mb_per_s: cloud.figures.mb_per_s,
    };
    match provider {
        "ebs" => Some(volume.aws()),
        "gcp" => Some(volume.google()),
        "azure" => Some(volume.azure()),
        "oci" => Some(volume.oracle()),
        _ => None,
    }
}

/// What is asked of a provider.
struct Volume<'a> {
    /// The rest of its name in the catalogue: `gp3`, `hyperdisk-balanced`, `p30`.
    kind: &'a str,
    count: usize,
    gib: u64,
    iops: Option<f64>,
    mb_per_s: Option<f64>,
}

impl Volume<'_> {
    fn aws(&self) -> String {
        let mut volume = vec![
            ("availability_zone", "var.availability_zone".into()),
            ("type", quoted(self.kind)),
            ("size", self.gib.to_string()),
        ];
        if matches!(self.kind, "gp3" | "io1" | "io2") {
            volume.extend(provisioned("iops", self.iops));
        }
        if self.kind == "gp3" {
            volume.extend(self.throughput("throughput"));
        }
        // Amazon's names for volumes: f to p where they suffice, else two letters.
        let device = if self.count <= 11 {
            r#""/dev/sd${substr("fghijklmnop", count.index, 1)}""#
        } else {
            r#""/dev/xvd${substr("bc", floor(count.index / 26), 1)}${substr("abcdefghijklmnopqrstuvwxyz", count.index % 26, 1)}""#
        };
        let attachment = vec![
            ("device_name", device.into()),
            ("volume_id", "aws_ebs_volume.data[count.index].id".into()),
            ("instance_id", "var.instance_id".into()),
        ];
        self.blocks(
            &["availability_zone", "instance_id"],
            [("aws_ebs_volume", volume), ("aws_volume_attachment", attachment)],
        )
    }

    fn google(&self) -> String {
        let mut volume = vec![
            ("name", quoted("data-${count.index}")),
            ("zone", "var.zone".into()),
            ("type", quoted(self.kind)),
            ("size", self.gib.to_string()),
        ];
        if matches!(self.kind, "hyperdisk-balanced" | "hyperdisk-extreme") {
            volume.extend(provisioned("provisioned_iops", self.iops));
        }
        if matches!(self.kind, "hyperdisk-balanced" | "hyperdisk-throughput") {
            volume.extend(self.throughput("provisioned_throughput"));
        }
        let attachment = vec![
            ("disk", "google_compute_disk.data[count.index].id".into()),
            ("device_name", quoted("data-${count.index}")),
            ("instance", "var.instance_id".into()),
        ];
        self.blocks(
            &["zone", "instance_id"],
            [("google_compute_disk", volume), ("google_compute_attached_disk", attachment)],
        )
    }

    fn azure(&self) -> String {
        let is_second = self.kind == "premium-ssd-v2";
        let mut volume = vec![
            ("name", quoted("data-${count.index}")),
            ("resource_group_name", "var.resource_group_name".into()),
            ("location", "var.location".into()),
            (
                "storage_account_type",
                quoted(if is_second { "PremiumV2_LRS" } else { "Premium_LRS" }),
            ),
            ("create_option", quoted("Empty")),
            ("disk_size_gb", self.gib.to_string()),
        ];
        let mut variables = vec!["resource_group_name", "location", "instance_id"];
        if is_second {
            variables.push("zone");
            volume.push(("zone", "var.zone".into()));
            volume.extend(provisioned("disk_iops_read_write", self.iops));
            volume.extend(provisioned("disk_mbps_read_write", self.mb_per_s));
        }
        let attachment = vec![
            ("managed_disk_id", "azurerm_managed_disk.data[count.index].id".into()),
            ("virtual_machine_id", "var.instance_id".into()),
            ("lun", "count.index".into()),
            // As it is modelled.
            ("caching", quoted("None")),
        ];
        let attached = ("azurerm_virtual_machine_data_disk_attachment", attachment);
        self.blocks(&variables, [("azurerm_managed_disk", volume), attached])
    }

    fn oracle(&self) -> String {
        let volume = vec![
            ("availability_domain", "var.availability_domain".into()),
            ("compartment_id", "var.compartment_id".into()),
            ("size_in_gbs", self.gib.to_string()),
            // Ten units of performance a GB are the level "balanced".
            ("vpus_per_gb", "10".into()),
        ];
        let mut attachment = vec![
            ("attachment_type", quoted("paravirtualized")),
            ("instance_id", "var.instance_id".into()),
            ("volume_id", "oci_core_volume.data[count.index].id".into()),
        ];
        // A name that stays, of which those with one letter suffice for so many.
        if self.count <= 25 {
            let device = r#""/dev/oracleoci/oraclevd${substr("bcdefghijklmnopqrstuvwxyz", count.index, 1)}""#;
            attachment.push(("device", device.into()));
        }
        self.blocks(
            &["availability_domain", "compartment_id", "instance_id"],
            [("oci_core_volume", volume), ("oci_core_volume_attachment", attachment)],
        )
    }

    /// A rate in MiB/s. Consoles show whole ones, and who writes such a number here without a unit asked for fewer.
    fn throughput(&self, name: &'static str) -> Option<Argument> {
        let rate = self.mb_per_s?;
        let mib_per_s = rate * 1e6 / BYTES_PER_MIB;
        let (name, mut value) = provisioned(name, Some(mib_per_s))?;
        let is_whole = |number: f64| (number - number.round()).abs() < NEARLY;
        if is_whole(rate) && !is_whole(mib_per_s) {
            let _ = write!(value, " # = {rate} MB/s; for {rate} MiB/s ask with mb_per_s={rate}MiB");
        }
        Some((name, value))
    }

    /// Variables, then the blocks: each as often as there are volumes.
    fn blocks(&self, variables: &[&str], blocks: [(&str, Vec<Argument>); 2]) -> String {
        let mut text: Vec<String> =
            variables.iter().map(|name| format!("variable \"{name}\" {{}}")).collect();
        for (kind, arguments) in blocks {
            let all = [vec![("count", self.count.to_string())], arguments].concat();
            let width = all.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
            text.push(format!("resource \"{kind}\" \"data\" {{"));
            text.extend(all.iter().map(|(name, value)| format!("  {name:width$} = {value}")));
            text.push("}".into());
        }
        text.join("\n")
    }
}

/// A rate that is paid for; none where the kind has none of its own.
fn provisioned(name: &'static str, rate: Option<f64>) -> Option<Argument> {
    // What is above a limit by less than one is refused, too: 751 MiB/s of gp3 take 3004 I/Os.
    rate.map(|rate| (name, format!("{:.0}", (rate + NEARLY).floor())))
}

fn quoted(text: &str) -> String {
    format!("\"{text}\"")
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab::catalogue;

    /// One of each provider, to the letter.
    #[test]
    fn blocks_are_exact() {
        let mut text = String::new();
        for (name, count) in [
            ("gp3[size=500GiB,iops=6000,mb_per_s=524.288]", 4),
            ("io2[size=1TiB,iops=20000]", 12),
            ("st1[size=2TiB]", 2),
            ("gcp-hyperdisk-balanced[size=500GiB,iops=10000]", 2),
            ("gcp-pd-ssd", 2),
            ("P30", 4),
            ("azure-premium-ssd-v2[size=200GiB,iops=20000,mb_per_s=400]", 2),
            ("oci-balanced[size=1TiB]", 2),
        ] {
            let volumes = volumes(&catalogue::drive(name).unwrap(), count).unwrap();
            writeln!(text, "# {count} x {name}\n{volumes}\n").unwrap();
        }
        assert_eq!(text, include_str!("../../tests/terraform.txt"));
    }

    /// A provider takes whole numbers, and none above its ratio of rate to I/Os.
    #[test]
    fn rates_are_not_rounded_above_a_limit() {
        let of = |name: &str| volumes(&catalogue::drive(name).unwrap(), 2).unwrap();
        let text = of("gp3[size=500GiB,iops=3003,mb_per_s=787.2]");
        assert!(text.contains("throughput        = 750\n"), "{text}");
        let text = of("gp3[size=500GiB,iops=4000,mb_per_s=524.288]");
        assert!(text.contains("throughput        = 500\n"), "{text}");
        // 953 came of 1000 without a word.
        let text = of("gp3[size=500GiB,iops=4000,mb_per_s=1000]");
        let said =
            "throughput        = 953 # = 1000 MB/s; for 1000 MiB/s ask with mb_per_s=1000MiB\n";
        assert!(text.contains(said), "{text}");
        assert!(of("gp3[size=500GiB,iops=4000,mb_per_s=1000MiB]").contains("= 1000\n"));
    }

    /// Every cloud volume of the catalogue has its blocks, and nothing else has.
    #[test]
    fn what_is_rented_has_blocks() {
        let names = catalogue::drive_names();
        let rented = names.iter().filter(|name| {
            let drive = catalogue::drive(name).unwrap();
            assert_eq!(volumes(&drive, 2).is_some(), drive.is_remote(), "{name}");
            drive.is_remote()
        });
        assert!(rented.count() > 20);
    }
}
