//! Chunks over small devices, with stripes of one sector instead of 128: a MiB of btrfs's is 16 sectors.

use super::super::tests::{check_map, check_pieces, check_places};
use super::*;

fn allocated(profile: Profile, devices: &[u64]) -> Result<Chunks, LayoutError> {
    Chunks::allocated(profile, profile.of_metadata(devices.len()), devices, SECTOR_BYTES)
}

fn scaled(profile: Profile, devices: &[u64]) -> Result<Segments, LayoutError> {
    let chunks = allocated(profile, devices)?;
    lay_out_by(profile, &chunks.data, devices.len(), 1)
}

fn mib(count: u64) -> u64 {
    16 * count
}

#[test]
fn small_devices_map_one_to_one() {
    let rooms = [229, 300, 410, 777];
    for profile in Profile::ALL {
        let shape = profile.shape();
        for count in profile.devices_min()..=5 {
            for (first, step) in [(0, 0), (0, 1), (2, 3)] {
                let devices: Vec<u64> = (0..count)
                    .map(|nth| mib(rooms[(first + nth * step) % 4]) + nth as u64)
                    .collect();
                let volume = scaled(profile, &devices).unwrap();
                if profile == Profile::Dup {
                    check_places(&volume, &devices, 2);
                } else {
                    check_map(&volume, &devices, shape.copies as usize);
                }
            }
        }
    }
}

/// Requests over several chunks are the pieces of each.
#[test]
fn pieces_go_on_in_the_next_chunk() {
    for profile in Profile::ALL {
        let devices = vec![mib(229); profile.devices_min() + 1];
        let volume = scaled(profile, &devices).unwrap();
        assert!(volume.list().count() > 1, "{profile:?} has several chunks");
        check_pieces(&volume);
    }
}

/// The bytes of a device that no chunk has, in runs; the first MiB is no chunk's.
fn holes(chunks: &Chunks, metadata: Profile, data: Profile, device: u32, bytes: u64) -> Vec<u64> {
    let stripes = |chunk: &Chunk, profile: Profile| {
        let shape = profile.shape();
        let stripes = chunk.stripes.len() as u64;
        let length = chunk.length_bytes / ((stripes - shape.parities) / shape.copies);
        let own = chunk.stripes.iter().filter(|stripe| stripe.0 == device);
        own.map(|stripe| (stripe.1, stripe.1 + length)).collect::<Vec<_>>()
    };
    let own = chunks.own.iter().flat_map(|chunk| stripes(chunk, metadata));
    let mut taken: Vec<(u64, u64)> =
        own.chain(chunks.data.iter().flat_map(|chunk| stripes(chunk, data))).collect();
    taken.extend([(0, mib(1) * SECTOR_BYTES), (bytes, bytes)]);
    taken.sort_unstable();
    taken.windows(2).map(|two| two[1].0.checked_sub(two[0].1).expect("no two overlap")).collect()
}

/// Chunks are at addresses one after another, and go on until too few devices have a stripe's room.
#[test]
fn chunks_follow_each_other_and_fill_the_devices() {
    for profile in Profile::ALL {
        for count in profile.devices_min()..7 {
            let devices = vec![mib(1500); count];
            let chunks = allocated(profile, &devices).unwrap();
            let mut all: Vec<&Chunk> = chunks.own.iter().chain(&chunks.data).collect();
            all.sort_unstable_by_key(|chunk| chunk.logical_bytes);
            for two in all.windows(2) {
                assert_eq!(two[0].logical_bytes + two[0].length_bytes, two[1].logical_bytes);
            }
            let shape = profile.shape();
            let has_room = |&device: &u32| {
                let bytes = mib(1500) * SECTOR_BYTES;
                let holes = holes(&chunks, profile.of_metadata(count), profile, device, bytes);
                holes.iter().any(|&hole| hole >= shape.device_stripes * SECTOR_BYTES)
            };
            let left = (0..count as u32).filter(has_room).count();
            let usable = left / shape.devices_step * shape.devices_step;
            assert!(usable < shape.devices_min, "{profile:?} over {count}: {left} devices left");
        }
    }
}

