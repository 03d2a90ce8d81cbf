//! Python's three ways to write a text with holes, read into a [`Template`]; and literals.

use argosy_shared::prompts::{Part, Template};
use rustpython_ruff_python_ast::{
    ConversionFlag, Expr, FStringPart, InterpolatedStringElement, Number, comparable::ComparableExpr,
};
use rustpython_ruff_python_parser::parse_expression;
use rustpython_ruff_text_size::Ranged as _;
use serde_json::{Map, Value};

use super::{Error, source::Source};

/// A plain string, implicit concatenation included.
pub(super) fn plain(source: &Source, expression: &Expr) -> Result<String, Error> {
    match expression {
        Expr::StringLiteral(literal) => representable(source, expression, literal.value.to_str().to_owned()),
        other => Err(source.unexpected(other.range(), "a plain string")),
    }
}

/// A `str.format` template with plain `{name}` fields.
pub(super) fn str_format(source: &Source, expression: &Expr) -> Result<Template, Error> {
    let text = plain(source, expression)?;
    let refuse = |what: &str| Err(source.unexpected(expression.range(), what));
    let mut parts = Vec::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find(['{', '}']) {
        parts.push(Part::text(&rest[..at]));
        let brace = &rest[at..=at];
        rest = &rest[at + 1..];
        if rest.starts_with(brace) {
            parts.push(Part::text(brace));
            rest = &rest[1..];
            continue;
        }
        let Some(end) = rest.find('}').filter(|_| brace == "{") else {
            return refuse("a format template without single braces");
        };
        let name = &rest[..end];
        if !is_identifier(name) {
            return refuse(&format!("a format template with plain `{{name}}` fields, not `{{{name}}}`"));
        }
        parts.push(Part::field(name));
        rest = &rest[end + 1..];
    }
    parts.push(Part::text(rest));
    Ok(Template::new(parts))
}

/// An f-string whose holes are the given expressions, each with the field it becomes.
pub(super) fn f_string(source: &Source, expression: &Expr, holes: &[(&str, &str)]) -> Result<Template, Error> {
    let Expr::FString(f_string) = expression else {
        return Err(source.unexpected(expression.range(), "an f-string"));
    };
    let mut parts = Vec::new();
    for part in f_string.value.as_slice() {
        match part {
            FStringPart::Literal(literal) => {
                parts.push(Part::Text(representable(source, expression, literal.value.to_string())?));
            }
            FStringPart::FString(f_string) => {
                for element in f_string.elements.iter() {
                    parts.push(element_part(source, expression, element, holes)?);
                }
            }
        }
    }
    Ok(Template::new(parts))
}

/// A template whose `%s` become the given fields in order. `%%` is a percent sign; other conversions are refused.
pub(super) fn percent(source: &Source, expression: &Expr, text: &str, fields: &[&str]) -> Result<Template, Error> {
    let mut parts = Vec::new();
    let mut fields = fields.iter();
    let mut pieces = text.split('%');
    parts.push(Part::text(pieces.next().unwrap_or_default()));
    while let Some(piece) = pieces.next() {
        if let Some(after) = piece.strip_prefix('s') {
            let Some(field) = fields.next() else {
                return Err(source.unexpected(expression.range(), "as many `%s` as there are values"));
            };
            parts.push(Part::field(*field));
            parts.push(Part::text(after));
        } else if piece.is_empty() {
            // The second half of `%%`, if there is one.
            let Some(after) = pieces.next() else {
                return Err(source.unexpected(expression.range(), "a text that does not end in `%`"));
            };
            parts.push(Part::text(format!("%{after}")));
        } else {
            let found: String = piece.chars().take(1).collect();
            return Err(source.unexpected(expression.range(), format!("only `%s` and `%%`, not `%{found}`")));
        }
    }
    if fields.next().is_some() {
        return Err(source.unexpected(expression.range(), "as many `%s` as there are values"));
    }
    Ok(Template::new(parts))
}

/// A list of plain strings.
pub(super) fn strings(source: &Source, expression: &Expr) -> Result<Vec<String>, Error> {
    match expression {
        Expr::List(list) => list.elts.iter().map(|element| plain(source, element)).collect(),
        other => Err(source.unexpected(other.range(), "a list of plain strings")),
    }
}

