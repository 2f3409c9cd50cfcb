//! Requests of virtio-blk in a guest's memory: whatever it holds, each is refused, or lies in the memory and on the disk.

use uml::request::{Asked, IN_MEMORY_BYTES, in_memory};

/// The disk's size, which any sector number may miss.
const SECTORS: u64 = 1 << 20;

pub(crate) fn body(bytes: &[u8]) {
    let Ok(requests) = in_memory(bytes, SECTORS) else { return };
    let memory = IN_MEMORY_BYTES as u64;
    for (_, request) in requests {
        assert!(request.status < memory, "{request:?}");
        for buffer in &request.data {
            let end = buffer.address.checked_add(u64::from(buffer.bytes));
            assert!(end.is_some_and(|end| end <= memory), "{request:?}");
        }
        if let Asked::Of { op, sector, sectors } = request.asked {
            assert!(sector + u64::from(sectors) <= SECTORS, "{request:?}");
            let bytes: u64 = request.data.iter().map(|buffer| u64::from(buffer.bytes)).sum();
            let moves_data = matches!(op, block::Op::Read | block::Op::Write { .. });
            assert!(!moves_data || bytes == 512 * u64::from(sectors), "{request:?}");
        }
    }
}
