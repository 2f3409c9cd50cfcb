//! What Linux says of a device's limits and zones, where that changes what it does with it.

use super::HeldDisk;
use std::collections::BTreeMap;

/// Up to so large no best size makes an array read far ahead.
const BEST_MAX_BYTES: u64 = 64 << 10;

/// Best sizes of more are multiples of this, where they are meant.
const PAGE_BYTES: u64 = 4096;

/// A controller's stripe has no more data disks; by the odd part of a best size an array's grows.
const DISKS_MAX: u64 = 64;

/// Arrays read this far ahead at most that have a stripe that anybody makes, in KiB: 64 disks with chunks of 8 MiB.
const READ_AHEAD_MAX_KIB: u64 = 1 << 20;

/// What is to be known of a disk with zones (`zoned`).
pub(super) fn of_zones(name: &str, zoned: &str) -> Option<String> {
    match zoned {
        "host-managed" => Some(format!(
            "{name} is a host-managed zoned disk, which takes writes only in order within a zone: that is not modelled, and md, LVM's \
             RAID, ext4 and others that write anywhere cannot use it; take another disk, or dm-zoned over it"
        )),
        "host-aware" => Some(format!(
            "{name} is a host-aware shingled disk; it is modelled as one only if its drive file is of the class `smr` (docs/smr.md), \
             else random writes last far less than the model says"
        )),
        _ => None,
    }
}

/// Whether nobody means a best size of a request (`opt-io`) of so many bytes; 0 is none.
pub(super) fn is_odd(bytes: u64) -> bool {
    let odd_part = bytes >> bytes.trailing_zeros().min(63);
    bytes > BEST_MAX_BYTES && (!bytes.is_multiple_of(PAGE_BYTES) || odd_part > DISKS_MAX)
}

/// What is to be known of `disks` that state an odd best size: an array over them takes the least common multiple of that and its
/// stripe (`blk_stack_limits`), and reads ahead twice as far. A size of 32767 sectors and a stripe of 7 × 64 KiB make 2 GiB, and
/// 4 GiB of read-ahead.
pub(super) fn of_best_sizes(disks: &[&HeldDisk]) -> Vec<String> {
    let mut of_size: BTreeMap<u64, Vec<&str>> = BTreeMap::new();
    for disk in disks {
        if let Some(bytes) = disk.odd_best_bytes {
            of_size.entry(bytes).or_default().push(&disk.device);
        }
    }
    let told = |(bytes, names): (u64, Vec<&str>)| {
        format!(
            "The best size of a request (opt-io) of {} is said to be {bytes} bytes ({} sectors), which is not the size of a stripe: an array over them \
             may read ahead gigabytes; where /sys/block/mdX/queue/read_ahead_kb is not twice the stripe, which is modelled, set it by \
             `blockdev --setra`",
            names.join(", "),
            bytes / 512
        )
    };
    of_size.into_iter().map(told).collect()
}

/// What is to be known of an array that reads absurdly far ahead (`ra`, in KiB).
pub(super) fn of_read_ahead(name: &str, kib: Option<u64>) -> Option<String> {
    let kib = kib.filter(|&kib| kib > READ_AHEAD_MAX_KIB)?;
    Some(format!(
        "{name} reads ahead {} MiB, more than stripes ask for: a member's odd best size of a request (opt-io of `lsblk -O`) may be why; \
         set it to twice the stripe, as in `blockdev --setra 8192 /dev/{name}` (sectors; 4 MiB), which is modelled",
        kib.div_ceil(1024)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 4095 and 8191 pages went unsaid, and of a single sector gigabytes were said.
    #[test]
    fn what_no_stripe_has_is_odd() {
        let odd = [32767 * 512, 65535 * 512, 4096 * 4095, 33_550_336, 132 * 512 + 512];
        assert!(odd.into_iter().all(is_odd));
        // A controller's stripe of three disks is meant.
        let meant = [0, 512, 3584, 4096, 65024, 64 << 10, 256 << 10, 768 << 10, 16 << 20];
        assert!(!meant.into_iter().any(is_odd));
    }

    /// Sixteen disks with chunks of 4 MiB read 128 MiB ahead.
    #[test]
    fn large_stripes_read_far_ahead() {
        assert_eq!(of_read_ahead("md0", Some(128 << 10)), None);
        let said = of_read_ahead("md0", Some(4_194_176)).unwrap();
        assert!(said.starts_with("md0 reads ahead 4096 MiB, more than stripes ask for:"), "{said}");
    }
}
