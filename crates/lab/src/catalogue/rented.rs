//! What disks and volumes of clouds call themselves, which is never the whole of it: neither the kind of a volume nor the type
//! of the instance.

use super::Match;
use super::matching::{goes_with_instance, has_size};

/// What volumes of a provider's network call themselves.
struct Called {
    /// Letters and digits, in lower case.
    name: &'static str,
    provider: Provider,
}

#[derive(Clone, Copy)]
enum Provider {
    Amazon,
    Azure,
    Google,
}

const VOLUMES: [Called; 5] = [
    Called { name: "amazonelasticblockstore", provider: Provider::Amazon },
    Called { name: "persistentdisk", provider: Provider::Google },
    Called { name: "nvmecardpd", provider: Provider::Google },
    // Those of Hyper-V elsewhere call themselves so, too.
    Called { name: "msftvirtualdisk", provider: Provider::Azure },
    Called { name: "msftnvmeaccelerator", provider: Provider::Azure },
];

/// What disks of instances call themselves, and how the names of their provider's drives in the catalogue begin. That
/// they go with an instance is all that they say.
const INSTANCES: [(&str, &str); 4] = [
    ("amazonec2nvmeinstancestorage", "AWS "),
    ("microsoftnvmedirectdisk", "Azure "),
    ("nvmecard", GOOGLE),
    ("ephemeraldisk", GOOGLE),
];
const GOOGLE: &str = "Google ";

/// The tiers of Azure Premium SSD, whose size is the tier's.
const AZURE_TIERS: [&str; 14] = [
    "azure-p1",
    "azure-p2",
    "azure-p3",
    "azure-p4",
    "azure-p6",
    "azure-p10",
    "azure-p15",
    "azure-p20",
    "azure-p30",
    "azure-p40",
    "azure-p50",
    "azure-p60",
    "azure-p70",
    "azure-p80",
];

/// What is written instead where the device does not say which volume or disk it is.
const OTHERS: [(&str, &str); 4] = [
    ("ebs-", "gp2, gp3, io1, io2, st1 or sc1, and what is provisioned"),
    (
        "gcp-pd-",
        "pd-standard, pd-balanced, pd-ssd, hyperdisk-balanced, hyperdisk-extreme or hyperdisk-throughput, and what is provisioned",
    ),
    (
        "azure-p",
        "a tier from azure-p1 to azure-p80, or azure-premium-ssd-v2 and what is provisioned",
    ),
    ("gcp-", "another file where your type of instance has local SSDs of another generation"),
];

/// The volume of a cloud's network that a model is, as a guess; its name has only letters and digits, in lower case.
pub(super) fn volume(plain: &str, bytes: Option<u64>) -> Option<Match> {
    let called = VOLUMES.iter().find(|called| plain.contains(called.name))?;
    let tier =
        || AZURE_TIERS.iter().find(|tier| bytes.is_some_and(|own| has_size(tier, own, 1e-6)));
    let sized = |name: &str| {
        let gib = bytes.map_or(100, |bytes| (bytes >> 30).max(1));
        Match::Rented { name: format!("{name}[size={gib}GiB]") }
    };
    Some(match called.provider {
        Provider::Amazon => sized("ebs-gp3"),
        Provider::Google => sized("gcp-pd-balanced"),
        // Only a disk of the second version may have any size and need not pay for a larger one.
        Provider::Azure => tier().map_or_else(
            || sized("azure-premium-ssd-v2"),
            |tier| Match::Rented { name: (*tier).into() },
        ),
    })
}

