//! Drive files, in the catalogue's form and in that of measured drives; each that is understood serves a
//! request. Behind a line of `---` a trace.
#![no_main]

use lab::catalogue::{drive_from, import};
use lab::validate::read_trace;
use libfuzzer_sys::fuzz_target;
use sim::drive::Drive;
use sim::{Advance, Device, Shelf};

fuzz_target!(|text: &str| {
    let (drive, requests) = text.split_once("---\n").unwrap_or((text, ""));
    let _ = import(drive);
    let _ = read_trace("trace.txt", requests);
    if let Ok(drive) = drive_from("x.toml", drive)
        && let Ok(spec) = drive.disk().and_then(|disk| disk.spec())
        && let Ok(drive) = Drive::new(&spec, 1)
    {
        let mut shelf = Shelf::new(vec![drive], vec![sim::bus::Bus::new(20_000_000, 0)]);
        let sectors = shelf.geometry().target_sectors[0];
        let request = block::Request { target: 0, op: block::Op::Read, sector: sectors - 1, sectors: 1 };
        shelf.submit(0, 1, request);
        let mut events = Vec::new();
        while let Some(at) = shelf.next_event() {
            shelf.advance(at, &mut events);
            if !events.is_empty() {
                break;
            }
        }
        assert_eq!(events.len(), 1);
    }
});
