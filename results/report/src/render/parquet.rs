//! The table of all runs as Parquet: the rows and the columns are those of the CSV, with types.

use super::csv::csv;
use crate::folder::Results;
use crate::metric;
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::Result;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use std::str::FromStr;
use std::sync::Arc;

/// The columns of whole numbers.
const WHOLE: [&str; 4] = ["position", "round", "exit_code", "signal"];

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Whole,
    Number,
    Text,
}

/// The timed runs of these folders as a Parquet file of one row group. A figure that a run does not
/// have is null.
pub fn parquet(dirs: &[Results]) -> Vec<u8> {
    write(&csv(dirs)).expect("memory does not fail, and all columns have as many rows")
}

fn kind(column: &str) -> Kind {
    let is_figure = column == "heap_multiple" || column.starts_with("figure_");
    if WHOLE.contains(&column) {
        Kind::Whole
    } else if is_figure || metric::all().any(|metric| metric.key == column) {
        Kind::Number
    } else {
        Kind::Text
    }
}

fn write(table: &str) -> Result<Vec<u8>> {
    let mut reader = ::csv::Reader::from_reader(table.as_bytes());
    let names: Vec<String> = reader
        .headers()
        .map(|names| names.iter().map(str::to_owned).collect())
        .unwrap_or_default();
    let rows: Vec<::csv::StringRecord> = reader.records().filter_map(std::result::Result::ok).collect();
    let fields = names.iter().map(|name| Ok(Arc::new(field(name)?)));
    let schema = Type::group_type_builder("runs")
        .with_fields(fields.collect::<Result<_>>()?)
        .build()?;
    let properties = Arc::new(WriterProperties::builder().build());
    let mut file = SerializedFileWriter::new(Vec::new(), Arc::new(schema), properties)?;
    let mut group = file.next_row_group()?;
    for (at, name) in names.iter().enumerate() {
        let cells = rows.iter().map(|row| row.get(at).unwrap_or_default());
        let Some(mut column) = group.next_column()? else { break };
        match kind(name) {
            Kind::Whole => {
                let (levels, values) = known::<i64>(cells);
                column.typed::<Int64Type>().write_batch(&values, Some(&levels), None)?;
            }
            Kind::Number => {
                let (levels, values) = known::<f64>(cells);
                column.typed::<DoubleType>().write_batch(&values, Some(&levels), None)?;
            }
            Kind::Text => {
                let (levels, values) = known::<String>(cells);
                let values: Vec<ByteArray> = values.iter().map(|text| ByteArray::from(text.as_str())).collect();
                column
                    .typed::<ByteArrayType>()
                    .write_batch(&values, Some(&levels), None)?;
            }
        }
        column.close()?;
    }
    group.close()?;
    file.into_inner()
}

/// The type of a column in the schema.
fn field(name: &str) -> Result<Type> {
    let physical = match kind(name) {
        Kind::Whole => Physical::INT64,
        Kind::Number => Physical::DOUBLE,
        Kind::Text => Physical::BYTE_ARRAY,
    };
    let logical = (kind(name) == Kind::Text).then_some(LogicalType::String);
    Type::primitive_type_builder(name, physical)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(logical)
        .build()
}

/// For each cell whether it has a value (1) or is empty (0), and the values.
fn known<'c, T: FromStr>(cells: impl Iterator<Item = &'c str>) -> (Vec<i16>, Vec<T>) {
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    for cell in cells {
        let value = (!cell.is_empty()).then(|| cell.parse().ok()).flatten();
        levels.push(i16::from(value.is_some()));
        values.extend(value);
    }
    (levels, values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::synthetic::fixture;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;
    use std::io::Write;

    /// Every cell of the CSV stands in the Parquet file, with its type.
    #[test]
    fn a_parquet_file_has_the_cells_of_the_csv() {
        let dirs = [fixture()];
        let mut file = tempfile::tempfile().expect("a temporary file");
        file.write_all(&parquet(&dirs)).expect("written");
        let reader = SerializedFileReader::new(file).expect("a Parquet file");
        let table = csv(&dirs);
        let mut records = ::csv::Reader::from_reader(table.as_bytes());
        let names = records.headers().expect("a header").clone();
        let (mut rows, mut numbers, mut empty) = (0, 0, 0);
        for (row, record) in reader.get_row_iter(None).expect("rows").zip(records.records()) {
            let (row, record) = (row.expect("a row"), record.expect("a row"));
            rows += 1;
            for (((name, field), wanted), heading) in row.get_column_iter().zip(&record).zip(&names) {
                assert_eq!(name, heading);
                match field {
                    Field::Null => {
                        assert_eq!(wanted, "", "{name}");
                        empty += 1;
                    }
                    Field::Long(value) => assert_eq!(value.to_string(), wanted, "{name}"),
                    Field::Double(value) => {
                        assert_eq!(Ok(*value), wanted.parse(), "{name}");
                        numbers += 1;
                    }
                    Field::Str(text) => assert_eq!(text, wanted, "{name}"),
                    other => panic!("{name}: {other}"),
                }
            }
        }
        assert_eq!(rows, 36);
        assert!(numbers > 36 * 5 && empty > 0, "{numbers} numbers, {empty} empty cells");
    }
}
