//! The values.

use indexmap::IndexMap;
use num_bigint::BigInt;
use num_traits::Zero as _;

/// A dictionary in insertion order. An equal key keeps its first place and takes the last value.
pub type Dict = IndexMap<String, PyValue>;

/// What `json.loads` can return.
///
/// There is no `PartialEq` on purpose: [`PyValue::equals`] is Python's `==`, [`PyValue::is_identical`] compares types
/// and bits.
#[derive(Clone, Debug)]
pub enum PyValue {
    /// `None`.
    None,
    /// `True` or `False`.
    Bool(bool),
    /// An `int` of any size.
    Int(BigInt),
    /// A `float`, possibly not finite.
    Float(f64),
    /// A `str`.
    Str(String),
    /// A `list`.
    List(Vec<PyValue>),
    /// A `dict` with string keys.
    Dict(Dict),
}

impl PyValue {
    /// A dictionary of the given pairs.
    pub fn dict<K: Into<String>>(pairs: impl IntoIterator<Item = (K, Self)>) -> Self {
        Self::Dict(pairs.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }

    /// The name of its type, as in Python's error messages.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::None => "NoneType",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Float(_) => "float",
            Self::Str(_) => "str",
            Self::List(_) => "list",
            Self::Dict(_) => "dict",
        }
    }

    /// `bool(value)`.
    #[must_use]
    pub fn is_truthy(&self) -> bool {
        match self {
            Self::None => false,
            Self::Bool(value) => *value,
            Self::Int(value) => !value.is_zero(),
            Self::Float(value) => *value != 0.0,
            Self::Str(value) => !value.is_empty(),
            Self::List(items) => !items.is_empty(),
            Self::Dict(members) => !members.is_empty(),
        }
    }

    /// The text of a `str`.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        if let Self::Str(text) = self { Some(text) } else { None }
    }

    /// The value under `key` of a `dict`.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        if let Self::Dict(members) = self { members.get(key) } else { None }
    }

    /// Whether a number that is not finite occurs anywhere in it.
    #[must_use]
    pub fn has_non_finite(&self) -> bool {
        match self {
            Self::Float(value) => !value.is_finite(),
            Self::List(items) => items.iter().any(Self::has_non_finite),
            Self::Dict(members) => members.values().any(Self::has_non_finite),
            Self::None | Self::Bool(_) | Self::Int(_) | Self::Str(_) => false,
        }
    }
}

impl From<&str> for PyValue {
    fn from(text: &str) -> Self {
        Self::Str(text.to_owned())
    }
}

impl From<String> for PyValue {
    fn from(text: String) -> Self {
        Self::Str(text)
    }
}

impl From<bool> for PyValue {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<f64> for PyValue {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl From<i64> for PyValue {
    fn from(value: i64) -> Self {
        Self::Int(value.into())
    }
}

impl From<usize> for PyValue {
    fn from(value: usize) -> Self {
        Self::Int(value.into())
    }
}

impl From<Vec<PyValue>> for PyValue {
    fn from(items: Vec<PyValue>) -> Self {
        Self::List(items)
    }
}
