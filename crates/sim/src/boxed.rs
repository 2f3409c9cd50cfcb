//! Stacks of devices, compiled here. What is generic over the device below is compiled by whoever makes a `dyn Device`
//! of it; these conversions do that in this crate, which is optimized in every profile, so that those which build
//! machines of them need not be.

use crate::linux::alone::Alone;
use crate::linux::block_layer::BlockLayer;
use crate::linux::flushes::SharedFlushes;
use crate::linux::in_use::MarksInUse;
use crate::linux::intent::WriteIntents;
use crate::linux::md::Md;
use crate::linux::read_ahead::PageCache;
use crate::linux::writer::OneWriter;
use crate::{
    Array, Device, Limiter, Programs, RaidController, Scheduler, Shelf, Smr, Splitter, Throttle,
};

type Below = Box<dyn Device>;

macro_rules! boxed {
    ($($device:ty),* $(,)?) => {$(
        impl From<$device> for Box<dyn Device> {
            // Inlined, it would be compiled where it is called.
            #[inline(never)]
            fn from(device: $device) -> Self {
                Box::new(device)
            }
        }
    )*};
}

boxed!(
    Alone<Below>,
    Alone<BlockLayer<Below>>,
    Array<Below>,
    BlockLayer<Below>,
    Limiter<Below>,
    OneWriter<Below>,
    Md<Below>,
    PageCache<Below>,
    Programs<Below>,
    RaidController<Below>,
    Scheduler<Below>,
    SharedFlushes<Below>,
    Smr<Shelf>,
    Splitter<Below>,
    Throttle<Below>,
    WriteIntents<Below>,
    WriteIntents<MarksInUse<BlockLayer<Below>>>,
    MarksInUse<BlockLayer<Below>>,
);
