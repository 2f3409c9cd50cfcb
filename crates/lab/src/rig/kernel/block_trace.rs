//! Every command of the drives as text: CSV, what blkparse prints, and fio's iolog, version 3. The last two are what
//! `kind = "trace"`, fio and other programs replay.

use block::Op;
use std::fmt::Write as _;
use uml::Command;

/// The texts to keep, by name.
pub(super) fn texts(commands: &[Command]) -> [(String, String); 3] {
    let mut commands = commands.to_vec();
    commands.sort_by_key(|command| (command.submitted, command.request.target));
    let start = commands.first().map_or(0, |command| command.submitted);
    for command in &mut commands {
        command.submitted -= start;
        command.done -= start;
    }
    [
        ("blocks.csv".into(), csv(&commands)),
        ("blocks.blkparse".into(), blkparse(&commands)),
        ("blocks.iolog".into(), iolog(&commands)),
    ]
}

/// When each came and was done, in µs, which disk, what and where.
fn csv(commands: &[Command]) -> String {
    let mut text = String::from("submit_us,drive,op,sector,sectors,done_us\n");
    let us = |nanos: u64| nanos as f64 / 1e3;
    for command in commands {
        let block::Request { target, op, sector, sectors } = command.request;
        let op = match op {
            Op::Read => "R",
            Op::Write { .. } => "W",
            Op::Flush => "F",
            Op::Discard => "D",
            Op::Zeroes => "Z",
        };
        let (submitted, done) = (us(command.submitted), us(command.done));
        writeln!(text, "{submitted:.1},{target},{op},{sector},{sectors},{done:.1}")
            .expect("a string grows");
    }
    text
}

/// A line when a command came (Q), which is when its drive was given it (D), and one when it was done (C). The disks
/// have the numbers of virtio's, 16 apart.
fn blkparse(commands: &[Command]) -> String {
    let mut events = Vec::with_capacity(3 * commands.len());
    for (number, command) in commands.iter().enumerate() {
        for (order, action, at_ns) in
            [(0, 'Q', command.submitted), (1, 'D', command.submitted), (2, 'C', command.done)]
        {
            events.push((at_ns, number, order, action));
        }
    }
    events.sort_unstable();
    let mut text = String::new();
    for (sequence, (at_ns, number, _, action)) in (1..).zip(events) {
        let request = commands[number].request;
        let minor = 16 * request.target;
        let flags = match request.op {
            Op::Read => "R",
            Op::Write { fua: false } => "W",
            Op::Write { fua: true } => "WFS",
            Op::Flush => "FWS",
            Op::Discard => "D",
            // blktrace has no letter for them: they carry no data.
            Op::Zeroes => "N",
        };
        let place = match request.op {
            Op::Flush => String::new(),
            _ => format!("{} + {} ", request.sector, request.sectors),
        };
        let by = if action == 'C' { "[0]" } else { "[guest]" };
        let (seconds, nanos) = (at_ns / 1_000_000_000, at_ns % 1_000_000_000);
        writeln!(
            text,
            "254,{minor} 0 {sequence} {seconds}.{nanos:09} 1 {action} {flags} {place}{by}"
        )
        .expect("a string grows");
    }
    text
}

/// fio's iolog. The names are no paths of devices, so that who replays it writes to nothing by mistake; zeroes are
/// written.
fn iolog(commands: &[Command]) -> String {
    let mut drives: Vec<u32> = commands.iter().map(|command| command.request.target).collect();
    drives.sort_unstable();
    drives.dedup();
    let mut text = String::from("fio version 3 iolog\n");
    for action in ["add", "open"] {
        for drive in &drives {
            writeln!(text, "0 drive{drive} {action}").expect("a string grows");
        }
    }
    for command in commands {
        let block::Request { target, op, sector, sectors } = command.request;
        let at_us = command.submitted / 1000;
        let what = match op {
            Op::Read => "read",
            Op::Write { .. } | Op::Zeroes => "write",
            Op::Discard => "trim",
            Op::Flush => "sync",
        };
        let (offset, bytes) = (sector * block::SECTOR_BYTES, sectors_bytes(sectors));
        writeln!(text, "{at_us} drive{target} {what} {offset} {bytes}").expect("a string grows");
    }
    let end_us = commands.last().map_or(0, |command| command.submitted / 1000);
    for drive in &drives {
        writeln!(text, "{end_us} drive{drive} close").expect("a string grows");
    }
    text
}

fn sectors_bytes(sectors: u32) -> u64 {
    u64::from(sectors) * block::SECTOR_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Format;
    use block::Request;

    fn commands() -> Vec<Command> {
        let command = |submitted, done, request| Command { submitted, done, request };
        vec![
            command(2_500_000, 2_600_000, Request::write(800, 16).to(1)),
            command(1_000_000, 3_000_000, Request::read(8, 8)),
            command(2_700_000, 2_800_000, Request { op: Op::Flush, ..Request::read(0, 0).to(1) }),
        ]
    }

    #[test]
    fn a_trace_says_what_the_drives_did() {
        let [(_, csv), (_, blkparse), (_, iolog)] = texts(&commands());
        assert_eq!(
            csv,
            "submit_us,drive,op,sector,sectors,done_us\n0.0,0,R,8,8,2000.0\n\
             1500.0,1,W,800,16,1600.0\n1700.0,1,F,0,0,1800.0\n"
        );
        assert_eq!(
            blkparse,
            "254,0 0 1 0.000000000 1 Q R 8 + 8 [guest]\n254,0 0 2 0.000000000 1 D R 8 + 8 [guest]\n\
             254,16 0 3 0.001500000 1 Q W 800 + 16 [guest]\n254,16 0 4 0.001500000 1 D W 800 + 16 [guest]\n\
             254,16 0 5 0.001600000 1 C W 800 + 16 [0]\n\
             254,16 0 6 0.001700000 1 Q FWS [guest]\n254,16 0 7 0.001700000 1 D FWS [guest]\n\
             254,16 0 8 0.001800000 1 C FWS [0]\n254,0 0 9 0.002000000 1 C R 8 + 8 [0]\n"
        );
        assert_eq!(
            iolog,
            "fio version 3 iolog\n0 drive0 add\n0 drive1 add\n0 drive0 open\n0 drive1 open\n\
             0 drive0 read 4096 4096\n1500 drive1 write 409600 8192\n1700 drive1 sync 0 0\n\
             1700 drive0 close\n1700 drive1 close\n"
        );
    }

    /// What is kept is what `kind = "trace"` reads.
    #[test]
    fn both_formats_are_replayed_as_they_were() {
        let [_, (_, blkparse), (_, iolog)] = texts(&commands());
        for (format, text) in [(Format::Blkparse, blkparse), (Format::Fio3, iolog)] {
            let entries = text.lines().filter_map(|line| format.entry(line.as_bytes()));
            let said: Vec<_> = entries.map(|e| (e.at_ns, e.op, e.offset_bytes, e.bytes)).collect();
            let expected = [
                (0, Op::Read, 4096, 4096),
                (1_500_000, Op::WRITE, 409_600, 8192),
                (1_700_000, Op::Flush, 0, 0),
            ];
            assert_eq!(said, expected, "{}", format.word());
        }
    }
}
