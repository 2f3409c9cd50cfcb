//! `random`: blocks anywhere.

use super::requests::{RequestKeys, Requests};
use super::{Build, Kind};
use sim::workload::Pattern;

pub(super) static KIND: Kind = Kind {
    name: "random",
    about: "Random blocks anywhere on the volume",
    keys: &[RequestKeys::KEYS],
    samples: &[],
    build: Build::Requests(|name, keys| Requests::read(name, keys, Pattern::Random, false)),
};
