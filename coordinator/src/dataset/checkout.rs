//! Reads the data folders of a checkout.
//!
//! Only folders directly below a split, and only files `metadata_<n>.json` directly in them: editors leave copies in
//! deeper folders. Of the other files only those that the metadata names.

use std::{
    collections::{BTreeMap, HashSet},
    path::Path,
};

use argosy_shared::task::{Blob, Dataset as DataFile, Kind, Split, Task};

use super::{
    BlobFile, Data, Error, Gold, encoding,
    files::{self, Pins},
    keys::Key,
    metadata::{self, Metadata},
    parallel,
};

/// The folder of a checkout that holds the splits.
pub(super) const DATA_FOLDER: &str = "discoverybench";

/// Bound of a metadata file. The largest of DiscoveryBench has 100 KB.
const MAX_METADATA_BYTES: u64 = 8 << 20;
/// Bound of an answer key. DiscoveryBench's have 60 KB.
const MAX_KEY_BYTES: u64 = 64 << 20;

/// Reads everything below `root`, in the dataset's order.
pub(super) fn read(root: &Path, pins: &Pins) -> Result<Data, Error> {
    let mut places = Vec::new();
    for split in Split::ALL {
        places.extend(find(root, split)?);
    }
    if places.is_empty() {
        return Err(Error::Empty { path: root.to_owned() });
    }
    let metadata = parallel::map(&places, |place| place.read(root, pins))?;
    let data_files = read_data_files(root, &places, &metadata, pins)?;
    let mut sources: BTreeMap<String, String> =
        data_files.iter().map(|(path, blob)| (path.clone(), blob.sha256.clone())).collect();
    for (place, (_, sha256)) in places.iter().zip(&metadata) {
        sources.insert(place.path(), sha256.clone());
    }

    let mut assembly = Assembly { root, data_files: &data_files, tasks: Vec::new(), golds: Vec::new() };
    let mut metadata = places.iter().zip(metadata).peekable();
    for split in Split::ALL {
        let mut key = match key_path(split).filter(|_| metadata.peek().is_some_and(|next| next.0.split == split)) {
            None => None,
            Some(path) => {
                let (key, sha256) = read_key(root, path, pins)?;
                sources.insert(path.to_owned(), sha256);
                Some((path, key))
            }
        };
        while let Some((place, (content, _))) = metadata.next_if(|next| next.0.split == split) {
            assembly.add(place, content, key.as_mut())?;
        }
        if let Some((path, key)) = key {
            key.finish().map_err(|reason| Error::invalid(root.join(path), reason))?;
        }
    }
    let blobs = data_files
        .iter()
        .map(|(path, blob)| (blob.sha256.clone(), BlobFile { path: root.join(path), bytes: blob.bytes }))
        .collect();
    Ok(Data { tasks: assembly.tasks, golds: assembly.golds.into_iter().collect(), sources, blobs })
}

/// A metadata file.
struct Place {
    split: Split,
    dataset_dir: String,
    number: u64,
}

impl Place {
    fn folder(&self) -> String {
        format!("{DATA_FOLDER}/{}/{}", self.split.folder(), self.dataset_dir)
    }

    fn path(&self) -> String {
        format!("{}/metadata_{}.json", self.folder(), self.number)
    }

    fn read(&self, root: &Path, pins: &Pins) -> Result<(Metadata, String), Error> {
        let path = self.path();
        let (bytes, sha256) = files::read(root, &path, MAX_METADATA_BYTES, pins)?;
        let invalid = |reason| Error::invalid(root.join(&path), reason);
        let text = encoding::decode(&bytes).map_err(invalid)?;
        let content = metadata::parse(&text, self.split.kind()).map_err(invalid)?;
        Ok((content, sha256))
    }
}

/// The metadata files of a split; a split whose folder does not exist has none.
fn find(root: &Path, split: Split) -> Result<Vec<Place>, Error> {
    let folder = format!("{DATA_FOLDER}/{}", split.folder());
    if !root.join(&folder).exists() {
        return Ok(Vec::new());
    }
    let mut places = Vec::new();
    for (dataset_dir, is_dir) in files::list(root, &folder)? {
        if !is_dir || dataset_dir.starts_with('.') {
            continue;
        }
        let inner = format!("{folder}/{dataset_dir}");
        if dataset_dir.chars().any(char::is_control) {
            return Err(Error::invalid(root.join(inner), "the name holds control characters"));
        }
        let names = files::list(root, &inner)?;
        let mut numbers: Vec<u64> =
            names.iter().filter_map(|(name, is_dir)| number(name).filter(|_| !is_dir)).collect();
        numbers.sort_unstable();
        places.extend(numbers.into_iter().map(|number| Place { split, dataset_dir: dataset_dir.clone(), number }));
    }
    Ok(places)
}

/// The number of `metadata_<n>.json`, written without leading zeros.
fn number(name: &str) -> Option<u64> {
    let digits = name.strip_prefix("metadata_")?.strip_suffix(".json")?;
    let number: u64 = digits.parse().ok()?;
    (number.to_string() == digits).then_some(number)
}

