//! Every device there is keeps the contract.

use block::layout::{Concat, Part, Segments, Stripe};
use block::{LEVELS, Level, Request};
use sim::bus::Bus;
use sim::drive::{
    ControllerSpec, Discipline, Drive, DriveSpec, Firmware, Keeps, OnWrite, Overheads, PlatterSpec,
    ReadAheadPolicy, SeekSpec, Sending, Taking, Zone,
};
use sim::linux::read_ahead::{PageCache, ReadAheadSpec};
use sim::smr::SmrSpec;
use sim::{
    Array, Barrier, Charged, Deadline, Delay, Device, Driver, Limiter, Order, Processor, Programs,
    RaidController, RaidControllerSpec, Rebuild, Scheduler, Server, Shelf, Smr, Splitter, Trace,
    Tracer, Turn, contract,
};

fn zone(cylinders: std::ops::RangeInclusive<u32>, slots: u32) -> Zone {
    Zone {
        first_cylinder: *cylinders.start(),
        last_cylinder: *cylinders.end(),
        slots_per_track: slots,
        track_skew_slots: slots / 8,
        cylinder_skew_slots: slots / 4,
        ..Zone::default()
    }
}

fn spec(change: impl Fn(&mut ControllerSpec)) -> DriveSpec {
    let mut controller = ControllerSpec {
        read_hit_overhead_ns: 80_000,
        read_miss_overhead_ns: 600_000,
        write_overhead_ns: 800_000,
        sequential_write_overhead_ns: 800_000,
        segments: 3,
        segment_sectors: 64,
        read_ahead_sectors: 48,
        write_buffer_sectors: 256,
        zero_latency: false,
        interface_bytes_per_s: 20_000_000,
        firmware: Firmware::default(),
    };
    change(&mut controller);
    DriveSpec {
        platters: PlatterSpec {
            sectors: 8000,
            heads: 3,
            revolution_ns: 8_333_333,
            zones: vec![zone(0..=29, 60), zone(31..=60, 40)],
            spare_slots_per_track: 1,
            spare_slots_per_cylinder: 2,
            slipped: vec![5, 6, 1000],
            ..PlatterSpec::default()
        },
        seek: SeekSpec::Points(vec![(1, 1_000_000), (60, 9_000_000)]),
        write_settle_ns: 300_000,
        command_settle_ns: 900_000,
        head_switch_ns: 700_000,
        controller,
    }
}

fn drives(drives: u32, buses: usize, change: impl Fn(&mut ControllerSpec)) -> Shelf {
    let spec = spec(change);
    let drives = (0..drives).map(|drive| Drive::new(&spec, u64::from(drive) * 1_234_567).unwrap());
    Shelf::new(drives.collect(), vec![Bus::new(10_000_000, 50_000); buses])
}

/// Each layer over boxed ones: so they are compiled in `sim`, which is optimized (`sim::boxed`).
fn boxed(device: impl Into<Box<dyn Device>>) -> Box<dyn Device> {
    device.into()
}

fn shelf(number: u32, buses: usize, change: impl Fn(&mut ControllerSpec)) -> Box<dyn Device> {
    Box::new(drives(number, buses, change))
}

fn server(sectors: u64, ns: u64) -> Box<dyn Device> {
    Box::new(Server::new(sectors, ns))
}

fn as_shipped(_: &mut ControllerSpec) {}

#[test]
fn a_server() {
    contract::check(&|| server(5000, 1_000_000));
}

#[test]
fn one_drive() {
    contract::check(&|| shelf(1, 1, as_shipped));
}

#[test]
fn drives_without_write_cache_read_cache_or_both_and_with_zero_latency() {
    contract::check(&|| shelf(1, 1, |c| c.write_buffer_sectors = 0));
    contract::check(&|| shelf(1, 1, |c| c.segments = 0));
    contract::check(&|| shelf(1, 1, |c| c.read_ahead_sectors = 0));
    contract::check(&|| shelf(1, 1, |c| (c.segments, c.write_buffer_sectors) = (0, 0)));
    contract::check(&|| shelf(1, 1, |c| c.zero_latency = true));
}

#[test]
fn drives_that_share_a_bus_and_drives_that_do_not() {
    contract::check(&|| shelf(3, 1, as_shipped));
    contract::check(&|| shelf(3, 3, as_shipped));
    contract::check(&|| shelf(5, 2, |c| c.write_buffer_sectors = 0));
}

fn stripe(driver: Driver) -> Box<dyn Device> {
    let layout = Stripe::new(16, &[8000; 3]).unwrap();
    Array::new(Box::new(layout), shelf(3, 1, as_shipped), driver).into()
}

