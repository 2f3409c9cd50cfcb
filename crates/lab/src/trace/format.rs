//! The formats of traces, one line a request: what each line says.

use super::Entry;
use block::Op;

/// A format of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// fio's iolog, version 2: no times, only waits.
    Fio2,
    /// fio's iolog, version 3: a time in µs before each line.
    Fio3,
    /// What blkparse prints: each request as it was queued.
    Blkparse,
    /// MSR Cambridge.
    Msr,
    /// Alibaba's block traces of 2020.
    Alibaba,
    /// Tencent's CBS.
    Tencent,
    /// SPC, as the traces of `UMass`.
    Spc,
    /// Systor '17.
    Systor,
}

/// What a line says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// A request of this disk.
    Request(&'a [u8], Entry),
    /// Nothing that is replayed: a heading, another action.
    Other,
    /// The trace is over; what follows sums it up.
    End,
    /// Not what the format has.
    Malformed,
}

impl Format {
    /// The word that `format` takes.
    pub fn word(self) -> &'static str {
        match self {
            Format::Fio2 => "fio2",
            Format::Fio3 => "fio3",
            Format::Blkparse => "blkparse",
            Format::Msr => "msr",
            Format::Alibaba => "alibaba",
            Format::Tencent => "tencent",
            Format::Spc => "spc",
            Format::Systor => "systor",
        }
    }

    /// All of them, with what their lines look like.
    pub const ALL: [(Format, &'static str); 8] = [
        (Format::Fio2, "fio version 2 iolog"),
        (Format::Fio3, "fio version 3 iolog"),
        (Format::Blkparse, "8,32 7 1 0.000000000 2923 Q R 272208 + 2 [fio]"),
        (Format::Msr, "128166372003061629,usr,0,Read,7014609920,24576,41286"),
        (Format::Alibaba, "0,R,126703644672,4096,1577808000000626"),
        (Format::Tencent, "1538323200,12910952,128,0,1063"),
        (Format::Spc, "0,20941264,8192,W,0.551706"),
        (Format::Systor, "1455592800.000001,0.000125,R,3,12345344,4096"),
    ];

    /// The format whose line this is; a heading counts where only one format has it. Alibaba's, Tencent's and SPC's
    /// lines have five fields each, and differ in where the letter stands.
    pub(super) fn of(line: &[u8]) -> Option<Format> {
        if line.starts_with(b"fio version 2 iolog") {
            return Some(Format::Fio2);
        }
        if line.starts_with(b"fio version 3 iolog") {
            return Some(Format::Fio3);
        }
        if line.starts_with(b"Timestamp,Response,IOType,LUN,Offset,Size") {
            return Some(Format::Systor);
        }
        let formats = Format::ALL.iter().map(|(format, _)| *format).skip(2);
        let mut fits = formats.filter(|format| matches!(format.read(line), Line::Request(..)));
        let first = fits.next()?;
        // A line that fits two tells nothing.
        fits.next().is_none().then_some(first)
    }

    /// The request that a line is, if it is one; whatever its bytes are.
    pub fn entry(self, line: &[u8]) -> Option<Entry> {
        match self.read(line) {
            Line::Request(_, entry) => Some(entry),
            Line::Other | Line::End | Line::Malformed => None,
        }
    }

    /// What a line says. Times are in ns since whatever the trace counts from.
    pub(super) fn read(self, line: &[u8]) -> Line<'_> {
        match self {
            Format::Fio2 => fio(line, false),
            Format::Fio3 => fio(line, true),
            Format::Blkparse => blkparse(line),
            Format::Msr => headed(line, b"timestamp", msr(line)),
            Format::Alibaba => headed(line, b"device_id", alibaba(line)),
            Format::Tencent => headed(line, b"timestamp", tencent(line)),
            Format::Spc => headed(line, b"asu", spc(line)),
            Format::Systor => headed(line, b"timestamp", systor(line)),
        }
    }
}

fn some(read: Option<(&[u8], Entry)>) -> Line<'_> {
    read.map_or(Line::Malformed, |(disk, entry)| Line::Request(disk, entry))
}

/// The same, where the first line may be a heading.
fn headed<'a>(line: &[u8], heading: &[u8], read: Option<(&'a [u8], Entry)>) -> Line<'a> {
    // What is read is none: there are millions of lines, and one heading.
    let is_heading =
        || line.get(..heading.len()).is_some_and(|start| start.eq_ignore_ascii_case(heading));
    if read.is_none() && is_heading() { Line::Other } else { some(read) }
}

