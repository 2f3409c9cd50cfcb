//! What a device with a queue of Linux is called, in sysfs and in udev's rules.

/// The queue of a device, of which Linux has settings.
pub(super) struct Queue {
    /// What people call the device.
    pub(super) name: String,
    /// Its name in /sys/block, as a shell finds it.
    pub(super) block: String,
    /// What tells it from others in a udev rule.
    pub(super) rule: String,
}

impl Queue {
    /// The array that is mounted.
    pub(super) fn of_md() -> Queue {
        Queue { name: "md0".into(), block: "md0".into(), rule: "KERNEL==\"md0\"".into() }
    }

    /// A `device` of the device mapper, whose number may be another after a restart.
    pub(super) fn of_mapper(name: &str, device: &str) -> Queue {
        Queue {
            name: device.into(),
            block: format!("$(basename $(readlink -f {device}))"),
            rule: format!("ENV{{DM_NAME}}==\"{name}\""),
        }
    }

    /// The one drive, by its current name.
    pub(super) fn of_drive() -> Queue {
        let block = "$(basename $(readlink -f $disks))";
        // The shell has a word between two quotes.
        Queue {
            name: "the drive".into(),
            block: block.into(),
            rule: format!("KERNEL==\"'{block}'\""),
        }
    }
}
