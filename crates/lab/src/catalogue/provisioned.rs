//! What is provisioned of a drive, in brackets behind its name: `gp3[size=500GiB,iops=6000]`.

use super::drive::CLASSES;
use super::figure::{Cited, Kind, Value};
use super::sheet::{Sheet, digest};
use crate::error::{Error, Result, nearest};

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
        Ok(Provisioned { name: name.trim(), given: given.collect::<Result<_>>()? })
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
            let keys: Vec<&str> = class.provisioned.iter().map(|&(key, _)| key).collect();
            if keys.is_empty() {
                let next = "write a part of the drive behind a colon, as in `wd740gd:10GiB`";
                return Err(wrong(format!(
                    "nothing is provisioned of the class `{}`; {next}",
                    class.name
                )));
            }
            let found = class.provisioned.iter().find(|(known, _)| *known == key);
            let Some((_, figure)) = found else {
                let meant = nearest(key, keys.iter().copied())
                    .map(|meant| format!("; did you mean `{meant}`?"));
                let known = keys.join(", ");
                return Err(wrong(format!(
                    "no such key{}; there are {known}",
                    meant.unwrap_or_default()
                )));
            };
            let known = class.all.iter().copied().flatten().find(|known| known.key == *figure);
            let known = known.expect("a provisioned key has a figure");
            let value = value_of(key, text, known.shape.parse(text).as_ref()).map_err(wrong)?;
            sheet.figures.retain(|(other, _)| {
                other.key != *figure && other.key != format!("{figure}_per_gib")
            });
            let cited = Cited {
                value,
                kind: Kind::Datasheet,
                source: GIVEN.into(),
                note: None,
                fitted_to: vec![],
            };
            sheet.figures.push((known, cited));
        }
        sheet.sources.push((GIVEN.into(), "provisioned, as given with its name".into()));
        sheet.digest = digest(&self.of(sheet.digest.clone()));
        Ok(())
    }
}

/// The source of what is provisioned.
const GIVEN: &str = "provisioned";

/// The value of `key`: a size in sectors, or a rate above zero.
fn value_of(key: &str, text: &str, parsed: Option<&Value>) -> std::result::Result<Value, String> {
    if key == "size" {
        let sectors = block::units::parse_bytes(text).map_err(|error| error.to_string())?;
        let sectors = sectors / block::SECTOR_BYTES;
        let there = (1..=1 << 40).contains(&sectors);
        return if there {
            Ok(Value::Count(sectors))
        } else {
            Err("write 1 GiB to 512 TiB".into())
        };
    }
    match parsed {
        Some(&Value::Number(number)) if number > 0.0 && number <= 1e9 => Ok(Value::Number(number)),
        _ => Err("write a number above 0, such as 6000".into()),
    }
}
