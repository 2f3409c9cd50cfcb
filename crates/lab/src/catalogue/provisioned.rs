//! What is provisioned of a drive, in brackets behind its name: `gp3[size=500GiB,iops=6000]`; and figures that are to be
//! otherwise than in its file: `wd740gd[seek_average_ms=5]`.

use super::drive::{CLASSES, DriveClass, sold};
use super::figure::{BYTES_MAX, Cited, Kind, Shape, Value};
use super::sheet::{Sheet, digest};
use crate::error::{Error, Result, nearest};
use block::units::parse_bytes_per_s;

#[derive(Default)]
/// A name, and what stands in brackets behind it.
pub(super) struct Provisioned<'n> {
    /// The name.
    pub(super) name: &'n str,
    given: Vec<(&'n str, &'n str)>,
}

impl<'n> Provisioned<'n> {
    /// Reads a name with or without brackets.
    ///
    /// # Errors
    ///
    /// Where what stands in brackets is no list of keys and values.
    pub(super) fn read(whole: &'n str) -> Result<Self> {
        let parts = whole.strip_suffix(']').and_then(|open| open.split_once('['));
        let Some((name, list)) = parts else {
            return Ok(Provisioned { name: whole, given: vec![] });
        };
        let given = list.split(',').map(|pair| {
            let pair = pair.split_once('=').map(|(key, value)| (key.trim(), value.trim()));
            pair.filter(|(key, value)| !key.is_empty() && !value.is_empty()).ok_or_else(|| {
                let example = "`gp3[size=500GiB,iops=6000]`";
                Error::input(format!(
                    "`{whole}`: write keys and values in the brackets, as in {example}"
                ))
            })
        });
        let given: Vec<(&str, &str)> = given.collect::<Result<_>>()?;
        for (place, (key, value)) in given.iter().enumerate() {
            if let Some((_, first)) = given[..place].iter().find(|(other, _)| other == key) {
                return Err(Error::input(format!(
                    "`{whole}`: `{key}` is {first} and {value}; write it once"
                )));
            }
        }
        Ok(Provisioned { name: name.trim(), given })
    }

    /// The name of the drive as it is provisioned; `name` is that of its file.
    pub(super) fn of(&self, name: String) -> String {
        if self.given.is_empty() {
            return name;
        }
        let pairs: Vec<String> =
            self.given.iter().map(|(key, value)| format!("{key}={value}")).collect();
        format!("{name}[{}]", pairs.join(","))
    }

    /// Puts it into the drive's file. What follows from the size is no more where it is provisioned.
    ///
    /// # Errors
    ///
    /// Where drives of that class have no such key, or the value is none.
    pub(super) fn into_sheet(self, sheet: &mut Sheet) -> Result<()> {
        if self.given.is_empty() {
            return Ok(());
        }
        let class = CLASSES.iter().find(|class| class.name == sheet.class);
        let class = class.expect("a sheet is of one of the classes");
        for &(key, text) in &self.given {
            let wrong =
                |message: String| Error::input(format!("`{}[{key}={text}]`: {message}", self.name));
            let found = class.provisioned.iter().find(|(known, _)| *known == key);
            let figure = found.map_or(key, |(_, figure)| *figure);
            let known = class.all.iter().copied().flatten().find(|known| known.key == figure);
            let known = known.ok_or_else(|| wrong(unknown(class, sheet, key)))?;
            let value = if found.is_some() {
                value_of(key, text, known.shape.parse(text).as_ref()).map_err(wrong)?
            } else {
                let value = known.shape.parse(text).filter(|value| allows(&known.shape, value));
                value.ok_or_else(|| wrong(format!("write a {}", known.shape)))?
            };
            if let Some(why) = found.and_then(|_| sold::refusal(sheet, key, &value)) {
                return Err(wrong(why));
            }
            sheet.figures.retain(|(other, _)| {
                other.key != figure && other.key != format!("{figure}_per_gib")
            });
            let kind = if found.is_some() { Kind::Datasheet } else { Kind::Estimate };
            let cited = Cited { value, kind, source: GIVEN.into(), note: None, fitted_to: vec![] };
            sheet.figures.push((known, cited));
        }
        sheet.sources.push((GIVEN.into(), "as given with its name".into()));
        sheet.digest = digest(&self.of(sheet.digest.clone()));
        Ok(())
    }
}

