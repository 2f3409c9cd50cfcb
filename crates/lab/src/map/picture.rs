//! A small picture of a layout: which member holds which interleave, row by row.

use super::Volume;
use block::{Level, Place};
use std::fmt::Write as _;

/// Members that fit side by side.
const MEMBERS_SHOWN: usize = 12;
/// The widest that a member's name may be.
const NAME_MAX: usize = 14;

/// Draws the first rows, those where a member ends, and the last.
pub fn picture(volume: &Volume) -> String {
    let drawing = Drawing::new(volume);
    let rows = drawing.rows();
    let shown = volume.members.len().min(MEMBERS_SHOWN);
    let cells: Vec<(u64, Vec<String>)> = rows
        .into_iter()
        .map(|row| (row, (0..shown).map(|member| drawing.cell(member, row)).collect()))
        .collect();
    let names: Vec<String> = volume.members[..shown].iter().map(|m| short(&m.name)).collect();
    let contents = cells.iter().flat_map(|(_, cells)| cells).chain(&names);
    let width = contents.map(|text| text.chars().count()).max().unwrap_or(0).max(5) + 2;
    let label = cells.iter().map(|(row, _)| row.to_string().len()).max().unwrap_or(1).max(3);
    let line = |left: &str, mid: &str, right: &str| {
        let dashes = vec!["─".repeat(width); shown].join(mid);
        format!("{:label$} {left}{dashes}{right}\n", "")
    };
    let mut text = format!("{:>label$}  ", if drawing.interleave > 0 { "row" } else { "" });
    for name in &names {
        write!(text, "{name:^width$} ").expect("a string grows");
    }
    let text_end = text.trim_end().len();
    text.truncate(text_end);
    if volume.members.len() > shown {
        write!(text, "  … and {} more", volume.members.len() - shown).expect("a string grows");
    }
    text.push('\n');
    text.push_str(&line("╭", "┬", "╮"));
    let mut expected = 0;
    for (row, cells) in &cells {
        if *row != expected {
            writeln!(text, "{:>label$} ┊", "⋮").expect("a string grows");
        }
        expected = row + 1;
        let name = if drawing.interleave > 0 { row.to_string() } else { String::new() };
        write!(text, "{name:>label$} │").expect("a string grows");
        for cell in cells {
            write!(text, "{cell:^width$}│").expect("a string grows");
        }
        text.push('\n');
    }
    text.push_str(&line("╰", "┴", "╯"));
    text.push_str(&drawing.legend(&cells));
    text
}

/// The last part of a device's name.
fn short(name: &str) -> String {
    let last = name.rsplit('/').next().unwrap_or(name);
    let count = last.chars().count();
    if count <= NAME_MAX {
        return last.into();
    }
    let end: String = last.chars().skip(count + 1 - NAME_MAX).collect();
    format!("…{end}")
}

/// A layout and where its rows start on each member.
struct Drawing<'v> {
    volume: &'v Volume,
    /// 0 where there is none, and then there is one row.
    interleave: u64,
    starts: Vec<u64>,
    /// How many sectors of each member are drawn; of a volume in segments those of the first.
    rooms: Vec<u64>,
    /// Arrays side by side, each with rows of its own; one where there are none.
    groups: u64,
    /// Their rows in front of the first that is drawn, which are the outer stripe's own.
    rows_before: u64,
}

impl<'v> Drawing<'v> {
    fn new(volume: &'v Volume) -> Self {
        let (starts, rooms) = match volume.layout.segments().and_then(|s| s.list().next()) {
            Some((_, _, parts)) => (0..volume.members.len() as u32)
                .map(|member| parts.iter().find(|part| part.member == member))
                .map(|part| part.map_or((0, 0), |part| (part.start_sector, part.sectors)))
                .unzip(),
            None => (0..volume.members.len())
                .map(|member| (start(volume, member), volume.members[member].sectors))
                .map(|(start, sectors)| (start, sectors.saturating_sub(start)))
                .unzip(),
        };
        let interleave = volume.interleave_sectors;
        let plain = Drawing { volume, interleave, starts, rooms, groups: 1, rows_before: 0 };
        plain.of_nested()
    }

    /// Arrays side by side are drawn from the outer stripe's first sector on.
    fn of_nested(self) -> Self {
        let nested = self.volume.level.parse::<Level>().ok().and_then(|level| level.nested());
        let (Some(of), Some((p, _))) = (nested, self.volume.layout.row_parity(0)) else {
            return self;
        };
        let mut places = Vec::new();
        self.volume.layout.places(0, &mut places);
        let rows_before = (places[0].sector - p.sector) / self.interleave;
        let start = p.sector + rows_before * self.interleave;
        let starts = vec![start; self.starts.len()];
        let members = self.volume.members.iter();
        let rooms = members.map(|member| member.sectors.saturating_sub(start)).collect();
        Drawing { starts, rooms, groups: of.groups as u64, rows_before, ..self }
    }

