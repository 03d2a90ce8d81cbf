//! Python's `str` and `repr`.

/// `str()` of a list of strings: `['a', 'b']`.
#[must_use]
pub fn str_list(_items: &[String]) -> String {
    String::new()
}