#[test]
fn arrays() {
    contract::check(&|| stripe(Driver::default()));
    contract::check(&|| stripe(Driver::new(200_000, 120_000)));
    contract::check(&|| {
        let layout = Concat::new(&[8000; 2]).unwrap();
        Array::new(Box::new(layout), shelf(2, 2, as_shipped), Driver::new(1000, 0)).into()
    });
}

/// One that is idle sends at once, and others wait for it.
#[test]
fn programs() {
    for count in [1, 3] {
        let cost = |_, request: &Request| {
            let waits_ns = 300 * (request.sector % 3);
            let busy_ns = 1000 + 100 * u64::from(request.sectors) + waits_ns;
            Turn { waits_ns, busy_ns, way_ns: waits_ns / 3 }
        };
        contract::check(&|| Programs::new(stripe(Driver::default()), count, Box::new(cost)).into());
    }
}

/// Reads go through the page cache, writes past it.
#[test]
fn a_page_cache() {
    for ahead_sectors in [8, 32, 256] {
        let spec = ReadAheadSpec { ahead_sectors, request_sectors: 64 };
        contract::check(&|| PageCache::new(stripe(Driver::default()), spec).into());
    }
}

/// `level` over the fewest members that it takes and two more where it is dealt over any number.
fn laid_out(level: &Level, change: impl Fn(&mut ControllerSpec)) -> Array<Box<dyn Device>> {
    let more = level.members_min() + 2;
    let members = [more, more - 1, more - 2]
        .into_iter()
        .find(|&members| level.lay_out(16, &vec![8000; members]).is_ok())
        .unwrap();
    let layout = level.lay_out(16, &vec![8000; members]).unwrap();
    Array::new(layout, shelf(members as u32, 1, change), Driver::new(20_000, 10_000))
}

#[test]
fn arrays_of_every_level() {
    // btrfs takes no drives as small as these; what is its own are segments. Arrays side by side are run one by one.
    let of_array = |level: &&Level| level.member_sectors_min() == 0 && level.nested().is_none();
    for level in LEVELS.iter().filter(of_array) {
        contract::check(&|| laid_out(level, as_shipped).into());
    }
}

/// Rows and mirrors of parts of three drives, which each segment takes in another order.
fn segments() -> Array<Box<dyn Device>> {
    let of = |level: &str, starts: [(u32, u64); 3]| {
        let layout = level.parse::<Level>().unwrap().lay_out(16, &[1600; 3]).unwrap();
        let part = |(member, start_sector)| Part { member, start_sector, sectors: 1600 };
        (layout, starts.map(part).to_vec())
    };
    let rows = of("raid5", [(2, 100), (0, 3000), (1, 0)]);
    let mirror = of("mirror", [(1, 4000), (2, 1700), (0, 64)]);
    let layout =
        Segments::new(3, vec![rows, mirror, of("raid5", [(0, 4600), (1, 1600), (2, 6400)])]);
    Array::new(Box::new(layout.unwrap()), shelf(3, 1, as_shipped), Driver::new(20_000, 10_000))
}

#[test]
fn arrays_in_segments() {
    contract::check(&|| segments().into());
    contract::check(&|| segments().degraded(&[1]).into());
    contract::check(&|| {
        segments().rebuilding(Rebuild { member: 1, bytes_per_s: Some(1_000_000) }).into()
    });
}

fn redundant() -> impl Iterator<Item = Level> {
    let names = ["mirror", "raid4", "raid5", "raid6", "raid10", "raidframe-raid5", "md-raid10-f2"];
    names.into_iter().map(|name| name.parse().unwrap())
}

#[test]
fn arrays_with_a_member_down_and_arrays_that_restore_one() {
    for level in redundant() {
        contract::check(&|| laid_out(&level, as_shipped).degraded(&[1]).into());
        for bytes_per_s in [None, Some(1_000_000), Some(40_000)] {
            contract::check(&|| {
                let array = laid_out(&level, as_shipped);
                array.rebuilding(Rebuild { member: 1, bytes_per_s }).into()
            });
        }
        contract::check(&|| {
            let array = laid_out(&level, |c| c.write_buffer_sectors = 0);
            array.rebuilding(Rebuild { member: 0, bytes_per_s: Some(200_000) }).into()
        });
    }
    let raid6: Level = "raid6".parse().unwrap();
    contract::check(&|| {
        let array = laid_out(&raid6, as_shipped).degraded(&[0]);
        array.rebuilding(Rebuild { member: 1, bytes_per_s: Some(100_000) }).into()
    });
}

#[test]
fn copies_that_md_restores() {
    let barriers = [
        Barrier::Whole { chunk_sectors: 16, goes_on: true, data_sector: 0 },
        Barrier::Units { data_sector: 0 },
    ];
    for (level, barrier) in ["md-raid10", "md-mirror"].into_iter().zip(barriers) {
        let level: Level = level.parse().unwrap();
        for bytes_per_s in [None, Some(1_000_000), Some(40_000)] {
            contract::check(&|| {
                let rebuild = Rebuild { member: 1, bytes_per_s };
                laid_out(&level, as_shipped)
                    .rebuilding(rebuild)
                    .restored_by_md(barrier, true)
                    .into()
            });
        }
    }
}

