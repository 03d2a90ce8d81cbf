//! What Python raises when a value is used as something it is not.

use std::fmt;

use num_bigint::BigInt;
use num_traits::{Signed as _, ToPrimitive as _, Zero as _};

use super::{Error, PyValue};

/// A Python exception, by type and message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exception {
    /// For example `KeyError`.
    pub type_name: &'static str,
    /// `str(exception)`.
    pub message: String,
}

impl Exception {
    /// `TypeError(message)`.
    #[must_use]
    pub fn type_error(message: impl Into<String>) -> Self {
        Self { type_name: "TypeError", message: message.into() }
    }

    /// What reading or calling a missing attribute raises.
    #[must_use]
    pub fn no_attribute(value: &PyValue, name: &str) -> Self {
        let message = format!("'{}' object has no attribute '{name}'", value.type_name());
        Self { type_name: "AttributeError", message }
    }

    fn overflow(message: &str) -> Self {
        Self { type_name: "OverflowError", message: message.to_owned() }
    }
}

impl fmt::Display for Exception {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.type_name, self.message)
    }
}

impl std::error::Error for Exception {}

impl From<Error> for Exception {
    fn from(error: Error) -> Self {
        Self { type_name: error.type_name(), message: error.to_string() }
    }
}

impl PyValue {
    /// `value[key]` with a string key, in the words of Python 3.11.
    ///
    /// # Errors
    /// `KeyError` of a dictionary, `TypeError` of everything else.
    pub fn subscript(&self, key: &str) -> Result<&Self, Exception> {
        match self {
            Self::Dict(members) => members
                .get(key)
                .ok_or_else(|| Exception { type_name: "KeyError", message: crate::pyrepr::repr_str(key) }),
            Self::List(_) => Err(Exception::type_error("list indices must be integers or slices, not str")),
            Self::Str(_) => Err(Exception::type_error("string indices must be integers, not 'str'")),
            other => Err(Exception::type_error(format!("'{}' object is not subscriptable", other.type_name()))),
        }
    }

    /// `value[key] = item` with a string key. A key that is there keeps its place.
    ///
    /// # Errors
    /// `TypeError` of everything that is no dictionary.
    pub fn set(&mut self, key: &str, item: Self) -> Result<(), Exception> {
        match self {
            Self::Dict(members) => {
                members.insert(key.to_owned(), item);
                Ok(())
            }
            Self::List(_) => Err(Exception::type_error("list indices must be integers or slices, not str")),
            other => {
                let message = format!("'{}' object does not support item assignment", other.type_name());
                Err(Exception::type_error(message))
            }
        }
    }

    /// The items a `for` loop sees, which `len()` counts: elements, characters or keys.
    ///
    /// # Errors
    /// The `TypeError` of `len()`.
    pub fn elements(&self) -> Result<Vec<Self>, Exception> {
        match self {
            Self::List(items) => Ok(items.clone()),
            Self::Str(text) => Ok(text.chars().map(|c| Self::Str(c.into())).collect()),
            Self::Dict(members) => Ok(members.keys().map(|key| Self::Str(key.clone())).collect()),
            other => Err(Exception::type_error(format!("object of type '{}' has no len()", other.type_name()))),
        }
    }

    /// `self / divisor`. Integers of any size are divided exactly and rounded once.
    ///
    /// # Errors
    /// `TypeError`, `ZeroDivisionError`, `OverflowError`.
    pub fn divided_by(&self, divisor: &Self) -> Result<f64, Exception> {
        match (self.number(), divisor.number()) {
            (Some(Number::Int(a)), Some(Number::Int(b))) => divide(&a, &b),
            (Some(a), Some(b)) => {
                let (a, b) = (a.into_float()?, b.into_float()?);
                if b == 0.0 { Err(zero_division("float division by zero")) } else { Ok(a / b) }
            }
            _ => {
                let (a, b) = (self.type_name(), divisor.type_name());
                Err(Exception::type_error(format!("unsupported operand type(s) for /: '{a}' and '{b}'")))
            }
        }
    }

    fn number(&self) -> Option<Number> {
        match self {
            Self::Bool(value) => Some(Number::Int(BigInt::from(u8::from(*value)))),
            Self::Int(value) => Some(Number::Int(value.clone())),
            Self::Float(value) => Some(Number::Float(*value)),
            Self::None | Self::Str(_) | Self::List(_) | Self::Dict(_) => None,
        }
    }
}

enum Number {
    Int(BigInt),
    Float(f64),
}

impl Number {
    fn into_float(self) -> Result<f64, Exception> {
        match self {
            Self::Float(value) => Ok(value),
            Self::Int(value) => value
                .to_f64()
                .filter(|value| value.is_finite())
                .ok_or_else(|| Exception::overflow("int too large to convert to float")),
        }
    }
}

fn zero_division(message: &str) -> Exception {
    Exception { type_name: "ZeroDivisionError", message: message.to_owned() }
}

