//! What is stored, what is in use, and what goes first. No IO.

use std::collections::HashMap;

use argosy_shared::task::Blob;

/// The books of a cache.
pub(super) struct Books {
    files: HashMap<String, File>,
    bytes: u64,
    max_bytes: u64,
    uses: u64,
}

struct File {
    bytes: u64,
    pins: u32,
    /// Number of its first entry. A file that was struck out and stored again is another one.
    serial: u64,
    /// Number of the last use; the smallest goes first.
    used: u64,
}

impl Books {
    pub(super) fn new(max_bytes: u64) -> Self {
        Self { files: HashMap::new(), bytes: 0, max_bytes, uses: 0 }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn has(&self, sha256: &str) -> bool {
        self.files.contains_key(sha256)
    }

    /// Enters a stored file as the most recently used one. Its pins stay if it is known.
    pub(super) fn insert(&mut self, blob: Blob) {
        self.uses += 1;
        let used = self.uses;
        let file = self.files.entry(blob.sha256).or_insert(File { bytes: 0, pins: 0, serial: used, used });
        self.bytes = self.bytes - file.bytes + blob.bytes;
        file.bytes = blob.bytes;
        file.used = used;
    }

    /// Enters a stored file and begins a use of it.
    pub(super) fn insert_pinned(&mut self, blob: Blob) -> u64 {
        let sha256 = blob.sha256.clone();
        self.insert(blob);
        self.pin(&sha256).unwrap_or_default()
    }

    /// Begins a use; the number ends it. `None`: the file is not stored.
    pub(super) fn pin(&mut self, sha256: &str) -> Option<u64> {
        self.uses += 1;
        let file = self.files.get_mut(sha256)?;
        file.pins += 1;
        file.used = self.uses;
        Some(file.serial)
    }

    /// Ends a use.
    pub(super) fn unpin(&mut self, sha256: &str, serial: u64) {
        if let Some(file) = self.files.get_mut(sha256).filter(|file| file.serial == serial) {
            file.pins -= 1;
        }
    }

    /// Strikes a file out, with its pins, and has it removed.
    pub(super) fn remove(&mut self, sha256: &str, remove: impl FnOnce()) {
        if let Some(file) = self.files.remove(sha256) {
            self.bytes -= file.bytes;
            remove();
        }
    }

    /// Strikes out least recently used files without pins until the bound is kept, and has each removed.
    pub(super) fn evict(&mut self, mut remove: impl FnMut(&str)) {
        while self.bytes > self.max_bytes {
            let oldest = self.files.iter().filter(|(_, file)| file.pins == 0).min_by_key(|(_, file)| file.used);
            let Some(sha256) = oldest.map(|(sha256, _)| sha256.clone()) else { return };
            self.remove(&sha256, || remove(&sha256));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    fn blob(name: u8) -> Blob {
        Blob { sha256: name.to_string(), bytes: u64::from(name) }
    }

    fn evicted(books: &mut Books) -> Vec<String> {
        let mut gone = Vec::new();
        books.evict(|sha256| gone.push(sha256.to_owned()));
        gone
    }

    #[test]
    fn the_least_recently_used_goes_first_and_never_one_in_use() {
        let mut books = Books::new(30);
        for name in [10, 11, 12] {
            books.insert(blob(name));
        }
        let serial = books.pin("10").unwrap();
        books.unpin("10", serial);
        assert_eq!(evicted(&mut books), ["11"]);
        assert_eq!(books.bytes(), 22);

        books.insert(blob(20));
        let serials = ["12", "10", "20"].map(|sha256| books.pin(sha256).unwrap());
        assert!(evicted(&mut books).is_empty());
        books.unpin("20", serials[2]);
        assert_eq!(evicted(&mut books), ["20"]);
        assert!(!books.has("20") && books.pin("20").is_none());
    }

    #[test]
    fn a_use_of_a_file_struck_out_is_no_use_of_its_successor() {
        let mut books = Books::new(5);
        books.insert(blob(10));
        let before = books.pin("10").unwrap();
        books.remove("10", || {});
        books.insert(blob(10));
        let after = books.pin("10").unwrap();
        books.unpin("10", before);
        assert!(evicted(&mut books).is_empty());
        books.unpin("10", after);
        assert_eq!(evicted(&mut books), ["10"]);
    }

    proptest! {
        #[test]
        fn the_sum_is_right_and_the_bound_is_kept_by_what_is_not_in_use(
            steps in prop::collection::vec((0_u8..4, 1_u8..20), 1..200)
        ) {
            let mut books = Books::new(60);
            let mut pinned: Vec<(String, u64)> = Vec::new();
            for (step, name) in steps {
                match step {
                    0 => books.insert(blob(name)),
                    1 => pinned.extend(books.pin(&name.to_string()).map(|serial| (name.to_string(), serial))),
                    2 => if let Some((sha256, serial)) = pinned.pop() { books.unpin(&sha256, serial) },
                    _ => {
                        let in_use: HashSet<String> = pinned.iter().map(|(sha256, _)| sha256.clone()).collect();
                        for gone in evicted(&mut books) {
                            prop_assert!(!in_use.contains(&gone));
                        }
                        let free = books.files.values().any(|file| file.pins == 0);
                        prop_assert!(books.bytes() <= 60 || !free);
                    }
                }
                prop_assert_eq!(books.bytes(), books.files.values().map(|file| file.bytes).sum::<u64>());
            }
        }
    }
}