const SECTOR_BYTES: u64 = block::SECTOR_BYTES;

fn entry(at_ns: u64, op: Op, offset_bytes: u64, bytes: u64) -> Option<Entry> {
    // No request is larger than 1 GiB, and no disk than 2^62 bytes.
    let is_possible = bytes <= 1 << 30 && offset_bytes <= 1 << 62;
    let entry = Entry { at_ns, disk: 0, op, offset_bytes, bytes, flush_first: false };
    (is_possible && bytes > 0).then_some(entry)
}

/// `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`: 100 ns since 1601, bytes. A disk is a host's disk.
fn msr(line: &[u8]) -> Option<(&[u8], Entry)> {
    let mut fields = Fields(line);
    let at = fields.number()?;
    let start = line.len() - fields.0.len();
    let (host, disk) = (fields.next()?, fields.next()?);
    let name = &line[start..start + host.len() + 1 + disk.len()];
    let op = match fields.next()? {
        b"Read" => Op::Read,
        b"Write" => Op::WRITE,
        _ => return None,
    };
    let (offset, bytes) = (fields.number()?, fields.number()?);
    Some((name, entry(at.checked_mul(100)?, op, offset, bytes)?))
}

/// `device_id,opcode,offset,length,timestamp`: bytes, µs since 1970.
fn alibaba(line: &[u8]) -> Option<(&[u8], Entry)> {
    let mut fields = Fields(line);
    let disk =
        fields.next().filter(|disk| disk.iter().all(u8::is_ascii_digit) && !disk.is_empty())?;
    let op = match fields.next()? {
        b"R" => Op::Read,
        b"W" => Op::WRITE,
        _ => return None,
    };
    let (offset, bytes, at) = (fields.number()?, fields.number()?, fields.number()?);
    fields.is_over().then_some(())?;
    Some((disk, entry(at.checked_mul(1000)?, op, offset, bytes)?))
}

/// `Timestamp,Offset,Size,IOType,VolumeID`: seconds since 1970, sectors, 0 reads and 1 writes.
fn tencent(line: &[u8]) -> Option<(&[u8], Entry)> {
    let mut fields = Fields(line);
    let (at, offset, sectors) = (fields.number()?, fields.number()?, fields.number()?);
    let op = match fields.next()? {
        b"0" => Op::Read,
        b"1" => Op::WRITE,
        _ => return None,
    };
    let disk =
        fields.next().filter(|disk| disk.iter().all(u8::is_ascii_digit) && !disk.is_empty())?;
    fields.is_over().then_some(())?;
    let bytes = |sectors: u64| sectors.checked_mul(SECTOR_BYTES);
    Some((disk, entry(at.checked_mul(1_000_000_000)?, op, bytes(offset)?, bytes(sectors)?)?))
}

/// `ASU,LBA,Size,Opcode,Timestamp`, and more that nobody needs: blocks of 512 bytes, bytes, seconds.
fn spc(line: &[u8]) -> Option<(&[u8], Entry)> {
    let mut fields = Fields(line);
    let disk = fields.next().map(<[u8]>::trim_ascii)?;
    let is_number = disk.iter().all(u8::is_ascii_digit) && !disk.is_empty();
    let (block, bytes) = (fields.number().filter(|_| is_number)?, fields.number()?);
    let op = match fields.next()?.trim_ascii() {
        b"r" | b"R" => Op::Read,
        b"w" | b"W" => Op::WRITE,
        _ => return None,
    };
    let at_ns = seconds_ns(fields.next()?.trim_ascii())?;
    Some((disk, entry(at_ns, op, block.checked_mul(SECTOR_BYTES)?, bytes)?))
}

/// `Timestamp,Response,IOType,LUN,Offset,Size`: seconds, bytes. The response may be empty.
fn systor(line: &[u8]) -> Option<(&[u8], Entry)> {
    let mut fields = Fields(line);
    let at_ns = seconds_ns(fields.next()?)?;
    let response = fields.next()?;
    (response.is_empty() || seconds_ns(response).is_some()).then_some(())?;
    let op = match fields.next()? {
        b"R" => Op::Read,
        b"W" => Op::WRITE,
        _ => return None,
    };
    let disk = fields.next()?;
    let (offset, bytes) = (fields.number()?, fields.number()?);
    fields.is_over().then_some(())?;
    Some((disk, entry(at_ns, op, offset, bytes)?))
}