/// The source of what is provisioned.
pub(super) const GIVEN: &str = "provisioned";

/// Whether a figure of this shape may have the value.
fn allows(shape: &Shape, value: &Value) -> bool {
    match (shape, value) {
        (Shape::Count(range), Value::Count(count)) => range.contains(count),
        (Shape::Number(range), Value::Number(number)) => range.contains(number),
        (Shape::Size, Value::Count(bytes)) => {
            (1..=1 << 30).contains(bytes) && bytes.is_multiple_of(block::SECTOR_BYTES)
        }
        (Shape::Bytes, Value::Count(bytes)) => *bytes <= BYTES_MAX,
        _ => true,
    }
}

/// What there is instead of a key that drives of a class do not have.
fn unknown(class: &DriveClass, sheet: &Sheet, key: &str) -> String {
    let provisioned = class.provisioned.iter().map(|&(key, _)| key);
    let keys = class.all.iter().copied().flatten().map(|figure| figure.key);
    let keys: Vec<&str> = provisioned.chain(keys).collect();
    let next = match nearest(key, keys.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => "write a key of the drive's own file".into(),
    };
    if class.provisioned.is_empty() {
        let part = "a part of it follows a colon, as in `wd740gd:10GiB`";
        return format!("nothing is provisioned of the class `{}`; {next} ({part})", class.name);
    }
    format!("no such key; {}", sold::instead(sheet, key).unwrap_or(next))
}

/// The value of `key`: a size in sectors, or a rate above zero.
fn value_of(key: &str, text: &str, parsed: Option<&Value>) -> std::result::Result<Value, String> {
    if key == "size" {
        let sectors = block::units::parse_bytes(text).map_err(|error| error.to_string())?;
        let sectors = sectors / block::SECTOR_BYTES;
        let there = (1..=1 << 40).contains(&sectors);
        return if there {
            Ok(Value::Count(sectors))
        } else {
            let number = text.parse::<f64>().is_ok();
            let next = if number {
                format!("it has no unit; write {key}={text}GiB")
            } else {
                "write 1 GiB to 512 TiB".into()
            };
            Err(next)
        };
    }
    let in_unit = (key == "mb_per_s").then(|| mb_of(text)).flatten();
    let number = match parsed {
        Some(&Value::Number(number)) => Some(number),
        _ => in_unit,
    };
    match number.filter(|number| *number > 0.0 && *number <= 1e9) {
        Some(number) => Ok(Value::Number(number)),
        None if key == "mb_per_s" => Err(
            "write MB/s as a number above 0, such as 500, or MiB/s with their unit, as in 500MiB"
                .into(),
        ),
        None => Err("write a number above 0, such as 6000".into()),
    }
}