/// The float nearest to `a / b`, ties to even, as CPython's `long_true_divide`.
fn divide(a: &BigInt, b: &BigInt) -> Result<f64, Exception> {
    /// Weight of a float's last bit at its smallest.
    const LOWEST: i64 = -1074;
    if b.is_zero() {
        return Err(zero_division("division by zero"));
    }
    let sign = if a.is_negative() == b.is_negative() { 1.0 } else { -1.0 };
    if a.is_zero() {
        return Ok(0.0_f64.copysign(if b.is_negative() { -1.0 } else { 1.0 }));
    }
    let size = |n: &BigInt| i64::try_from(n.bits()).unwrap_or(i64::MAX / 4);
    // The quotient lies between 2^(magnitude - 1) and 2^(magnitude + 1).
    let magnitude = size(a) - size(b);
    let too_large = || Exception::overflow("integer division result too large for a float");
    if magnitude > 1024 {
        return Err(too_large());
    }
    if magnitude < LOWEST - 2 {
        return Ok(0.0 * sign);
    }
    // The quotient in units of 2^unit, with some ten bits more than a float keeps.
    let unit = (magnitude - 64).max(LOWEST - 10);
    let (a, b) = if unit < 0 { (a.abs() << -unit, b.abs()) } else { (a.abs(), b.abs() << unit) };
    let quotient = (&a / &b).to_u128().unwrap_or(u128::MAX);
    let inexact = !(&a % &b).is_zero();
    let bits = 128 - i64::from(quotient.leading_zeros());
    let last = (bits - 53 + unit).max(LOWEST);
    let cut = last - unit;
    let (kept, rest, half) = (quotient >> cut, quotient & ((1 << cut) - 1), 1_u128 << (cut - 1));
    let up = rest > half || (rest == half && (inexact || kept & 1 == 1));
    let digits = (kept + u128::from(up)) as f64;
    // Two exact steps, since 2^-1074 alone times a half would not be a float.
    let step = |power: i64| 2_f64.powi(i32::try_from(power).unwrap_or(0));
    let value = digits * step(last / 2) * step(last - last / 2);
    if value.is_finite() { Ok(value * sign) } else { Err(too_large()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pyjson::loads;

    fn quotient(a: &str, b: &str) -> Result<f64, String> {
        loads(a).unwrap().divided_by(&loads(b).unwrap()).map_err(|exception| exception.to_string())
    }

    #[test]
    fn small_integers_divide_as_floats_do() {
        for (a, b) in [(1, 3), (2, 7), (-1, 3), (5, 2), (0, 5), (0, -5), (1 << 52, 3), (i64::from(i32::MAX), 7)] {
            let exact = quotient(&a.to_string(), &b.to_string()).unwrap();
            assert_eq!(exact.to_bits(), (a as f64 / b as f64).to_bits(), "{a}/{b}");
        }
    }

    #[test]
    fn large_integers_are_rounded_once() {
        // 2**53 + 1 is halfway: dividing rounded operands would give another result.
        assert_eq!(quotient("9007199254740993", "9007199254740992"), Ok(1.0));
        assert_eq!(quotient("9007199254740993", "1"), Ok(9_007_199_254_740_992.0));
        assert_eq!(quotient("9007199254740995", "1"), Ok(9_007_199_254_740_996.0));
        let big = format!("1{}", "0".repeat(400));
        assert_eq!(quotient(&big, &big), Ok(1.0));
        assert_eq!(quotient(&format!("{big}0"), &format!("3{}", &big[1..])), Ok(10.0 / 3.0));
        assert_eq!(quotient("1", &big), Ok(0.0));
        assert_eq!(quotient(&big, "1").unwrap_err(), "OverflowError: integer division result too large for a float");
        assert_eq!(quotient("1", &format!("1{}", "0".repeat(323))), Ok(1e-323));
        assert_eq!(quotient("1", &format!("1{}", "0".repeat(310))), Ok(1e-310));
        assert_eq!(quotient(&big, "1.5").unwrap_err(), "OverflowError: int too large to convert to float");
    }

    #[test]
    fn what_is_no_number_does_not_divide() {
        assert_eq!(quotient("true", "2"), Ok(0.5));
        assert_eq!(quotient("1", "Infinity"), Ok(0.0));
        assert!(quotient("Infinity", "Infinity").unwrap().is_nan());
        assert_eq!(quotient("1", "0").unwrap_err(), "ZeroDivisionError: division by zero");
        assert_eq!(quotient("1", "0.0").unwrap_err(), "ZeroDivisionError: float division by zero");
        assert_eq!(
            quotient("\"1\"", "2").unwrap_err(),
            "TypeError: unsupported operand type(s) for /: 'str' and 'int'"
        );
    }

    #[test]
    fn misuse_is_worded_as_in_python() {
        let subscript = |text: &str| loads(text).unwrap().subscript("a").map(drop).map_err(|e| e.to_string());
        assert_eq!(subscript("{\"a\": 1}"), Ok(()));
        for (text, error) in [
            ("{}", "KeyError: 'a'"),
            ("[]", "TypeError: list indices must be integers or slices, not str"),
            ("\"x\"", "TypeError: string indices must be integers, not 'str'"),
            ("null", "TypeError: 'NoneType' object is not subscriptable"),
            ("1.5", "TypeError: 'float' object is not subscriptable"),
        ] {
            assert_eq!(subscript(text).unwrap_err(), error);
        }
        let set = |text: &str| loads(text).unwrap().set("a", PyValue::None).unwrap_err().to_string();
        assert_eq!(set("true"), "TypeError: 'bool' object does not support item assignment");
        assert_eq!(set("[]"), "TypeError: list indices must be integers or slices, not str");
        let len = |text: &str| loads(text).unwrap().elements().map(|items| items.len()).map_err(|e| e.message);
        assert_eq!(len("\"\u{e9}x\""), Ok(2));
        assert_eq!(len("{\"a\": 1}"), Ok(1));
        assert_eq!(len("7").unwrap_err(), "object of type 'int' has no len()");
    }
}
