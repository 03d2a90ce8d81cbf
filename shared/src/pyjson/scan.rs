//! `json.loads`, after CPython 3.11's `Modules/_json.c` and `Lib/json/decoder.py`.

use super::{Dict, PyValue};

/// How deep lists and objects of a value may be nested. Python goes on to about 980; but what a judge said is
/// recorded, and other readers of the record give up at 128.
pub const MAX_DEPTH: usize = 100;

/// Where Python 3.11 stops: its recursion limit is 1000 frames, and upstream's evaluator has used some.
const PYTHON_DEPTH: usize = 980;

/// Python refuses to read integers with more digits.
const MAX_INT_DIGITS: usize = 4300;

/// Why a text is no JSON for Python. `Display` gives Python's own words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// `json.JSONDecodeError`, a `ValueError`.
    #[error("{message}: line {line} column {column} (char {position})")]
    Decode {
        /// What was expected.
        message: &'static str,
        /// 1-based.
        line: usize,
        /// 1-based, in code points.
        column: usize,
        /// 0-based, in code points.
        position: usize,
    },
    /// `ValueError` of `int()`.
    #[error(
        "Exceeds the limit (4300 digits) for integer string conversion: value has {digits} digits; use sys.set_int_max_str_digits() to increase the limit"
    )]
    IntTooLong {
        /// How many digits.
        digits: usize,
    },
    /// `RecursionError`, which is no `ValueError`.
    #[error("maximum recursion depth exceeded while decoding a JSON {what} from a unicode string")]
    TooDeep {
        /// `array` or `object`.
        what: &'static str,
    },
}

impl Error {
    /// The name of the Python exception.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Decode { .. } => "JSONDecodeError",
            Self::IntTooLong { .. } => "ValueError",
            Self::TooDeep { .. } => "RecursionError",
        }
    }

    /// Whether `except ValueError` catches it.
    #[must_use]
    pub fn is_value_error(&self) -> bool {
        !matches!(self, Self::TooDeep { .. })
    }
}

/// `json.loads(text)`.
///
/// # Errors
/// Where Python raises.
pub fn loads(text: &str) -> Result<PyValue, Error> {
    let scanner = Scanner { text: text.chars().collect() };
    if scanner.text.first() == Some(&'\u{feff}') {
        return Err(scanner.error("Unexpected UTF-8 BOM (decode using utf-8-sig)", 0));
    }
    let (value, end, depth) = scanner.document()?;
    let end = scanner.skip_space(end);
    if end != scanner.text.len() {
        return Err(scanner.error("Extra data", end));
    }
    // Only now: a text that is broken further on is broken in Python's words, however deep it began.
    if depth > MAX_DEPTH {
        return Err(Error::TooDeep { what: if matches!(value, PyValue::Dict(_)) { "object" } else { "array" } });
    }
    Ok(value)
}

struct Scanner {
    text: Vec<char>,
}

/// A list or object whose end has not come.
enum Open {
    List(Vec<PyValue>),
    /// With the key whose value is being read.
    Dict(Dict, String),
}

impl Open {
    fn with(self, value: PyValue) -> Self {
        match self {
            Self::List(mut items) => {
                items.push(value);
                Self::List(items)
            }
            Self::Dict(mut members, key) => {
                members.insert(key, value);
                Self::Dict(members, String::new())
            }
        }
    }
}

/// A value and the position after it.
type Scanned<T> = Result<(T, usize), Error>;

impl Scanner {
    /// The first value, where it ends, and how deep it is nested. On a stack of its own, not on the thread's.
    fn document(&self) -> Result<(PyValue, usize, usize), Error> {
        let mut stack: Vec<Open> = Vec::new();
        let mut deepest = 0;
        let mut at = self.skip_space(0);
        loop {
            // A value begins here.
            let (mut value, mut end) = match self.text.get(at) {
                Some('"') => self.string(at).map(|(text, end)| (PyValue::Str(text), end))?,
                Some(open @ ('[' | '{')) => {
                    if stack.len() == PYTHON_DEPTH {
                        return Err(Error::TooDeep { what: if *open == '[' { "array" } else { "object" } });
                    }
                    deepest = deepest.max(stack.len() + 1);
                    let inside = self.skip_space(at + 1);
                    match (open, self.text.get(inside)) {
                        ('[', Some(']')) => (PyValue::List(Vec::new()), inside + 1),
                        ('{', Some('}')) => (PyValue::Dict(Dict::new()), inside + 1),
                        ('[', _) => {
                            stack.push(Open::List(Vec::new()));
                            at = inside;
                            continue;
                        }
                        _ => {
                            let (key, value_at) = self.key(inside)?;
                            stack.push(Open::Dict(Dict::new(), key));
                            at = value_at;
                            continue;
                        }
                    }
                }
                _ => self.constant_or_number(at)?,
            };
            // A value has ended; what it stands in may end with it.
            loop {
                let Some(open) = stack.pop() else { return Ok((value, end, deepest)) };
                let next = self.skip_space(end);
                match (open.with(value), self.text.get(next)) {
                    (Open::List(items), Some(']')) => value = PyValue::List(items),
                    (Open::Dict(members, _), Some('}')) => value = PyValue::Dict(members),
                    (Open::List(items), Some(',')) => {
                        stack.push(Open::List(items));
                        at = self.skip_space(next + 1);
                        break;
                    }
                    (Open::Dict(members, _), Some(',')) => {
                        let (key, value_at) = self.key(self.skip_space(next + 1))?;
                        stack.push(Open::Dict(members, key));
                        at = value_at;
                        break;
                    }
                    _ => return Err(self.error("Expecting ',' delimiter", next)),
                }
                end = next + 1;
            }
        }
    }