/// Metadata survive the loss of as many devices as data do, of one device where data survive none.
#[test]
fn metadata_survive_what_data_do() {
    for profile in Profile::ALL {
        for devices in profile.devices_min()..7 {
            let metadata = profile.of_metadata(devices);
            assert!(metadata.devices_min() <= devices, "{profile:?}");
            let least = usize::from(devices > 1 && profile != Profile::Dup);
            assert_eq!(metadata.losses_survived(), profile.losses_survived().max(least));
        }
        assert_eq!(Profile::named(profile.name()), Some(profile));
    }
}

/// What the kernel's heapsort makes of equals is neither their order nor its reverse.
#[test]
fn devices_with_the_most_room_come_first() {
    let order = |chunk: &Chunk| chunk.stripes.iter().map(|stripe| stripe.0).collect::<Vec<_>>();
    let chunks = Chunks::of_blank(Profile::Raid1, &[524_288, 819_200, 1_433_600]).unwrap();
    assert_eq!(chunks.data[..3].iter().map(order).collect::<Vec<_>>(), [[1, 2], [2, 1], [2, 0]]);
    let chunks = Chunks::of_blank_beside(Profile::Raid6, Profile::Raid1, &[1_048_576; 5]).unwrap();
    assert_eq!(order(&chunks.data[1]), [1, 2, 0, 4, 3]);
    let chunks = Chunks::of_blank(Profile::Raid1c3, &[1_048_576; 4]).unwrap();
    assert_eq!(order(&chunks.data[1]), [0, 2, 3]);
}

#[test]
fn what_mkfs_refuses_is_an_error() {
    let least_sectors = Profile::Raid1.device_sectors_min();
    assert_eq!(least_sectors, 125 * 2048);
    let error = Chunks::of_blank(Profile::Raid1, &[1 << 20, least_sectors - 1]).unwrap_err();
    let sectors = least_sectors - 1;
    assert_eq!(error, LayoutError::MemberBelowLeast { member: 1, sectors, least_sectors });
    assert!(Chunks::of_blank(Profile::Raid1, &[1 << 20, least_sectors]).is_ok());
    let few = Chunks::of_blank(Profile::Raid6, &[1 << 20; 2]).unwrap_err();
    assert_eq!(few, LayoutError::TooFewMembers { needed: 3, given: 2 });
    let large = Chunks::of_blank(Profile::Single, &[1 << 53; 1]).unwrap_err();
    assert_eq!(large, LayoutError::TooManyChunks);
}

/// A table of chunks that came from elsewhere may be wrong.
#[test]
fn chunks_that_cannot_be_are_an_error() {
    let chunk = |stripes: &[(u32, u64)]| Chunk {
        logical_bytes: 0,
        length_bytes: 1 << 20,
        stripes: stripes.to_vec(),
    };
    let laid = |profile, chunks: &[Chunk]| lay_out(profile, chunks, 3).err();
    assert_eq!(laid(Profile::Raid1, &[chunk(&[(0, 0), (1, 0)])]), None);
    let uneven = laid(Profile::Raid10, &[chunk(&[(0, 0), (1, 0), (2, 0)])]);
    assert_eq!(uneven, Some(LayoutError::UnevenCopies { copies: 2, given: 3 }));
    let twice = laid(Profile::Single, &[chunk(&[(1, 0)]), chunk(&[(1, 65_536)])]);
    assert_eq!(twice, Some(LayoutError::Overlap { member: 1, sector: 128 }));
    assert_eq!(laid(Profile::Single, &[]), Some(LayoutError::NoMembers));
    let far = laid(Profile::Single, &[chunk(&[(1, u64::MAX)])]);
    assert_eq!(far, None);
}

/// What mkfs.btrfs 6.2 takes by itself beside data that are there once, and what docs/map.md says of the others.
#[test]
fn metadata_beside_each_profile() {
    let expected = [
        ("single", "raid1"),
        ("dup", "dup"),
        ("raid0", "raid1"),
        ("raid1", "raid1"),
        ("raid1c3", "raid1c3"),
        ("raid1c4", "raid1c4"),
        ("raid10", "raid10"),
        ("raid5", "raid1"),
        ("raid6", "raid1c3"),
    ];
    assert_eq!(expected.len(), Profile::ALL.len());
    for (data, metadata) in expected {
        let profile = Profile::named(data).unwrap();
        assert_eq!(profile.of_metadata(4).name(), metadata, "{data}");
    }
    assert_eq!(Profile::named("single").unwrap().of_metadata(1).name(), "dup");
}
