//! A ring on a temporary file, where rings are allowed.

#![cfg(target_os = "linux")]

use std::fs::File;
use std::time::{Duration, Instant};
use uring::{Action, Buffer, Ended, Ring, Transfer, is_forbidden};

fn file(bytes: u64) -> File {
    let file = tempfile::tempfile().unwrap();
    file.set_len(bytes).unwrap();
    file
}

/// A ring, or a loud word and none where it is not allowed.
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn ring(file: File) -> Option<Ring> {
    match Ring::new(vec![file], 8) {
        Ok(ring) => Some(ring),
        Err(error) if is_forbidden(&error) && std::env::var_os("ILEAVE_REQUIRE").is_none() => {
            eprintln!("SKIPPED: io_uring is not allowed here: {error}");
            None
        }
        Err(error) => panic!("no ring: {error}"),
    }
}

fn transfer(action: Action, offset_bytes: u64, start: usize, bytes: usize) -> Transfer {
    Transfer { file: 0, action, offset_bytes, part: start..start + bytes }
}

fn wait_for(ring: &mut Ring, count: usize) -> Vec<Ended> {
    let mut ended = Vec::new();
    while ended.len() < count {
        ring.wait(None, &mut ended).unwrap();
    }
    ended
}

#[test]
fn what_was_written_is_read_by_more_transfers_than_there_are_entries() {
    let Some(mut ring) = ring(file(1 << 20)) else { return };
    let mut buffer = Buffer::zeroed(100 * 512);
    buffer.iter_mut().enumerate().for_each(|(index, byte)| *byte = (index / 512) as u8 + 1);
    let write = Action::Write { durable: true };
    let places = |action| {
        (0..100).map(move |n| transfer(action, 5000 + (99 - n) * 512, n as usize * 512, 512))
    };
    ring.start(3, buffer, places(write)).unwrap();
    let mut indexes: Vec<u32> = wait_for(&mut ring, 100)
        .into_iter()
        .map(|ended| {
            ended.result.unwrap();
            assert_eq!(ended.key, 3);
            ended.index
        })
        .collect();
    indexes.sort_unstable();
    assert!(indexes.into_iter().eq(0..100));
    let buffer = ring.take(3);
    ring.start(0, buffer, [transfer(Action::Flush, 0, 0, 0)]).unwrap();
    wait_for(&mut ring, 1).pop().unwrap().result.unwrap();
    ring.start(1, Buffer::zeroed(100 * 512), [transfer(Action::Read, 5000, 0, 51_200)]).unwrap();
    wait_for(&mut ring, 1).pop().unwrap().result.unwrap();
    let read = ring.take(1);
    let backwards = read[..51_200].chunks(512).enumerate();
    backwards
        .for_each(|(n, bytes)| assert!(bytes.iter().all(|&byte| usize::from(byte) == 100 - n)));
}

#[test]
fn a_transfer_beyond_the_end_fails_alone() {
    let Some(mut ring) = ring(file(1000)) else { return };
    let transfers = [transfer(Action::Read, 0, 0, 512), transfer(Action::Read, 800, 512, 512)];
    ring.start(0, Buffer::zeroed(1024), transfers).unwrap();
    let mut ended = wait_for(&mut ring, 2);
    ended.sort_by_key(|ended| ended.index);
    assert!(ended[0].result.is_ok());
    let error = ended[1].result.as_ref().unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::UnexpectedEof);
}

/// A failure comes back with the transfer that it is of.
#[test]
fn a_write_to_a_file_open_for_reading_fails_alone() {
    let named = tempfile::NamedTempFile::new().unwrap();
    named.as_file().set_len(4096).unwrap();
    let Some(mut ring) = ring(File::open(named.path()).unwrap()) else { return };
    let transfers = [
        transfer(Action::Write { durable: false }, 0, 0, 512),
        transfer(Action::Read, 0, 512, 512),
    ];
    ring.start(0, Buffer::zeroed(1024), transfers).unwrap();
    let mut ended = wait_for(&mut ring, 2);
    ended.sort_by_key(|ended| ended.index);
    assert!(ended[0].result.is_err() && ended[1].result.is_ok(), "{ended:?}");
}

#[test]
#[should_panic(expected = "lies outside the buffer")]
fn a_transfer_outside_its_buffer_is_refused() {
    let Some(mut ring) = ring(file(1 << 20)) else { panic!("lies outside the buffer") };
    let _ = ring.start(0, Buffer::zeroed(4096), [transfer(Action::Read, 0, 4000, 512)]);
}

#[test]
fn waiting_ends_when_the_time_is_over() {
    let Some(mut ring) = ring(file(0)) else { return };
    let (start, mut ended) = (Instant::now(), Vec::new());
    ring.wait(Some(Duration::from_millis(20)), &mut ended).unwrap();
    assert!(ended.is_empty() && start.elapsed() >= Duration::from_millis(20));
    ring.wait(None, &mut ended).unwrap();
}

#[test]
fn a_ring_may_be_dropped_with_transfers_under_way() {
    let Some(mut ring) = ring(file(1 << 20)) else { return };
    let transfers = (0..64).map(|n| transfer(Action::Read, n * 4096, n as usize * 4096, 4096));
    ring.start(0, Buffer::zeroed(1 << 18), transfers).unwrap();
}

#[test]
#[should_panic(expected = "still has it")]
fn what_is_under_way_cannot_be_had_back() {
    let Some(mut ring) = ring(file(1 << 20)) else { panic!("still has it") };
    ring.start(0, Buffer::zeroed(4096), [transfer(Action::Read, 0, 0, 4096)]).unwrap();
    ring.take(0);
}

/// The kernel may be before 5.15, which has no such limit to set.
#[test]
fn more_workers_are_allowed_as_long_as_the_ring_lasts() {
    let allowed = |workers| ring(file(4096)).map(|mut ring| ring.allow_workers(workers));
    let Some(Ok(usual)) = allowed(0) else { return };
    assert_eq!(allowed(usual + 9).unwrap().unwrap(), usual + 9);
    assert_eq!(allowed(0).unwrap().unwrap(), usual);
}