    /// A key and its colon, and where the value begins.
    fn key(&self, at: usize) -> Scanned<String> {
        if self.text.get(at) != Some(&'"') {
            return Err(self.error("Expecting property name enclosed in double quotes", at));
        }
        let (key, end) = self.string(at)?;
        let colon = self.skip_space(end);
        if self.text.get(colon) != Some(&':') {
            return Err(self.error("Expecting ':' delimiter", colon));
        }
        Ok((key, self.skip_space(colon + 1)))
    }

    fn constant_or_number(&self, at: usize) -> Scanned<PyValue> {
        let constants = [
            ("null", PyValue::None),
            ("true", PyValue::Bool(true)),
            ("false", PyValue::Bool(false)),
            ("NaN", PyValue::Float(f64::NAN)),
            ("Infinity", PyValue::Float(f64::INFINITY)),
            ("-Infinity", PyValue::Float(f64::NEG_INFINITY)),
        ];
        let rest = self.text.get(at..).unwrap_or_default();
        for (name, value) in constants {
            if rest.len() >= name.len() && name.chars().eq(rest[..name.len()].iter().copied()) {
                return Ok((value, at + name.len()));
            }
        }
        self.number(at)
    }

    fn number(&self, start: usize) -> Scanned<PyValue> {
        let digits = |from: usize| from + self.text[from..].iter().take_while(|c| c.is_ascii_digit()).count();
        let is_digit = |at: usize| self.text.get(at).is_some_and(char::is_ascii_digit);
        let unsigned = start + usize::from(self.text.get(start) == Some(&'-'));
        let int_end = match self.text.get(unsigned) {
            Some('0') => unsigned + 1,
            Some('1'..='9') => digits(unsigned),
            _ => return Err(self.error("Expecting value", start)),
        };
        let mut end = int_end;
        if self.text.get(end) == Some(&'.') && is_digit(end + 1) {
            end = digits(end + 1);
        }
        if matches!(self.text.get(end), Some('e' | 'E')) {
            let exponent = end + 1 + usize::from(matches!(self.text.get(end + 1), Some('+' | '-')));
            if is_digit(exponent) {
                end = digits(exponent);
            }
        }
        let text: String = self.text[start..end].iter().collect();
        if end > int_end {
            let value = text.parse().expect("the grammar above is a part of Rust's");
            return Ok((PyValue::Float(value), end));
        }
        if int_end - unsigned > MAX_INT_DIGITS {
            return Err(Error::IntTooLong { digits: int_end - unsigned });
        }
        Ok((PyValue::Int(text.parse().expect("an optional sign and digits")), end))
    }

    fn string(&self, open: usize) -> Scanned<String> {
        let mut text = String::new();
        let mut at = open + 1;
        loop {
            match self.text.get(at) {
                None => return Err(self.error("Unterminated string starting at", open)),
                Some('"') => return Ok((text, at + 1)),
                Some('\\') => {
                    let (c, end) = self.escape(at, open)?;
                    text.push(c);
                    at = end;
                }
                Some('\0'..='\x1f') => return Err(self.error("Invalid control character at", at)),
                Some(c) => {
                    text.push(*c);
                    at += 1;
                }
            }
        }
    }

    /// The character an escape stands for; `at` is the backslash.
    fn escape(&self, at: usize, open: usize) -> Scanned<char> {
        let c = match self.text.get(at + 1) {
            None => return Err(self.error("Unterminated string starting at", open)),
            Some('u') => return self.unicode_escape(at),
            Some(c @ ('"' | '\\' | '/')) => *c,
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some(_) => return Err(self.error("Invalid \\escape", at)),
        };
        Ok((c, at + 2))
    }

    fn unicode_escape(&self, at: usize) -> Scanned<char> {
        let first = self.four_digits(at)?;
        let end = at + 6;
        // Python joins two halves only where something, if only the closing quote, follows them.
        let pairs = (0xd800..0xdc00).contains(&first)
            && end + 6 < self.text.len()
            && self.text[end] == '\\'
            && self.text[end + 1] == 'u';
        if pairs {
            let second = self.four_digits(end)?;
            if (0xdc00..0xe000).contains(&second) {
                let joined = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                return Ok((char::from_u32(joined).unwrap_or(char::REPLACEMENT_CHARACTER), end + 6));
            }
        }
        Ok((char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER), end))
    }

    /// The digits after `\u`; `at` is the backslash. A string cannot end with them, so one more must follow.
    fn four_digits(&self, at: usize) -> Result<u32, Error> {
        let invalid = || self.error("Invalid \\uXXXX escape", at + 1);
        if at + 6 >= self.text.len() {
            return Err(invalid());
        }
        self.text[at + 2..at + 6]
            .iter()
            .try_fold(0, |number, c| c.to_digit(16).map(|digit| number * 16 + digit))
            .ok_or_else(invalid)
    }

    fn skip_space(&self, at: usize) -> usize {
        let rest = self.text.get(at..).unwrap_or_default();
        at + rest.iter().take_while(|c| matches!(c, ' ' | '\t' | '\n' | '\r')).count()
    }

    fn error(&self, message: &'static str, position: usize) -> Error {
        let before = &self.text[..position.min(self.text.len())];
        let line = 1 + before.iter().filter(|&&c| c == '\n').count();
        let column = 1 + before.iter().rev().take_while(|&&c| c != '\n').count();
        Error::Decode { message, line, column, position }
    }
}

#[cfg(test)]
mod tests;
