//! `dd`: one block after the other.

use super::requests::{RequestKeys, Requests};
use super::{Build, Kind};
use sim::workload::Pattern;

pub(super) static KIND: Kind = Kind {
    name: "dd",
    about: "One block after the other, as dd reads and writes a raw device; a write fills each block from \
            /dev/zero first",
    keys: &[RequestKeys::KEYS],
    samples: &[],
    build: Build::Requests(|name, keys| Requests::read(name, keys, Pattern::Sequential, true)),
};