    /// Which rows to show, in order.
    fn rows(&self) -> Vec<u64> {
        if self.interleave == 0 {
            return vec![0];
        }
        let ends: Vec<u64> = (0..self.starts.len()).map(|member| self.rows_of(member)).collect();
        let last = self.last_row(ends.iter().copied().max().unwrap_or(0));
        let first = (self.volume.members.len() as u64 + 1).clamp(4, 8).min(last + 1);
        let mut rows: Vec<u64> = (0..first).collect();
        for end in ends.into_iter().filter(|&end| end <= last).take(MEMBERS_SHOWN) {
            rows.extend([end.saturating_sub(1), end]);
        }
        rows.extend([last.saturating_sub(1), last]);
        rows.sort_unstable();
        rows.dedup();
        rows
    }

    /// How many rows a member has room for.
    fn rows_of(&self, member: usize) -> u64 {
        self.rooms[member] / self.interleave
    }

    /// The last row that holds anything; what members have beyond is not used.
    fn last_row(&self, rows: u64) -> u64 {
        if let Some(parity) = self.volume.layout.parity() {
            return parity.rows().saturating_sub(1);
        }
        if self.volume.layout.segments().is_some() {
            return rows.saturating_sub(1);
        }
        let mut places = Vec::new();
        self.volume.layout.places(self.volume.layout.sectors() - 1, &mut places);
        let row_of = |place: &Place| {
            place.sector.saturating_sub(self.starts[place.member as usize]) / self.interleave
        };
        let end = places.iter().map(row_of).max().unwrap_or(0);
        let used =
            |row: &u64| (0..self.starts.len()).any(|member| self.held(member, *row).is_some());
        (end + 1..rows).rev().take(64).find(used).unwrap_or(end)
    }

    fn place(&self, member: usize, row: u64) -> Place {
        Place { member: member as u32, sector: self.starts[member] + row * self.interleave }
    }

    /// The volume's sector at the start of a member's part of a row.
    fn held(&self, member: usize, row: u64) -> Option<u64> {
        let inside = self.interleave == 0 || row < self.rows_of(member);
        if !inside {
            return None;
        }
        self.volume.layout.holds(self.place(member, row)).0
    }

    fn cell(&self, member: usize, row: u64) -> String {
        let place = self.place(member, row);
        if self.rooms[member] == 0 {
            return String::new();
        }
        if self.interleave == 0 {
            let (Some(sector), run) = self.volume.layout.holds(place) else { return String::new() };
            return format!("{sector}–{}", sector + run - 1);
        }
        for group in 0..self.groups {
            let number = (self.rows_before + row) * self.groups + group;
            if let Some((p, q)) = self.volume.layout.row_parity(number) {
                if p == place {
                    return "P".into();
                }
                if q == Some(place) {
                    return "Q".into();
                }
            }
        }
        let Some(sector) = self.held(member, row) else { return String::new() };
        let mut places = Vec::new();
        self.volume.layout.places(sector, &mut places);
        let mark = if places.first().is_some_and(|first| *first != place) { "'" } else { "" };
        format!("{}{mark}", sector / self.interleave)
    }

    /// What the signs mean that are there.
    fn legend(&self, cells: &[(u64, Vec<String>)]) -> String {
        let mut text = String::new();
        let has = |sign: &dyn Fn(&str) -> bool| {
            cells.iter().flat_map(|(_, cells)| cells).any(|cell| sign(cell))
        };
        if self.interleave == 0 {
            text.push_str("volume sectors\n");
            return text;
        }
        write!(text, "n: volume sectors from n × {}", self.interleave).expect("a string grows");
        if has(&|cell| cell.ends_with('\'')) {
            text.push_str("; n': a copy");
        }
        if has(&|cell| cell == "P") {
            text.push_str("; P: parity of the row");
        }
        if has(&|cell| cell == "Q") {
            text.push_str("; Q: its second");
        }
        text.push('\n');
        let drawn = self.starts.iter().zip(&self.rooms).filter(|(_, room)| **room > 0);
        let reserved: Vec<u64> = drawn.map(|(&start, _)| start).collect();
        match (reserved.iter().min(), reserved.iter().max()) {
            (Some(0), Some(0)) => {}
            (Some(least), Some(most)) if least == most => {
                writeln!(text, "row 0 starts at sector {least} of each member").expect("it grows");
            }
            _ => {
                let starts: Vec<String> = reserved.iter().map(u64::to_string).collect();
                writeln!(
                    text,
                    "row 0 starts at these sectors of the members: {}",
                    starts.join(", ")
                )
                .expect("it grows");
            }
        }
        text
    }
}