/// A positive whole number.
pub(super) fn count(source: &Source, expression: &Expr) -> Result<u32, Error> {
    let number = match expression {
        Expr::NumberLiteral(literal) => match &literal.value {
            Number::Int(int) => int.as_u32(),
            Number::Float(_) | Number::Complex { .. } => None,
        },
        _ => None,
    };
    number
        .filter(|number| *number > 0)
        .ok_or_else(|| source.unexpected(expression.range(), "a whole number, at least 1"))
}

/// A dict literal with constant values, keys in the order of the source.
pub(super) fn object(source: &Source, expression: &Expr) -> Result<Map<String, Value>, Error> {
    match constant(source, expression)? {
        Value::Object(members) => Ok(members),
        _ => Err(source.unexpected(expression.range(), "a dict literal")),
    }
}

/// A literal made of strings, numbers, booleans, `None`, lists and dicts.
pub(super) fn constant(source: &Source, expression: &Expr) -> Result<Value, Error> {
    Ok(match expression {
        Expr::StringLiteral(_) => plain(source, expression)?.into(),
        Expr::BooleanLiteral(literal) => literal.value.into(),
        Expr::NoneLiteral(_) => Value::Null,
        Expr::NumberLiteral(literal) => {
            let number = match &literal.value {
                Number::Int(int) => int.as_i64().map(Value::from),
                Number::Float(float) => serde_json::Number::from_f64(*float).map(Value::Number),
                Number::Complex { .. } => None,
            };
            number.ok_or_else(|| source.unexpected(expression.range(), "a number that JSON can hold"))?
        }
        Expr::List(list) => {
            Value::Array(list.elts.iter().map(|element| constant(source, element)).collect::<Result<_, _>>()?)
        }
        Expr::Dict(dict) => {
            let mut members = Map::new();
            for item in &dict.items {
                let key = item.key.as_ref().ok_or_else(|| source.unexpected(dict.range(), "a dict without `**`"))?;
                let key_text = plain(source, key)?;
                if members.insert(key_text, constant(source, &item.value)?).is_some() {
                    return Err(source.unexpected(key.range(), "each key once"));
                }
            }
            Value::Object(members)
        }
        other => return Err(source.unexpected(other.range(), "a constant")),
    })
}

fn element_part(
    source: &Source,
    whole: &Expr,
    element: &InterpolatedStringElement,
    holes: &[(&str, &str)],
) -> Result<Part, Error> {
    let hole = match element {
        InterpolatedStringElement::Literal(literal) => {
            return Ok(Part::Text(representable(source, whole, literal.value.to_string())?));
        }
        InterpolatedStringElement::Interpolation(hole) => hole,
    };
    if hole.conversion != ConversionFlag::None || hole.format_spec.is_some() || hole.debug_text.is_some() {
        return Err(source.unexpected(hole.range, "a hole without conversion and format"));
    }
    for (expected, field) in holes {
        let expected = parse_expression(expected).expect("a constant of this module").into_expr();
        if ComparableExpr::from(&expected) == ComparableExpr::from(&*hole.expression) {
            return Ok(Part::field(*field));
        }
    }
    let names: Vec<String> = holes.iter().map(|(expression, _)| format!("`{{{expression}}}`")).collect();
    let expected = match names.as_slice() {
        [] => "an f-string without holes".to_owned(),
        names => format!("an f-string with the holes {}", names.join(", ")),
    };
    Err(source.unexpected(hole.range, expected))
}

/// The parser puts U+FFFD where a string holds a lone surrogate, which no Rust string can.
fn representable(source: &Source, expression: &Expr, text: String) -> Result<String, Error> {
    if text.contains('\u{fffd}') {
        return Err(source.unexpected(expression.range(), "a text without surrogates and U+FFFD"));
    }
    Ok(text)
}