/// `maj,min cpu sequence time pid action RWBS sector + count [process]`. Only Q, a request as it comes, is one: what
/// happens to it later is the machine's that was traced.
fn blkparse(line: &[u8]) -> Line<'_> {
    let line = line.trim_ascii_start();
    if [&b"CPU"[..], b"Total", b"Throughput", b"Events"].iter().any(|word| line.starts_with(word)) {
        return Line::End;
    }
    blkparse_event(line).unwrap_or(Line::Malformed)
}

fn blkparse_event(line: &[u8]) -> Option<Line<'_>> {
    let mut words = Words(line);
    let disk = words.next()?;
    let mut device = disk.splitn(2, |&byte| byte == b',');
    let is_device = device.all(|part| !part.is_empty() && part.iter().all(u8::is_ascii_digit));
    (is_device && disk.contains(&b',')).then_some(())?;
    let (_cpu, _sequence) = (number(words.next()?)?, number(words.next()?)?);
    let at_ns = seconds_ns(words.next()?)?;
    let (_pid, action) = (number(words.next()?)?, words.next()?);
    if action != b"Q" {
        return Some(Line::Other);
    }
    let flags = words.next()?;
    let kind = flags.iter().position(|flag| b"RWD".contains(flag));
    let Some(place) = kind else { return Some(Line::Other) };
    // `F` before the letter is a flush first, behind it a write past the cache (`blk_fill_rwbs`).
    let (before, behind) = (flags[..place].contains(&b'F'), flags[place..].contains(&b'F'));
    let op = match flags[place] {
        b'R' => Op::Read,
        b'W' => Op::Write { fua: behind },
        _ => Op::Discard,
    };
    // An empty write is a flush.
    let Some(sector) = words.next().and_then(number) else {
        return (before || behind).then_some(Line::Request(disk, flush(at_ns)));
    };
    (words.next()? == b"+").then_some(())?;
    let sectors = number(words.next()?)?;
    if sectors == 0 {
        return Some(Line::Request(disk, flush(at_ns)));
    }
    let bytes = |sectors: u64| sectors.checked_mul(SECTOR_BYTES);
    let entry = entry(at_ns, op, bytes(sector)?, bytes(sectors)?)?;
    Some(Line::Request(disk, Entry { flush_first: before, ..entry }))
}

fn flush(at_ns: u64) -> Entry {
    Entry { at_ns, disk: 0, op: Op::Flush, offset_bytes: 0, bytes: 0, flush_first: false }
}

/// `[time] file action [offset length]`; the time is in µs. `wait` is in µs since the last one, and is handed on as a
/// time without a request.
fn fio(line: &[u8], has_time: bool) -> Line<'_> {
    if line.starts_with(b"fio version") {
        return Line::Other;
    }
    fio_action(line, has_time).unwrap_or(Line::Malformed)
}

fn fio_action(line: &[u8], has_time: bool) -> Option<Line<'_>> {
    let mut words = Words(line);
    let at_ns = if has_time { number(words.next()?)?.checked_mul(1000)? } else { 0 };
    let (file, action) = (words.next()?, words.next()?);
    let op = match action {
        b"add" | b"open" | b"close" => return Some(Line::Other),
        b"sync" | b"datasync" => return Some(Line::Request(file, flush(at_ns))),
        b"read" => Op::Read,
        b"write" => Op::WRITE,
        b"trim" => Op::Discard,
        b"wait" if !has_time => {
            let wait_ns = number(words.next()?)?.checked_mul(1000)?;
            let wait = Entry { op: Op::Zeroes, ..flush(wait_ns) };
            return Some(Line::Request(file, wait));
        }
        _ => return None,
    };
    let (offset, bytes) = (number(words.next()?)?, number(words.next()?)?);
    Some(Line::Request(file, entry(at_ns, op, offset, bytes)?))
}

/// So many digits are no more than 64 bits hold, whichever they are.
const DIGITS_SURE: usize = 19;

