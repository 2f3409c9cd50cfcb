//! `sequential`: one block after the other, with nothing to fill.

use super::requests::{RequestKeys, Requests};
use super::{Build, Kind};
use sim::workload::Pattern;

pub(super) static KIND: Kind = Kind {
    name: "sequential",
    about: "Sequential blocks",
    keys: &[RequestKeys::KEYS],
    samples: &[],
    build: Build::Requests(|name, keys| Requests::read(name, keys, Pattern::Sequential, false)),
};