/// Where the volume starts on a member.
fn start(volume: &Volume, member: usize) -> u64 {
    let index = member as u32;
    if let Some((p, q)) = volume.layout.row_parity(0) {
        for place in [Some(p), q].into_iter().flatten() {
            if place.member == index {
                return place.sector;
            }
        }
    }
    match volume.layout.holds(Place { member: index, sector: 0 }) {
        (None, run) if run < volume.members[member].sectors => run,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use crate::map::{Sizes, Volume};

    fn picture(level: &str, interleave: u64, members: &[u64]) -> String {
        let sizes = Sizes { given: Vec::new(), of_path: &|_| None };
        let volume =
            Volume::of_level(level, Some(interleave), (members.len(), members), &sizes, None)
                .unwrap();
        super::picture(&volume)
    }

    /// What is the outer stripe's own in front of its data is not drawn.
    #[test]
    fn arrays_side_by_side_are_drawn_side_by_side() {
        let drawn = picture("md-raid50-2", 128, &[1 << 21; 6]);
        let rows: Vec<&str> = drawn.lines().skip(2).take(4).collect();
        let cells = |row: &str| -> Vec<String> {
            row.split('│').skip(1).take(6).map(|cell| cell.trim().to_string()).collect()
        };
        let group = |row: &str, of: usize| cells(row)[3 * of..3 * of + 3].to_vec();
        assert_eq!(cells(rows[0]).iter().filter(|cell| *cell == "P").count(), 2, "{drawn}");
        // The two arrays turn alike, and get the even and the odd ones.
        for row in rows {
            for (even, odd) in group(row, 0).iter().zip(group(row, 1)) {
                let next = even.parse::<u64>().map(|n| (n + 1).to_string());
                assert_eq!(next.unwrap_or(even.clone()), odd, "{drawn}");
            }
        }
    }

    #[test]
    fn parity_goes_round() {
        let expected = "\
row     0       1       2       3
    ╭───────┬───────┬───────┬───────╮
  0 │   0   │   1   │   2   │   P   │
  1 │   4   │   5   │   P   │   3   │
  2 │   8   │   P   │   6   │   7   │
  3 │   P   │   9   │  10   │  11   │
  4 │  12   │  13   │  14   │   P   │
  ⋮ ┊
  8 │  24   │  25   │  26   │   P   │
  9 │  28   │  29   │   P   │  27   │
    ╰───────┴───────┴───────┴───────╯
n: volume sectors from n × 8; P: parity of the row
";
        assert_eq!(picture("raid5", 8, &[80; 4]), expected);
    }

    #[test]
    fn unequal_members_drop_out() {
        let drawn = picture("ccd", 128, &[1000, 1300, 1300]);
        assert!(drawn.contains("  7 │       │  21   │  22   │\n"), "{drawn}");
        assert!(drawn.contains("  9 │       │  25   │  26   │\n"), "{drawn}");
    }

    #[test]
    fn copies_and_reserved_sectors_are_marked() {
        let drawn = picture("md-raid10-o2", 128, &[81_923; 4]);
        assert!(drawn.contains("  1 │  3'   │  0'   │  1'   │  2'   │"), "{drawn}");
        assert!(
            drawn.contains("n': a copy") && drawn.contains("row 0 starts at sector 2048"),
            "{drawn}"
        );
        let far = picture("md-raid10-f2", 128, &[81_923; 2]);
        assert!(far.lines().filter(|line| line.contains('\'')).count() >= 3, "{far}");
    }

    #[test]
    fn without_an_interleave_there_is_one_row() {
        let drawn = picture("concat", 0, &[1000, 2000]);
        assert!(drawn.contains("│   0–999   │ 1000–2999 │"), "{drawn}");
    }

    /// Nothing of this panics, whatever the layout.
    #[test]
    fn every_level_can_be_drawn() {
        for level in block::LEVELS {
            for extra in 0..3 {
                for interleave in [1, 8, 128] {
                    let sectors = level.member_sectors_min().max(20_000);
                    let members = vec![sectors; level.members_min() + extra];
                    let is_taken = crate::experiment::check_interleave(*level, interleave).is_ok();
                    if is_taken && level.lay_out(interleave, &members).is_ok() {
                        picture(level.name, interleave, &members);
                    }
                }
            }
        }
    }
}
