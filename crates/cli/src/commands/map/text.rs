//! What `ileave map` prints for people.

use block::layout::{Part, Segments};
use block::units::{SECTOR_BYTES, format_bytes};
use comfy_table::Table;
use lab::map::ffs::Landing;
use lab::map::pieces::{Asked, Piece, spread};
use lab::map::straddle::{Count, Pattern};
use lab::map::{Volume, picture};
use std::fmt::Write as _;
use verdict::tables::{paragraphs, table};

/// A size in the largest unit that leaves it at least 1.
fn about(sectors: u64) -> String {
    let bytes = sectors * SECTOR_BYTES;
    let exact = format_bytes(bytes);
    if exact.len() <= 8 && !exact.ends_with("KiB") || bytes < 1 << 20 {
        return exact;
    }
    let units = [(40, "TiB"), (30, "GiB"), (20, "MiB")];
    let (shift, unit) =
        units.into_iter().find(|(shift, _)| bytes >> shift > 0).unwrap_or((20, "MiB"));
    format!("{:.2} {unit}", bytes as f64 / (1_u64 << shift) as f64)
}

fn many(count: usize, one: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {one}s") }
}

/// What it is, how large, and what it looks like.
pub(super) fn shape(volume: &Volume) -> String {
    let mut text = format!("{}, {}", volume.level, many(volume.members.len(), "member"));
    if volume.interleave_sectors > 0 {
        let interleave = volume.interleave_sectors;
        write!(text, ", interleave {interleave} sectors ({})", about(interleave))
            .expect("a string grows");
    }
    let sectors = volume.layout.sectors();
    writeln!(text, ": {sectors} sectors ({})", about(sectors)).expect("a string grows");
    if let Some(level) = volume.level.parse::<block::Level>().ok().map(|level| level.about) {
        writeln!(text, "{level}").expect("a string grows");
    }
    writeln!(text, "\n{}", picture::picture(volume)).expect("a string grows");
    if let Some(segments) = volume.layout.segments() {
        writeln!(text, "{}\n", table_of_segments(volume, segments)).expect("a string grows");
    }
    let mut members = table(&["member", "name", "sectors"].map(String::from), 2);
    for (index, member) in volume.members.iter().enumerate() {
        members.add_row([index.to_string(), member.name.clone(), member.sectors.to_string()]);
    }
    writeln!(text, "{members}").expect("a string grows");
    text.push_str(&notes(volume));
    text
}

/// Segments that are listed one by one; of more, the first and the last.
const SEGMENTS_SHOWN: usize = 12;

/// The segments: where each is in the volume, and on the members.
fn table_of_segments(volume: &Volume, segments: &Segments) -> Table {
    let mut rows = table(&["segment", "from sector", "sectors", "members"].map(String::from), 3);
    let count = segments.list().count();
    for (index, (first, sectors, parts)) in segments.list().enumerate() {
        if count > SEGMENTS_SHOWN && index + 1 > SEGMENTS_SHOWN / 2 && index + 1 < count {
            if index == SEGMENTS_SHOWN / 2 {
                rows.add_row(["⋮".to_string()]);
            }
            continue;
        }
        let part = |part: &Part| {
            let name = &volume.members[part.member as usize].name;
            format!("{name} from {}", part.start_sector)
        };
        let on: Vec<String> = parts.iter().map(part).collect();
        rows.add_row([index.to_string(), first.to_string(), sectors.to_string(), on.join(", ")]);
    }
    rows
}

/// What a reader should know.
pub(super) fn notes(volume: &Volume) -> String {
    let notes: Vec<String> = volume.notes.iter().map(|note| format!("note: {note}")).collect();
    paragraphs(&notes)
}