#[test]
fn splitters_over_anything() {
    for concurrency in [1, 3, 16] {
        contract::check(&|| Splitter::new(server(5000, 1_000_000), 32, concurrency).into());
        contract::check(&|| {
            Splitter::new(stripe(Driver::new(200_000, 120_000)), 40, concurrency).into()
        });
    }
}

#[test]
fn schedulers_over_anything() {
    let hasty = Deadline { batch: 3, read_expires_ns: 20_000_000, ..Deadline::default() };
    for order in [Order::Fcfs, Order::CLook, Order::Deadline(hasty)] {
        for outstanding in [1, 4] {
            contract::check(&|| Scheduler::new(server(5000, 1_000_000), order, outstanding).into());
            contract::check(&|| Scheduler::new(shelf(3, 1, as_shipped), order, outstanding).into());
            contract::check(&|| {
                let below = boxed(Scheduler::new(shelf(3, 1, as_shipped), order, outstanding));
                let layout = Stripe::new(16, &[8000; 3]).unwrap();
                Array::new(Box::new(layout), below, Driver::default()).into()
            });
        }
    }
}

#[test]
fn drives_that_choose_among_their_commands() {
    for discipline in [Discipline::CLook, Discipline::Sptf { ageing_us_per_ms: 6 }] {
        for depth in [2, 16] {
            for buffer in [0, 256] {
                let change = |c: &mut ControllerSpec| {
                    c.write_buffer_sectors = buffer;
                    (c.firmware.discipline, c.firmware.queue_depth) = (discipline, depth);
                };
                contract::check(&|| shelf(1, 1, change));
                contract::check(&|| shelf(3, 1, change));
            }
        }
    }
}

/// Every choice that a firmware can make, alone and with every other.
#[test]
fn drives_of_every_firmware() {
    let read_ahead = [
        ReadAheadPolicy::Beyond,
        ReadAheadPolicy::UntilFull,
        ReadAheadPolicy::SequentialTracks,
        ReadAheadPolicy::TrackEnd,
        ReadAheadPolicy::WholeTrack,
    ];
    for read_ahead in read_ahead {
        for keeps in [Keeps::Everything, Keeps::Ahead] {
            for on_write in [OnWrite::DropSegment, OnWrite::KeepBehind, OnWrite::TakeNewest] {
                for (written_segments, destage_choices) in [(0, 0), (2, 0), (0, 3), (2, 3)] {
                    let whole = written_segments > 0;
                    let firmware = Firmware {
                        read_ahead,
                        keeps,
                        on_write,
                        written_segments,
                        destage_choices,
                        sending: if whole { Sending::Whole } else { Sending::Streamed },
                        taking: if whole { Taking::Whole } else { Taking::Streamed },
                        overheads: Overheads {
                            read_hit_after_write_ns: Some(90_000),
                            write_other_zone_ns: Some(900_000),
                            write_data_ns: Some(100_000),
                            read_completion_ns: 50_000,
                            ..Overheads::default()
                        },
                        ..Firmware::default()
                    };
                    let change = |c: &mut ControllerSpec| c.firmware = firmware.clone();
                    contract::check(&|| shelf(1, 1, change));
                    contract::check(&|| {
                        Box::new(shelf(2, 1, |c| {
                            change(c);
                            c.write_buffer_sectors = 0;
                        }))
                    });
                }
            }
        }
    }
}

#[test]
fn medium_errors_of_a_server_drives_and_stripes() {
    contract::check_medium_errors(&|| server(5000, 1_000_000));
    for buffer in [0, 256] {
        let change = |c: &mut ControllerSpec| {
            c.write_buffer_sectors = buffer;
            c.firmware.overheads.read_retries_ns = 3_000_000;
        };
        contract::check_medium_errors(&|| shelf(2, 1, change));
        let layout = || Box::new(Stripe::new(16, &[8000; 3]).unwrap());
        contract::check_medium_errors(&|| {
            let array = Array::new(layout(), shelf(3, 1, change), Driver::new(20_000, 10_000));
            Splitter::new(boxed(Scheduler::new(boxed(array), Order::CLook, 4)), 40, 2).into()
        });
    }
}

