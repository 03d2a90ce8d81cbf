//! Two ways of being equal.

use num_bigint::BigInt;
use num_traits::FromPrimitive as _;

use super::PyValue;

impl PyValue {
    /// Python's `==`: numbers compare by value across `bool`, `int` and `float`, the order of keys does not matter.
    ///
    /// `nan == nan` is false. Inside a list or dictionary it is true, because `json` makes all its NaNs the same
    /// object and containers compare by identity first.
    #[must_use]
    pub fn equals(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::None, Self::None) => true,
            (Self::Str(a), Self::Str(b)) => a == b,
            (Self::List(a), Self::List(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.equals_as_element(b))
            }
            (Self::Dict(a), Self::Dict(b)) => {
                a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| a.equals_as_element(b)))
            }
            (Self::Float(a), Self::Float(b)) => a == b,
            (Self::Float(a), b) | (b, Self::Float(a)) => {
                b.as_int().is_some_and(|b| a.fract() == 0.0 && BigInt::from_f64(*a) == Some(b))
            }
            (a, b) => a.as_int().is_some_and(|a| Some(a) == b.as_int()),
        }
    }

    /// Same types, same bits, same order: what makes two records the same record.
    #[must_use]
    pub fn is_identical(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::None, Self::None) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Int(a), Self::Int(b)) => a == b,
            (Self::Float(a), Self::Float(b)) => a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()),
            (Self::Str(a), Self::Str(b)) => a == b,
            (Self::List(a), Self::List(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.is_identical(b)),
            (Self::Dict(a), Self::Dict(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|((k, a), (l, b))| k == l && a.is_identical(b))
            }
            _ => false,
        }
    }

    fn equals_as_element(&self, other: &Self) -> bool {
        matches!((self, other), (Self::Float(a), Self::Float(b)) if a.is_nan() && b.is_nan()) || self.equals(other)
    }

    /// A `bool` is an `int`.
    fn as_int(&self) -> Option<BigInt> {
        match self {
            Self::Bool(value) => Some(BigInt::from(u8::from(*value))),
            Self::Int(value) => Some(value.clone()),
            Self::None | Self::Float(_) | Self::Str(_) | Self::List(_) | Self::Dict(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::pyjson::loads;

    fn equal(a: &str, b: &str) -> bool {
        let (a, b) = (loads(a).unwrap(), loads(b).unwrap());
        assert_eq!(a.equals(&b), b.equals(&a), "symmetric");
        a.equals(&b)
    }

    #[test]
    fn numbers_compare_by_value() {
        assert!(equal("1", "1.0"));
        assert!(equal("1", "true"));
        assert!(equal("0.0", "false"));
        assert!(equal("-0.0", "0"));
        assert!(equal("1e16", "10000000000000000"));
        // Exactly, not after rounding: 2**53 + 1 has no float.
        assert!(!equal("9007199254740993", "9007199254740992.0"));
        assert!(!equal("1e999", "1"));
        assert!(equal("1e999", "Infinity"));
        assert!(!equal("1", "\"1\""));
        assert!(!equal("0", "null"));
        assert!(!equal("\"\"", "null"));
    }

    #[test]
    fn containers_compare_by_element() {
        assert!(equal("[1, {\"a\": 1, \"b\": 2}]", "[true, {\"b\": 2.0, \"a\": 1}]"));
        assert!(!equal("[1, 2]", "[2, 1]"));
        assert!(!equal("{\"a\": 1}", "{\"a\": 1, \"b\": 1}"));
        assert!(!equal("[]", "{}"));
    }

    #[test]
    fn nan_equals_nan_only_inside() {
        assert!(!equal("NaN", "NaN"));
        assert!(equal("[NaN]", "[NaN]"));
        assert!(equal("{\"a\": NaN}", "{\"a\": NaN}"));
    }

    #[test]
    fn identity_sees_type_bits_and_order() {
        let identical = |a: &str, b: &str| loads(a).unwrap().is_identical(&loads(b).unwrap());
        assert!(identical("[NaN, 1, \"a\", null, true]", "[NaN, 1, \"a\", null, true]"));
        assert!(!identical("1", "1.0"));
        assert!(!identical("1", "true"));
        assert!(!identical("0.0", "-0.0"));
        assert!(!identical("{\"a\": 1, \"b\": 2}", "{\"b\": 2, \"a\": 1}"));
    }
}