/// Where sectors, ranges and requests are.
pub(super) fn answers(volume: &Volume, answers: &[(Asked, Vec<Piece>)]) -> String {
    let mut text = String::new();
    let copies = |(_, pieces): &(Asked, Vec<Piece>)| pieces.iter().map(|p| p.places.len()).max();
    let copies = answers.iter().filter_map(copies).max().unwrap_or(1);
    let mut header: Vec<String> =
        ["sector", "count", "member", "from sector"].map(String::from).into();
    for _ in 1..copies {
        header.extend(["copy", "from sector"].map(String::from));
    }
    let parity = volume.layout.parity();
    if let Some(parity) = parity {
        header.extend(["row", "P"].map(String::from));
        header.extend((parity.parities() > 1).then(|| "Q".into()));
    }
    let mut rows = table(&header, 0);
    for (_, pieces) in answers {
        for piece in pieces {
            let mut row = vec![piece.sector.to_string(), piece.sectors.to_string()];
            for place in &piece.places {
                row.push(volume.members[place.member as usize].name.clone());
                row.push(place.sector.to_string());
            }
            row.resize(2 + 2 * copies, String::new());
            if let Some(rows) = volume.layout.rows_at(piece.sector) {
                let number = rows.first_row + rows.row_of(piece.sector).0;
                row.push(number.to_string());
                if let Some((p, q)) = volume.layout.row_parity(number) {
                    let places = [Some(p), q].into_iter().flatten();
                    row.extend(places.map(|at| volume.members[at.member as usize].name.clone()));
                }
            }
            rows.add_row(row);
        }
    }
    writeln!(text, "{rows}").expect("a string grows");
    for (asked, pieces) in answers {
        if let Asked::Request(_, count) = asked {
            let found = match spread(pieces) {
                1 if pieces.len() == 1 => "in one piece".to_string(),
                1 => format!("not split, in {}", many(pieces.len(), "piece")),
                members => {
                    format!("split over {members} members, in {}", many(pieces.len(), "piece"))
                }
            };
            writeln!(
                text,
                "{asked}: {} ({}) {found}",
                many(*count as usize, "sector"),
                about(*count)
            )
            .expect("a string grows");
        }
    }
    text.push_str(&notes(volume));
    text
}

/// Which share of requests straddles.
pub(super) fn straddles(volume: &Volume, counts: &[(Pattern, Count)]) -> String {
    let header = ["requests of", "at every", "requests", "split", "share"].map(String::from);
    let mut rows = table(&header, 0);
    for (pattern, count) in counts {
        rows.add_row([
            about(pattern.sectors),
            about(pattern.align_sectors),
            count.requests.to_string(),
            count.split.to_string(),
            format!("{:.3}", count.share()),
        ]);
    }
    let mut text = format!("{rows}\n");
    for (pattern, _) in counts {
        text.push_str(&as_read(pattern));
    }
    let whole = volume.layout.sectors();
    if let Some((_, count)) = counts.iter().find(|(_, count)| count.counted_sectors < whole) {
        let sectors = count.counted_sectors;
        writeln!(text, "counted over the first {sectors} of {whole} sectors").expect("it grows");
    }
    text
}

/// How a pattern was read, where it has a bare number, which counts sectors.
fn as_read(pattern: &Pattern) -> String {
    let (size, align) = pattern.text.split_once('@').unwrap_or((&pattern.text, ""));
    let is_bare = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let parts = [(size.trim(), pattern.sectors), (align.trim(), pattern.align_sectors)];
    let said: Vec<String> = parts
        .into_iter()
        .filter(|(part, _)| is_bare(part))
        .map(|(part, sectors)| format!("{part} as {sectors} sectors ({})", about(sectors)))
        .collect();
    if said.is_empty() {
        return String::new();
    }
    let next = "bare numbers count sectors; write bytes with a unit, as in 512B";
    format!("{}: read {}; {next}\n", pattern.text, said.join(" and "))
}

/// Where a file system's own blocks land.
pub(super) fn landing(volume: &Volume, landing: &Landing) -> String {
    let mut text = format!(
        "{} of {} sectors ({}), {} inodes each\n\nin group 0:\n",
        many(landing.groups as usize, "cylinder group"),
        landing.group_sectors,
        about(landing.group_sectors),
        landing.inodes_per_group
    );
    for (what, area) in &landing.first_group {
        writeln!(text, "  {what:<16} sectors {}–{}", area.start, area.end - 1).expect("it grows");
    }
    writeln!(text, "\n{}\n", shares(volume, landing)).expect("a string grows");
    text.push_str(&paragraphs(std::slice::from_ref(&landing.verdict)));
    text
}

/// Members that fit side by side; of more, the busiest and the least busy are shown.
const MEMBERS_SHOWN: usize = 12;

fn shares(volume: &Volume, landing: &Landing) -> Table {
    let few = volume.members.len() <= MEMBERS_SHOWN;
    let mut header = vec!["over all groups".to_string(), "sectors".into()];
    if few {
        header.extend(volume.members.iter().map(|member| member.name.clone()));
    } else {
        header.extend(["busiest member", "least busy"].map(String::from));
    }
    let mut rows = table(&header, 1);
    for share in &landing.shares {
        let mut row = vec![share.what.to_string(), share.sectors.to_string()];
        let part = |on: &u64| format!("{:.1} %", 100.0 * *on as f64 / share.sectors.max(1) as f64);
        let on = &share.member_sectors;
        if few {
            row.extend(on.iter().map(part));
        } else {
            row.extend([on.iter().max(), on.iter().min()].into_iter().flatten().map(part));
        }
        rows.add_row(row);
    }
    rows
}