/// Digest and size of every data file that a metadata file names, by path.
fn read_data_files(
    root: &Path,
    places: &[Place],
    metadata: &[(Metadata, String)],
    pins: &Pins,
) -> Result<BTreeMap<String, Blob>, Error> {
    let mut wanted: BTreeMap<String, &Place> = BTreeMap::new();
    for (place, (content, _)) in places.iter().zip(metadata) {
        for dataset in &content.datasets {
            wanted.entry(format!("{}/{}", place.folder(), dataset.name)).or_insert(place);
        }
    }
    let wanted: Vec<(String, &Place)> = wanted.into_iter().collect();
    let blobs = parallel::map(&wanted, |(path, place)| match files::digest(root, path, pins) {
        Ok((sha256, bytes)) => Ok(Blob { sha256, bytes }),
        Err(Error::Unreadable { file, source }) if source.kind() == std::io::ErrorKind::NotFound => {
            Err(Error::Missing { file, wanted_by: format!("named in {}", place.path()) })
        }
        Err(other) => Err(other),
    })?;
    Ok(wanted.into_iter().map(|(path, _)| path).zip(blobs).collect())
}

/// The answer key of a test split.
fn key_path(split: Split) -> Option<&'static str> {
    match split {
        Split::RealTest => Some("eval/answer_key_real.csv"),
        Split::SynthTest => Some("eval/answer_key_synth.csv"),
        Split::RealTrain | Split::SynthDev | Split::SynthTrain => None,
    }
}

fn read_key(root: &Path, path: &str, pins: &Pins) -> Result<(Key, String), Error> {
    let (bytes, sha256) = files::read(root, path, MAX_KEY_BYTES, pins).map_err(|error| match error {
        Error::Unreadable { file, source } if source.kind() == std::io::ErrorKind::NotFound => {
            Error::Missing { file, wanted_by: "it holds the gold of a test split".to_owned() }
        }
        other => other,
    })?;
    let invalid = |reason| Error::invalid(root.join(path), reason);
    let text = encoding::decode(&bytes).map_err(invalid)?;
    Ok((Key::parse(&text).map_err(invalid)?, sha256))
}

/// Tasks and gold as they come together.
struct Assembly<'r> {
    root: &'r Path,
    data_files: &'r BTreeMap<String, Blob>,
    tasks: Vec<Task>,
    golds: Vec<(argosy_shared::id::TaskId, Gold)>,
}

impl Assembly<'_> {
    /// Adds the queries of one metadata file.
    fn add(
        &mut self,
        place: &Place,
        content: Metadata,
        mut key: Option<&mut (&'static str, Key)>,
    ) -> Result<(), Error> {
        let invalid = |reason: String| Error::invalid(self.root.join(place.path()), reason);
        let folder = place.folder();
        let datasets: Vec<DataFile> = content
            .datasets
            .into_iter()
            .map(|dataset| DataFile {
                blob: self.data_files[&format!("{folder}/{}", dataset.name)].clone(),
                name: dataset.name,
                description: dataset.description,
                columns: dataset.columns,
            })
            .collect();
        let (domain_knowledge, workflow_tags) = match place.split.kind() {
            Kind::Real => (content.domain_knowledge, content.workflow_tags),
            Kind::Synth => (None, None),
        };
        let mut seen = HashSet::new();
        for query in content.queries {
            let qid = query.qid;
            if !seen.insert(qid) {
                return Err(invalid(format!("two queries have the qid {qid}")));
            }
            let gold = match &mut key {
                Some((path, key)) => key.take(&place.dataset_dir, place.number, qid).ok_or_else(|| {
                    let row = format!("{},{},{qid}", place.dataset_dir, place.number);
                    Error::invalid(self.root.join(path), format!("no row for {row}, a query of {}", place.path()))
                })?,
                None => query
                    .true_hypothesis
                    .filter(|hypothesis| !hypothesis.trim().is_empty())
                    .ok_or_else(|| invalid(format!("the query with qid {qid} has no `true_hypothesis`")))?,
            };
            let id = Task::make_id(place.split, &place.dataset_dir, place.number, qid);
            self.golds.push((id.clone(), Gold::new(gold)));
            self.tasks.push(Task {
                id,
                split: place.split,
                dataset_dir: place.dataset_dir.clone(),
                metadata_id: place.number,
                query_id: qid,
                domain: content.domain.clone(),
                question: query.question,
                question_type: query.question_type,
                datasets: datasets.clone(),
                intermediate: content.intermediate.clone(),
                domain_knowledge: domain_knowledge.clone(),
                workflow_tags: workflow_tags.clone(),
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_numbers() {
        assert_eq!(number("metadata_0.json"), Some(0));
        assert_eq!(number("metadata_10.json"), Some(10));
        for other in ["metadata_01.json", "metadata_0-checkpoint.json", "metadata_.json", "metadata_+1.json", "x.json"]
        {
            assert_eq!(number(other), None, "{other}");
        }
    }
}