/// Fields between commas.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn next(&mut self) -> Option<&'a [u8]> {
        if self.0.is_empty() {
            return None;
        }
        let end = self.0.iter().position(|&byte| byte == b',');
        let (field, rest) = match end {
            Some(end) => (&self.0[..end], &self.0[end + 1..]),
            None => (self.0, &self.0[self.0.len()..]),
        };
        self.0 = rest;
        Some(field)
    }

    /// The next field as a number. Mostly it is digits and nothing else, which are read once.
    fn number(&mut self) -> Option<u64> {
        let (mut number, mut digits) = (0_u64, 0);
        for &byte in self.0.iter().take(DIGITS_SURE) {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            number = number * 10 + u64::from(digit);
            digits += 1;
        }
        let rest = match self.0.get(digits) {
            Some(b',') => digits + 1,
            None => digits,
            Some(_) => return self.spaced_number(),
        };
        if digits == 0 {
            return self.spaced_number();
        }
        self.0 = &self.0[rest..];
        Some(number)
    }

    /// The same of any field: with spaces around it, and however long.
    #[cold]
    fn spaced_number(&mut self) -> Option<u64> {
        number(self.next()?.trim_ascii())
    }

    fn is_over(&self) -> bool {
        self.0.is_empty()
    }
}

/// Words between spaces.
struct Words<'a>(&'a [u8]);

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<&'a [u8]> {
        let rest = self.0.trim_ascii_start();
        let end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        let (word, rest) = rest.split_at(end);
        self.0 = rest;
        (!word.is_empty()).then_some(word)
    }
}