/// A rate that is written with its unit, in MB/s: providers mean MiB/s where they say 125. `125MiB` is one a second.
fn mb_of(text: &str) -> Option<f64> {
    let each_s = format!("{}/s", text.strip_suffix("/s").unwrap_or(text));
    parse_bytes_per_s(&each_s).ok().map(|bytes| bytes as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use crate::catalogue::drive;

    /// Any figure can be otherwise; the drive is checked as a file is.
    #[test]
    fn a_figure_may_be_otherwise() {
        let named = drive("st18000nm000j[seek_average_ms=10,queue_depth=4]").unwrap();
        assert_eq!(named.name, "st18000nm000j[seek_average_ms=10,queue_depth=4]");
        let figures = &named.disk().unwrap().figures;
        assert_eq!((figures.seek_average_ms, figures.queue_depth), (Some(10.0), 4));
        assert_ne!(named.digest, drive("st18000nm000j").unwrap().digest);
        let message = |name: &str| drive(name).unwrap_err().to_string();
        let typo = message("st18000nm000j[seek_averge_ms=10]");
        assert!(typo.contains("did you mean `seek_average_ms`?"), "{typo}");
        let range = message("st18000nm000j[queue_depth=0]");
        assert!(range.contains("whole number, 1 to 65536"), "{range}");
        assert!(message("st18000nm000j[seek_average_ms=99]").contains("st18000nm000j"));
    }

    /// Nobody sells a P30 of 2 TiB, nor I/Os of gp2 beside its size.
    #[test]
    fn what_follows_or_is_fixed_is_not_provisioned() {
        let message = |name: &str| drive(name).unwrap_err().to_string();
        for (name, tier) in [
            ("azure-p30[size=2TiB]", "take `azure-p40`: 2048 GiB, 7500 I/Os and 250 MB/s"),
            ("P30[iops=6000]", "take `azure-p40`"),
            ("P30[mb_per_s=800]", "take `azure-p80`"),
            ("azure-p30[size=100GiB]", "take `azure-p10`: 128 GiB"),
            ("azure-p30[iops=90000]", "the largest is `azure-p80`: 32767 GiB, 20000 I/Os"),
        ] {
            assert!(message(name).contains(tier), "{name}: {}", message(name));
        }
        for (name, follows) in [
            ("gp2[iops=9000]", "`iops` follows from `size`"),
            ("st1[mb_per_s=300]", "`mb_per_s` follows from `size`"),
            ("io2[iops=9000,mb_per_s=300]", "`mb_per_s` follows from `size` and `iops`"),
            ("gcp-hyperdisk-throughput[iops=9000]", "`iops` follows from `size` and `mb_per_s`"),
        ] {
            assert!(message(name).contains(follows), "{name}: {}", message(name));
        }
        for name in ["azure-p30[size=1TiB]", "gcp-hyperdisk-throughput[size=3TiB,mb_per_s=300]"] {
            assert!(drive(name).is_ok(), "{name}");
        }
    }

    /// 125 was 119 MiB/s of gp3, which Amazon refuses, and 1000 were 953.
    #[test]
    fn a_rate_may_have_the_unit_that_providers_use() {
        let rate = |name: &str| drive(name).map(|drive| drive.cloud().unwrap().figures.mb_per_s);
        for (name, mb_per_s) in [
            ("gp3[size=500GiB,mb_per_s=125MiB]", 131.072),
            ("gp3[size=500GiB,iops=8000,mb_per_s=2000MiB/s]", 2097.152),
            ("gp3[size=500GiB,mb_per_s=500 MB/s]", 500.0),
            ("gcp-hyperdisk-balanced[mb_per_s=140MiB]", 146.80064),
        ] {
            let given = rate(name).unwrap().unwrap();
            assert!((given - mb_per_s).abs() < 1e-9, "{name}: {given}");
        }
        let message = |name: &str| drive(name).unwrap_err().to_string();
        let least = "is less than the least, 131.072; write `mb_per_s=125MiB` or more";
        for name in ["gp3[size=500GiB,mb_per_s=125]", "gp3[size=500GiB,mb_per_s=131]"] {
            assert!(message(name).contains(least), "{name}: {}", message(name));
        }
        assert!(message("gcp-hyperdisk-balanced[mb_per_s=140]").contains("`mb_per_s=140MiB`"));
        assert!(message("gp3[mb_per_s=fast]").ends_with("as in 500MiB"));
    }

    /// The last of two sizes was taken without a word.
    #[test]
    fn a_key_is_given_once() {
        let said = drive("gp3[size=1TiB,iops=4000,size=2TiB]").unwrap_err().to_string();
        assert!(said.ends_with("`size` is 1TiB and 2TiB; write it once"), "{said}");
    }

    /// What others call it is answered with what can be provisioned.
    #[test]
    fn other_words_for_what_is_provisioned_are_understood() {
        let message = |name: &str| drive(name).unwrap_err().to_string();
        let rate = message("gp3[throughput=500]");
        assert!(rate.contains("write `mb_per_s`, `size` or `iops` ("), "{rate}");
        assert!(rate.contains("500 MiB/s are 524"), "{rate}");
        assert!(message("gp3[capacity=1TiB]").contains("write `size`, `iops` or `mb_per_s`"));
        assert!(message("gp2[throughput=200]").contains("write `size`"));
        assert!(message("gp3[ipos=4000]").contains("did you mean `iops`?"));
        // The unit was what is missing, and gp3 ends at 64 TiB.
        let bare = message("gp3[size=500]");
        assert!(bare.ends_with("it has no unit; write size=500GiB"), "{bare}");
    }
}