/// What a disk of an instance may be, whose name has only letters and digits, in lower case. Google sells its local SSDs by
/// themselves: one of a size is taken, as a guess.
pub(super) fn of_instance<'k>(
    plain: &str,
    bytes: Option<u64>,
    known: &(impl Iterator<Item = &'k str> + Clone),
) -> Option<Match> {
    let (_, provider) = INSTANCES.iter().find(|(called, _)| plain.contains(called))?;
    let within = |share: f64| -> Vec<String> {
        let Some(bytes) = bytes else { return Vec::new() };
        let is_provider_s = |name: &str| {
            goes_with_instance(name)
                && super::drive(name).is_ok_and(|drive| drive.title.starts_with(provider))
        };
        let files = known.clone().filter(|key| has_size(key, bytes, share) && is_provider_s(key));
        files.map(str::to_string).collect()
    };
    // A provider's sizes are its own.
    let exact = within(SAME_SIZE);
    if let ([name], true) = (exact.as_slice(), *provider == GOOGLE) {
        return Some(Match::Rented { name: name.clone() });
    }
    let of_size = if exact.is_empty() { within(super::matching::OF_SIZE) } else { exact };
    Some(Match::None { nearest: None, of_size, sizes: None, of_instance: true })
}

/// Disks of instances of one size differ by less than this share: 1875 and 1900 GB are two sizes.
const SAME_SIZE: f64 = 0.002;

/// What to write instead of `name`, which was taken for what does not say its kind.
pub(crate) fn others(name: &str) -> &'static str {
    OTHERS.iter().find(|(start, _)| name.starts_with(start)).map_or("another", |(_, others)| others)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{drive, matching};

    const GIB: u64 = 1 << 30;

    fn taken_as(model: &str, bytes: u64) -> String {
        match matching(model, Some(bytes), Some(true)) {
            Match::Rented { name } => name,
            other => panic!("{model}: {other:?}"),
        }
    }

    /// Azure's disks were in no catalogue.
    #[test]
    fn disks_of_azure_are_tiers_by_their_size() {
        let disk = |gib: u64| taken_as("Msft Virtual Disk", gib * GIB);
        assert_eq!(disk(1024), "azure-p30");
        assert_eq!(disk(32_767), "azure-p80");
        assert_eq!(disk(30), "azure-premium-ssd-v2[size=30GiB]");
        assert_eq!(
            taken_as("MSFT NVMe Accelerator v1.0", 375 * GIB),
            "azure-premium-ssd-v2[size=375GiB]"
        );
        // A target of iSCSI calls itself so.
        assert!(matches!(matching("VIRTUAL-DISK", Some(GIB), None), Match::None { .. }));
    }

    /// Four local SSDs were four kinds of which none was known.
    #[test]
    fn local_ssds_of_google_are_of_one_kind() {
        for model in ["nvme_card", "nvme_card0", "nvme_card3", "EphemeralDisk"] {
            assert_eq!(taken_as(model, 375 * GIB), "gcp-local-ssd", "{model}");
        }
        assert_eq!(taken_as("nvme_card0", 3000 * GIB), "gcp-z3-3000gib");
        let found = matching("nvme_card0", Some(200 * GIB), None);
        assert!(matches!(found, Match::None { of_instance: true, .. }), "{found:?}");
        assert_eq!(taken_as("nvme_card-pd", 1024 * GIB), "gcp-pd-balanced[size=1024GiB]");
    }

    /// The kinds of Amazon's volumes were named for those of Google.
    #[test]
    fn what_is_written_instead_is_of_the_provider_and_in_the_catalogue() {
        let names = |taken: &str| -> Vec<&str> {
            let words = others(taken).split([' ', ',']);
            words.filter(|word| word.contains(|c: char| c == '-' || c.is_ascii_digit())).collect()
        };
        assert_eq!(names("ebs-gp3[size=1GiB]"), ["gp2", "gp3", "io1", "io2", "st1", "sc1"]);
        assert_eq!(names("gcp-pd-balanced[size=1GiB]").len(), 6);
        assert_eq!(names("azure-p30"), names("azure-premium-ssd-v2[size=1GiB]"));
        assert!(others("gcp-local-ssd").contains("type of instance"));
        for taken in ["ebs-gp3", "gcp-pd-balanced", "azure-p30"] {
            for name in names(taken) {
                assert!(drive(name).is_ok_and(|drive| drive.class() == "cloud"), "{name}");
            }
        }
        assert!(AZURE_TIERS.iter().all(|tier| drive(tier).is_ok()));
    }
}
