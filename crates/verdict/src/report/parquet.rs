//! Results as a Parquet file: a row a trial, every column with its type.
//!
//! The file's metadata has `ileave`: the experiment's name, the rig, and of each column its role, unit and meaning.

use super::columns::{Column, Values, columns};
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;
use serde_json::json;
use std::sync::Arc;
use store::Manifest;
use store::error::{Error, Result};
use store::record::Record;

type Rows<'a> = SerializedRowGroupWriter<'a, Vec<u8>>;

/// The trials as a Parquet file.
///
/// # Errors
///
/// Where they cannot be written as one.
pub fn trials(manifest: &Manifest, records: &[Record]) -> Result<Vec<u8>> {
    let columns = columns(manifest, records);
    written(manifest, &columns).map_err(|error| Error::failure(format!("no Parquet file: {error}")))
}

fn written(manifest: &Manifest, columns: &[Column]) -> std::result::Result<Vec<u8>, ParquetError> {
    let fields = columns.iter().map(field).collect::<std::result::Result<Vec<_>, _>>()?;
    let schema = Arc::new(Type::group_type_builder("trials").with_fields(fields).build()?);
    let about: Vec<_> = columns.iter().map(|column| &column.about).collect();
    let about = json!({
        "ileave": manifest.ileave, "name": manifest.name, "rig": manifest.rig, "columns": about,
    });
    let about = KeyValue::new("ileave".to_string(), about.to_string());
    let properties = WriterProperties::builder().set_key_value_metadata(Some(vec![about])).build();
    let mut file = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties))?;
    let mut rows = file.next_row_group()?;
    for column in columns {
        match &column.values {
            Values::Integers(values) => write::<Int64Type>(&mut rows, values.iter().copied())?,
            Values::Numbers(values) => write::<DoubleType>(&mut rows, values.iter().copied())?,
            Values::Switches(values) => write::<BoolType>(&mut rows, values.iter().copied())?,
            Values::Texts(values) => {
                let texts = values.iter().map(|text| text.as_deref().map(ByteArray::from));
                write::<ByteArrayType>(&mut rows, texts)?;
            }
        }
    }
    rows.close()?;
    file.into_inner()
}

/// What a column is called, and its type. Each may have gaps.
fn field(column: &Column) -> std::result::Result<Arc<Type>, ParquetError> {
    let (physical, logical) = match &column.values {
        Values::Integers(_) => (Physical::INT64, None),
        Values::Numbers(_) => (Physical::DOUBLE, None),
        Values::Switches(_) => (Physical::BOOLEAN, None),
        Values::Texts(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
    };
    let field = Type::primitive_type_builder(&column.about.name, physical)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(logical);
    field.build().map(Arc::new)
}

fn write<T: DataType>(
    rows: &mut Rows<'_>,
    values: impl Iterator<Item = Option<T::T>>,
) -> std::result::Result<(), ParquetError> {
    let (mut there, mut given) = (Vec::new(), Vec::new());
    for value in values {
        there.push(i16::from(value.is_some()));
        given.extend(value);
    }
    let mut column = rows.next_column()?.expect("the schema has a column for each");
    column.typed::<T>().write_batch(&given, Some(&there), None)?;
    column.close()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use lab::experiment::Experiment;
    use lab::rig::sim::Sim;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;

    /// Types, gaps, units.
    #[test]
    fn what_is_written_is_read() {
        let text = "[volume]\ndrives = '2xwd740gd'\ninterleave = [32, 128]\n[drive]\nwrite_cache = [true, false]\n\
                    [workload.read]\ncount = 20\n[workload.log]\nkind = 'random'\nop = 'write'\ncount = 20\n";
        let experiment = Experiment::parse("e.toml", text).unwrap();
        let ran = lab::run(&experiment, &Sim, lab::Keep::Nowhere, &mut |_| ()).unwrap();
        let records = ran.records();
        let bytes = trials(&ran.manifest, &records).unwrap();
        assert_eq!(bytes, trials(&ran.manifest, &records).unwrap());
        let file = SerializedFileReader::new(Bytes::from(bytes)).unwrap();
        let kept = file.metadata().file_metadata().key_value_metadata().unwrap();
        let about = kept.iter().find(|pair| pair.key == "ileave").unwrap().value.clone().unwrap();
        assert!(
            about.contains(r#""name":"volume.interleave","role":"choice","unit":"sectors""#),
            "{about}"
        );
        let rows: Vec<_> = file.get_row_iter(None).unwrap().map(|row| row.unwrap()).collect();
        assert_eq!(rows.len(), records.len());
        for (row, record) in rows.iter().zip(&records) {
            let value = |wanted: &str| {
                row.get_column_iter()
                    .find(|(name, _)| *name == wanted)
                    .map(|(_, field)| field.clone())
            };
            let sectors = record.at["volume.interleave"].as_i64().unwrap();
            assert_eq!(value("volume.interleave"), Some(Field::Long(sectors)));
            let cached = record.at["drive.write_cache"].as_bool().unwrap();
            assert_eq!(value("drive.write_cache"), Some(Field::Bool(cached)));
            assert_eq!(value("workload"), Some(Field::Str(record.workload.clone())));
            for (name, kept) in record.samples.iter() {
                assert_eq!(value(name), Some(Field::Double(kept.unwrap())), "{name}");
            }
            assert_eq!(value("note"), Some(Field::Null));
        }
    }
}