/// What has each sector twice, or under parity, does without any one drive or sector; so does what is
/// in front of it.
#[test]
fn redundant_arrays_survive_one_failure() {
    for level in redundant() {
        contract::check_redundant(&|| laid_out(&level, as_shipped).into());
        contract::check_redundant(&|| {
            let array = laid_out(&level, |c| c.write_buffer_sectors = 0);
            Splitter::new(boxed(Limiter::new(boxed(array), 8)), 40, 3).into()
        });
    }
    contract::check_redundant(&|| {
        let spec = RaidControllerSpec {
            command_ns: 300_000,
            memory_sectors: 700,
            run_sectors: 96,
            runs: 3,
        };
        let raid5: Level = "raid5".parse().unwrap();
        RaidController::new(boxed(laid_out(&raid5, as_shipped)), spec, 1 << 24).into()
    });
}

#[test]
fn limiters_delays_and_tracers_over_anything() {
    let trace = Trace::default();
    contract::check(&|| Limiter::new(shelf(3, 1, as_shipped), 2).into());
    contract::check(&|| Box::new(Delay::new(shelf(3, 1, as_shipped), 1, 20_000_000)));
    contract::check(&|| {
        Box::new(Charged::new(shelf(3, 1, as_shipped), 50_000, Processor::default()))
    });
    contract::check(&|| Box::new(Tracer::new(stripe(Driver::new(200_000, 120_000)), &trace)));
    contract::check_medium_errors(&|| {
        Box::new(Tracer::new(Delay::new(server(5000, 1_000_000), 0, 1000), &trace))
    });
    let mirror: Level = "mirror".parse().unwrap();
    contract::check_redundant(&|| {
        let layout = mirror.lay_out(16, &[8000; 2]).unwrap();
        let below = Delay::new(shelf(2, 1, as_shipped), 1, 20_000_000);
        Box::new(Tracer::new(Array::new(layout, below, Driver::default()), &trace))
    });
    assert!(!trace.take().is_empty());
}

#[test]
fn boxed_devices_are_devices() {
    let boxed: Box<dyn Device> = Box::new(Server::new(10, 1));
    assert_eq!(boxed.geometry().target_sectors, [10]);
}

/// Controllers with memories smaller than a request and larger than all of them, over volumes that can and cannot
/// do without a member, whose drives keep writes to themselves and do not.
#[test]
fn raid_controllers_with_memory() {
    for (memory_sectors, runs) in [(100, 1), (700, 3), (1 << 20, 2)] {
        let spec =
            RaidControllerSpec { command_ns: 300_000, memory_sectors, run_sectors: 96, runs };
        contract::check(&|| RaidController::new(server(5000, 4_000_000), spec, 1 << 24).into());
        for level in ["stripe", "mirror", "raid5"] {
            for buffer in [0, 256] {
                contract::check(&|| {
                    let level: Level = level.parse().unwrap();
                    let below = shelf(3, 1, |c| c.write_buffer_sectors = buffer);
                    let layout = level.lay_out(16, &[8000; 3]).unwrap();
                    let volume = boxed(Array::new(layout, below, Driver::default()));
                    let controller = boxed(RaidController::new(volume, spec, 1 << 24));
                    Scheduler::new(controller, Order::CLook, 4).into()
                });
            }
        }
    }
}

/// A drive of 8000 sectors of which 900 are a media cache and a spare band.
fn shingled(change: impl Fn(&mut SmrSpec)) -> Smr<Shelf> {
    let mut spec = SmrSpec {
        sectors: 7050,
        band_sectors: 100,
        cache_sectors: 800,
        cache_entries: 40,
        entry_sectors: 8,
        header_sectors: 4,
        copies_first: true,
        stream_sectors: 24,
        streams: 2,
        idle_ns: 20_000_000,
        clean_ns: 60_000_000,
        is_filled: false,
    };
    change(&mut spec);
    Smr::new(drives(1, 1, as_shipped), &spec, 1).unwrap()
}

#[test]
fn drives_that_lose_their_power() {
    contract::check_power(&|| server(5000, 1_000_000));
    contract::check_power(&|| shelf(3, 1, as_shipped));
    contract::check_power(&|| shelf(2, 2, |c| c.write_buffer_sectors = 0));
    contract::check_power(&|| shingled(|_| ()).into());
    contract::check_power(&|| Box::new(shingled(|s| (s.is_filled, s.cache_entries) = (true, 9))));
    contract::check_power(&|| {
        Box::new(Charged::new(shelf(3, 1, as_shipped), 3_000, Processor::default()))
    });
}

#[test]
fn shingled_drives() {
    contract::check(&|| shingled(|_| ()).into());
    contract::check(&|| Box::new(shingled(|s| (s.is_filled, s.cache_entries) = (true, 9))));
    contract::check(&|| Box::new(shingled(|s| (s.copies_first, s.streams) = (false, 0))));
    contract::check(&|| Box::new(shingled(|s| (s.stream_sectors, s.idle_ns) = (1, 1 << 62))));
    contract::check_medium_errors(&|| shingled(|_| ()).into());
    contract::check_medium_errors(&|| Box::new(shingled(|s| s.is_filled = true)));
}