fn is_identifier(name: &str) -> bool {
    !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !name.starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn with<T>(code: &str, read: impl Fn(&Source, &Expr) -> Result<T, Error>) -> Result<T, String> {
        let source = Source::parse("test.py", format!("x = {code}\n").as_bytes()).map_err(|error| error.to_string())?;
        source.assigned("x").and_then(|expression| read(&source, expression)).map_err(|error| error.to_string())
    }

    fn rendered(template: Template) -> String {
        template
            .parts()
            .iter()
            .map(|part| match part {
                Part::Text(text) => text.clone(),
                Part::Field { field } => format!("<{field}>"),
            })
            .collect()
    }

    #[test]
    fn format_templates() {
        let read = |code: &str| with(code, str_format).map(rendered);
        assert_eq!(read("'a {b} {{c}} }}{d_1}'").unwrap(), "a <b> {c} }<d_1>");
        assert_eq!(read("'''a\\\n   b\\n\\x41'''").unwrap(), "a   b\nA");
        assert_eq!(read("r'\\n' \"{x}\"").unwrap(), "\\n<x>");
        for wrong in ["'{}'", "'{0}'", "'{a.b}'", "'{a!r}'", "'{a:>3}'", "'{a[0]}'", "'a } b'", "'a { b'", "'{'"] {
            assert!(read(wrong).unwrap_err().starts_with("test.py:1: expected a format template"), "{wrong}");
        }
        assert!(read("b'x'").unwrap_err().contains("expected a plain string"));
        assert!(read("f'{x}'").unwrap_err().contains("expected a plain string"));
        assert!(read("'\\ud800'").unwrap_err().contains("surrogates"));
    }

    #[test]
    fn f_strings() {
        let holes = [("a", "first"), ("b['c']", "second")];
        let read = |code: &str| with(code, |source, expression| f_string(source, expression, &holes)).map(rendered);
        assert_eq!(read("f'x {a}{{y}} {b[\"c\"]}' '{z}'").unwrap(), "x <first>{y} <second>{z}");
        let refused = "test.py:1: expected a hole without conversion and format";
        for wrong in ["f'{a!r}'", "f'{a:>3}'", "f'{a=}'"] {
            assert!(read(wrong).unwrap_err().starts_with(refused), "{wrong}");
        }
        let unknown = read("f'''x\n{a + 1}'''").unwrap_err();
        assert_eq!(unknown, "test.py:2: expected an f-string with the holes `{a}`, `{b['c']}`, found `{a + 1}`");
    }

    #[test]
    fn percent_templates() {
        let read =
            |text: &str| with("1", |source, expression| percent(source, expression, text, &["a", "b"])).map(rendered);
        assert_eq!(read("x %s y%%s %s%%").unwrap(), "x <a> y%s <b>%");
        for (wrong, expected) in [
            ("%s", "as many"),
            ("%s %s %s", "as many"),
            ("%s %d", "not `%d`"),
            ("%s %s %", "does not end in"),
            ("%(x)s %s", "not `%(`"),
        ] {
            let error = read(wrong).unwrap_err();
            assert!(error.contains(expected), "{wrong}: {error}");
        }
    }

    proptest! {
        /// Any text survives being written as each of the three kinds of template.
        #[test]
        fn texts_survive_their_escapes(text in "[a-z{}% \\n\u{b5}]{0,20}") {
            let quoted = text.replace('\\', "\\\\").replace('\n', "\\n");
            let braces = format!("'{}'", quoted.replace('{', "{{").replace('}', "}}"));
            prop_assert_eq!(with(&braces, str_format).map(rendered), Ok(text.clone()));
            let f = format!("f{braces}");
            prop_assert_eq!(with(&f, |source, it| f_string(source, it, &[])).map(rendered), Ok(text.clone()));
            let doubled = text.replace('%', "%%");
            prop_assert_eq!(with("1", |source, it| percent(source, it, &doubled, &[])).map(rendered), Ok(text));
        }

        #[test]
        fn foreign_source_never_panics(text in "[a-z(){}\\[\\]'\"=:%\\n .]{0,60}") {
            let _ = with(&text, str_format);
            let _ = with(&text, object);
            let _ = with(&text, |source, it| f_string(source, it, &[("a", "b")]));
            let _ = with("1", |source, it| percent(source, it, &text, &["a"]));
        }
    }

    #[test]
    fn constants() {
        let read = |code: &str| with(code, object);
        let object = read("{'a': 1., 'b': 0, 'c': {'d': [None, True, 'x']}}").unwrap();
        assert_eq!(Value::Object(object).to_string(), r#"{"a":1.0,"b":0,"c":{"d":[null,true,"x"]}}"#);
        for wrong in ["{'a': b}", "{**a}", "{1: 2}", "{'a': 1, 'a': 2}", "[1]", "{'a': 1j}", "{'a': -1}"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