fn number(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    text.iter().try_fold(0_u64, |number, digit| {
        let digit = digit.is_ascii_digit().then(|| u64::from(digit - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    })
}

/// Seconds with a point, in ns: 0.551706 is 551,706,000. Digits beyond the ninth are cut.
fn seconds_ns(text: &[u8]) -> Option<u64> {
    let point = text.iter().position(|&byte| byte == b'.').unwrap_or(text.len());
    let whole_ns = number(&text[..point])?.checked_mul(1_000_000_000)?;
    let digits = text.get(point + 1..).unwrap_or(&[]);
    digits.iter().all(u8::is_ascii_digit).then_some(())?;
    let part_ns = (0..9).fold(0, |ns, place| {
        ns * 10 + digits.get(place).map_or(0, |digit| u64::from(digit - b'0'))
    });
    whole_ns.checked_add(part_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(format: Format, line: &str) -> (String, Entry) {
        match format.read(line.as_bytes()) {
            Line::Request(disk, entry) => (String::from_utf8(disk.to_vec()).unwrap(), entry),
            other => panic!("{line}: {other:?}"),
        }
    }

    /// The example of each, as the formats' own descriptions have it.
    #[test]
    fn a_line_of_each_is_read() {
        let of = |at_ns, op, offset_bytes, bytes| Entry { op, offset_bytes, bytes, ..flush(at_ns) };
        let examples = [
            (Format::Msr, "usr,0", of(12_816_637_200_306_162_900, Op::Read, 7_014_609_920, 24_576)),
            (Format::Alibaba, "0", of(1_577_808_000_000_626_000, Op::Read, 126_703_644_672, 4096)),
            (
                Format::Tencent,
                "1063",
                of(1_538_323_200_000_000_000, Op::Read, 12_910_952 * 512, 65_536),
            ),
            (Format::Spc, "0", of(551_706_000, Op::WRITE, 20_941_264 * 512, 8192)),
            (Format::Systor, "3", of(1_455_592_800_000_001_000, Op::Read, 12_345_344, 4096)),
            (Format::Blkparse, "8,32", of(0, Op::Read, 272_208 * 512, 1024)),
        ];
        for (format, disk, entry) in examples {
            let line = Format::ALL.iter().find(|(known, _)| *known == format).unwrap().1;
            assert_eq!(read(format, line), (disk.to_string(), entry), "{line}");
            assert_eq!(Format::of(line.as_bytes()), Some(format), "{line}");
        }
        let fio = read(Format::Fio3, "878 Nvme1n1 write 0 16384").1;
        assert_eq!(fio, of(878_000, Op::WRITE, 0, 16_384));
        assert_eq!(read(Format::Fio2, "/dev/sda trim 4096 512").1.op, Op::Discard);
        assert_eq!(read(Format::Spc, "8,21888,32768,r,2077.065185").1.at_ns, 2_077_065_185_000);
    }

    #[test]
    fn only_what_is_queued_is_a_request_and_a_summary_is_the_end() {
        let of = |line: &'static str| Format::Blkparse.read(line.as_bytes());
        assert_eq!(
            of("  8,32   7        2     0.000009000  2923  G   R 272208 + 2 [fio]"),
            Line::Other
        );
        assert_eq!(
            of("  8,32   7        2     0.000009000  2923  C   R 272208 + 2 [0]"),
            Line::Other
        );
        assert_eq!(of("  8,32   7        3     0.1  2923  P   N [fio]"), Line::Other);
        assert!(
            matches!(of("8,32 7 4 0.2 29 Q FWS [fio]"), Line::Request(_, e) if e.op == Op::Flush)
        );
        assert!(
            matches!(of("8,32 7 4 0.2 29 Q WSM 8 + 8 [fio]"), Line::Request(_, e) if e.op == Op::WRITE)
        );
        let forced = Op::Write { fua: true };
        for (flags, op, flush_first) in [
            ("WS", Op::WRITE, false),
            ("FWS", Op::WRITE, true),
            ("WFS", forced, false),
            ("FWFS", forced, true),
        ] {
            let line = format!("8,32 7 4 0.2 29 Q {flags} 8 + 8 [jbd2/sda1-8]");
            let entry = Format::Blkparse.entry(line.as_bytes()).unwrap();
            assert_eq!((entry.op, entry.flush_first), (op, flush_first), "{flags}");
        }
        assert_eq!(of("CPU0 (8,32):"), Line::End);
        for bad in [
            "",
            "8,32",
            "8 7 1 0.0 2 Q R 1 + 2",
            "8,32 7 1 x 2 Q R 1 + 2",
            "8,32 7 1 0.0 2 Q R 1 - 2",
        ] {
            assert_eq!(of(bad), Line::Malformed, "{bad}");
        }
    }

    #[test]
    fn what_a_format_does_not_have_is_malformed() {
        for (format, line) in [
            (Format::Msr, "128166372003061629,usr,0,Trim,1,2,3"),
            (Format::Msr, "128166372003061629,usr,0,Read,1"),
            (Format::Alibaba, "0,R,1,0,5"),
            (Format::Alibaba, "0,R,1,4096,5,6"),
            (Format::Alibaba, "0,R,18446744073709551616,4096,5"),
            (Format::Tencent, "1,2,3,2,5"),
            (Format::Spc, "0,1,512,x,0.5"),
            (Format::Spc, "0,1,512,r,-1"),
            (Format::Systor, "1.0,2.0,R,x,1"),
            (Format::Fio3, "1 a write 0"),
            (Format::Fio2, "a fly 0 1"),
        ] {
            assert_eq!(format.read(line.as_bytes()), Line::Malformed, "{line}");
        }
    }

    /// "1 malformed lines of hdr.csv are left out" was said of the names of the columns.
    #[test]
    fn the_names_of_the_columns_are_no_malformed_line() {
        for (format, line) in [
            (Format::Msr, "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime"),
            (Format::Msr, "timestamp,hostname,disk_number,type,offset,size,response_time"),
            (Format::Alibaba, "device_id,opcode,offset,length,timestamp"),
            (Format::Tencent, "Timestamp,Offset,Size,IOType,VolumeID"),
            (Format::Spc, "ASU,LBA,Size,Opcode,Timestamp"),
            (Format::Systor, "Timestamp,Response,IOType,LUN,Offset,Size"),
        ] {
            assert_eq!(format.read(line.as_bytes()), Line::Other, "{line}");
        }
    }

    proptest! {
        /// Whatever the bytes are, a reader says what they are and does not panic.
        #[test]
        fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let _ = Format::of(&bytes);
            for (format, _) in Format::ALL {
                let _ = format.read(&bytes);
            }
        }

        /// A number that is read once is the one that its field is, and so is what follows.
        #[test]
        fn numbers_are_read_in_one_pass(text in "[0-9]{0,22}[ ,x-]{0,2}[0-9, ]{0,30}") {
            let [mut once, mut twice] = [Fields(text.as_bytes()), Fields(text.as_bytes())];
            for _ in 0..4 {
                let of_field = twice.next().and_then(|field| number(field.trim_ascii()));
                prop_assert_eq!(once.number(), of_field);
                prop_assert_eq!(once.0, twice.0);
            }
        }

        /// The same of bytes that are nearly right.
        #[test]
        fn any_fields_are_read(text in "[0-9RWrwQ,. +-]{0,60}") {
            for (format, _) in Format::ALL {
                let _ = format.read(text.as_bytes());
            }
        }
    }
}
