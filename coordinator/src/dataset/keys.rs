//! `eval/answer_key_*.csv`: the gold of the two test splits. Pure.

use std::collections::HashMap;

/// The rows of a key that no task has claimed yet.
#[derive(Debug)]
pub(super) struct Key(HashMap<Place, Row>);

type Place = (String, u64, i64);

#[derive(Debug)]
struct Row {
    gold: String,
    line: u64,
}

#[derive(serde::Deserialize)]
struct Record {
    dataset: String,
    metadataid: u64,
    query_id: i64,
    gold_hypo: String,
}

const HEADER: [&str; 4] = ["dataset", "metadataid", "query_id", "gold_hypo"];

impl Key {
    /// Reads a key.
    ///
    /// # Errors
    /// In words, with the line.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let header = reader.headers().map_err(|error| error.to_string())?.clone();
        if header.iter().ne(HEADER) {
            let found = header.iter().collect::<Vec<_>>().join(",");
            return Err(format!("line 1: expected the columns `{}`, found `{found}`", HEADER.join(",")));
        }
        let mut rows: HashMap<Place, Row> = HashMap::new();
        let mut record = csv::StringRecord::new();
        let mut lines = Lines { text, seen: 0, line: 1 };
        loop {
            let more = reader.read_record(&mut record).map_err(|error| match error.kind() {
                csv::ErrorKind::UnequalLengths { pos: Some(position), expected_len, len } => {
                    format!("line {}: {len} fields, expected {expected_len}", lines.at(position.byte()))
                }
                _ => error.to_string(),
            })?;
            if !more {
                return Ok(Self(rows));
            }
            let line = lines.at(record.position().map_or(0, csv::Position::byte));
            let fields: Record =
                record.deserialize(Some(&header)).map_err(|error| format!("line {line}: {}", reason(&error)))?;
            if fields.gold_hypo.trim().is_empty() {
                return Err(format!("line {line}: `gold_hypo` is blank"));
            }
            let place = (fields.dataset, fields.metadataid, fields.query_id);
            if let Some(earlier) = rows.get(&place) {
                let (dataset, metadata, query) = place;
                return Err(format!(
                    "line {line}: a second row for {dataset},{metadata},{query}; the first is in line {}",
                    earlier.line
                ));
            }
            rows.insert(place, Row { gold: fields.gold_hypo, line });
        }
    }

    /// The gold of a query; each row is given once.
    pub(super) fn take(&mut self, dataset_dir: &str, metadata_id: u64, query_id: i64) -> Option<String> {
        self.0.remove(&(dataset_dir.to_owned(), metadata_id, query_id)).map(|row| row.gold)
    }

    /// Makes sure that every row found its task.
    ///
    /// # Errors
    /// The first row that is left over, in words.
    pub(super) fn finish(self) -> Result<(), String> {
        match self.0.into_iter().min_by_key(|(_, row)| row.line) {
            None => Ok(()),
            Some(((dataset, metadata, query), row)) => {
                Err(format!("line {}: {dataset},{metadata},{query} is no task of this split", row.line))
            }
        }
    }
}

/// Line numbers of ascending positions. The CSV reader's own are one too small where lines end in CRLF.
struct Lines<'t> {
    text: &'t str,
    seen: usize,
    line: u64,
}

impl Lines<'_> {
    /// The 1-based line of the first record at or after `byte`.
    fn at(&mut self, byte: u64) -> u64 {
        let bytes = self.text.as_bytes();
        let mut end = usize::try_from(byte).unwrap_or(usize::MAX).min(bytes.len());
        while matches!(bytes.get(end), Some(b'\r' | b'\n')) {
            end += 1;
        }
        self.line += bytes[self.seen..end].iter().filter(|byte| **byte == b'\n').count() as u64;
        self.seen = end;
        self.line
    }
}

fn reason(error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::Deserialize { err, .. } => {
            let column = err.field().and_then(|field| HEADER.get(usize::try_from(field).ok()?));
            column.map_or_else(|| err.kind().to_string(), |column| format!("`{column}`: {}", err.kind()))
        }
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HEAD: &str = "dataset,metadataid,query_id,gold_hypo\r\n";

    #[test]
    fn rows_are_given_once() {
        let mut key = Key::parse(&format!("{HEAD}a,10,0,\"x, y\"\r\nb_c,2,189,z\r\n")).unwrap();
        assert_eq!(key.take("a", 10, 0).as_deref(), Some("x, y"));
        assert_eq!(key.take("a", 10, 0), None);
        assert_eq!(key.take("b_c", 2, 0), None, "the qid, not the position");
        assert_eq!(key.finish().unwrap_err(), "line 3: b_c,2,189 is no task of this split");
    }

    proptest! {
        #[test]
        fn foreign_text_never_panics(text in "(dataset,metadataid,query_id,gold_hypo\r?\n)?[a-c0-9,\"\r\n]{0,40}") {
            let _ = Key::parse(&text).map(Key::finish);
        }

        #[test]
        fn every_row_is_found_and_every_line_is_right(golds in prop::collection::vec("[a-z\" ,\n]{0,9}x", 1..9)) {
            let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(Vec::new());
            writer.write_record(HEADER).unwrap();
            for (number, gold) in golds.iter().enumerate() {
                writer.write_record(["d", &number.to_string(), "7", gold]).unwrap();
            }
            let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
            let mut key = Key::parse(&text).unwrap();
            let last = golds.len() - 1;
            for (number, gold) in golds.iter().enumerate().take(last) {
                prop_assert_eq!(&key.take("d", number as u64, 7), &Some(gold.clone()));
            }
            let lines_before = text[..text.rfind(&format!("d,{last},7")).unwrap()].matches('\n').count();
            let left = format!("line {}: d,{last},7 is no task of this split", 1 + lines_before);
            prop_assert_eq!(key.finish().unwrap_err(), left);
        }
    }

    #[test]
    fn damage_is_named() {
        let cases = [
            ("a,b\n", "line 1: expected the columns `dataset,metadataid,query_id,gold_hypo`, found `a,b`"),
            (&format!("{HEAD}a,x,0,g"), "line 2: `metadataid`: invalid digit found in string"),
            (&format!("{HEAD}a,0,0,g\na,0,0,h"), "line 3: a second row for a,0,0; the first is in line 2"),
            (&format!("{HEAD}a,0,0,  "), "line 2: `gold_hypo` is blank"),
        ];
        for (text, expected) in cases {
            assert_eq!(Key::parse(text).unwrap_err(), expected);
        }
        let ragged = Key::parse(&format!("{HEAD}a,0,0,\"g\nh\"\n\na,0,1")).unwrap_err();
        assert_eq!(ragged, "line 5: 3 fields, expected 4");
    }
}
