//! What is expected of a piece of Python, written as Python with holes.
//!
//! A [`Shape`] is one statement (mostly a whole function). It is compared with the source as syntax, so layout and
//! comments do not matter. In it
//!
//! - `TEXT_x` stands for a plain string, `FORMAT_x` for an f-string, `NUMBER_x` for a number, `ANY_x` for any
//!   expression; each is captured;
//! - `NAME_x` stands for a local name, the same wherever it occurs;
//! - a parameter list `(*_, a=NUMBER_a)` asks only for the named parameters;
//! - `...` stands for any statements that change nothing which the shape mentions and do not leave the function.
//!
//! Everything else stands for itself. `print(...)` and docstrings of the source are overlooked under the condition of
//! `...`. So a shape says all that decides a text, and whatever else would touch it is found and refused.

mod expression;
mod statement;

use std::collections::HashMap;

use rustpython_ruff_python_ast::{Expr, Stmt, visitor::Visitor};
use rustpython_ruff_python_parser::parse_module;
use rustpython_ruff_text_size::TextRange;

use super::{Error, names, source::Source};

/// An expected statement.
pub(super) struct Shape {
    text: &'static str,
    statement: Stmt,
    /// Paths it mentions, before its own names are resolved.
    mentions: Vec<String>,
}

/// What the holes of a shape stand for in a source.
#[derive(Clone, Default)]
pub(super) struct Captures<'s> {
    expressions: HashMap<String, &'s Expr>,
    names: HashMap<String, String>,
}

impl Shape {
    /// Reads a shape. It is a constant of ours, so it is a mistake in this program if it is not Python.
    pub(super) fn new(text: &'static str) -> Self {
        let module = parse_module(text).unwrap_or_else(|error| panic!("shape is not Python: {error}: {text}"));
        let [statement] = <[Stmt; 1]>::try_from(module.into_suite()).expect("a shape is one statement");
        let mut mentions = Mentions(Vec::new());
        mentions.visit_stmt(&statement);
        Self { text, statement, mentions: mentions.0 }
    }

    /// Compares the function or class of the same name at module level.
    pub(super) fn find<'s>(&self, source: &'s Source) -> Result<Captures<'s>, Error> {
        let definition = match &self.statement {
            Stmt::ClassDef(class) => source.class(class.name.as_str())?,
            _ => source.function(self.name())?,
        };
        self.compare(source, definition)
    }

    /// Compares the method of the same name of `class`.
    pub(super) fn find_in_class<'s>(&self, source: &'s Source, class: &str) -> Result<Captures<'s>, Error> {
        self.compare(source, source.method(class, self.name())?)
    }

    /// All statements inside `place` that look like this, at any depth.
    pub(super) fn find_all<'s>(&self, source: &'s Source, place: &'s Stmt) -> Vec<Captures<'s>> {
        let mut statements = Statements(Vec::new());
        statements.visit_stmt(place);
        statements.0.into_iter().filter_map(|statement| self.compare(source, statement).ok()).collect()
    }

    /// As text for messages, holes named.
    pub(super) fn describe(&self) -> String {
        describe(self.text)
    }

    fn compare<'s>(&self, source: &'s Source, statement: &'s Stmt) -> Result<Captures<'s>, Error> {
        let mut matcher = Matcher { shape: self, captures: Captures::default(), progress: 0 };
        match matcher.statement(&self.statement, statement) {
            Ok(()) => Ok(matcher.captures),
            Err(mismatch) => Err(source.unexpected(mismatch.at, mismatch.expected)),
        }
    }

    fn name(&self) -> &str {
        match &self.statement {
            Stmt::FunctionDef(function) => function.name.as_str(),
            _ => unreachable!("only functions are looked up by name"),
        }
    }
}

impl<'s> Captures<'s> {
    /// What stands at a hole.
    pub(super) fn expression(&self, hole: &str) -> &'s Expr {
        self.expressions[hole]
    }

    /// The text at a `TEXT_` hole.
    pub(super) fn text(&self, source: &Source, hole: &str) -> Result<String, Error> {
        super::text::plain(source, self.expression(hole))
    }

    /// The local name a `NAME_` hole stands for.
    pub(super) fn name(&self, hole: &str) -> &str {
        &self.names[hole]
    }
}

/// The first line of `text`, at most 100 characters of it.
pub(super) fn shorten(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default().trim();
    match line.char_indices().nth(100) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None if text.lines().count() > 1 => format!("{line} ..."),
        None => line.to_owned(),
    }
}

/// `TEXT_a + NAME_b["c"]` as `<text> + <b>["c"]`.
fn describe(shape: &str) -> String {
    let (mut described, mut word) = (String::new(), String::new());
    for c in shorten(shape).chars() {
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
        } else {
            described += &spell(&word);
            described.push(c);
            word.clear();
        }
    }
    described + &spell(&word)
}

/// A word of a shape, as it is shown.
fn spell(word: &str) -> String {
    match hole(word) {
        None => word.to_owned(),
        Some(("TEXT", _)) => "<text>".to_owned(),
        Some(("FORMAT", _)) => "<f-string>".to_owned(),
        Some(("NUMBER", _)) => "<number>".to_owned(),
        Some(("ANY", _)) => "<anything>".to_owned(),
        Some((_, name)) => format!("<{name}>"),
    }
}

/// Kind and name of a hole.
fn hole(identifier: &str) -> Option<(&str, &str)> {
    let (kind, name) = identifier.split_once('_')?;
    ["TEXT", "FORMAT", "NUMBER", "ANY", "NAME"].contains(&kind).then_some((kind, name))
}

/// One comparison under way.
struct Matcher<'p, 's> {
    shape: &'p Shape,
    captures: Captures<'s>,
    /// How many pieces agreed; tells which of several candidates was meant.
    progress: usize,
}

/// Where the source differs.
struct Mismatch {
    at: TextRange,
    expected: String,
    progress: usize,
}

type Matched = Result<(), Mismatch>;

impl<'s> Matcher<'_, 's> {
    fn mismatch(&self, at: TextRange, expected: impl Into<String>) -> Mismatch {
        Mismatch { at, expected: expected.into(), progress: self.progress }
    }

    /// "Expected this piece of the shape."
    fn differs(&self, pattern: TextRange, at: TextRange) -> Matched {
        Err(self.mismatch(at, format!("`{}`", describe(&self.shape.text[pattern]))))
    }

    /// What a statement changes of that which the shape mentions.
    fn conflict(&self, statement: &Stmt) -> Option<String> {
        names::changes([statement]).into_iter().map(|change| change.path).find(|path| self.mentions(path))
    }

    /// Whether the shape mentions `path`, a part of it, or what it is a part of.
    fn mentions(&self, path: &str) -> bool {
        self.shape.mentions.iter().any(|mention| {
            let (head, tail) = mention.split_at(mention.find('.').unwrap_or(mention.len()));
            let head = self.captures.names.get(head).map_or(head, String::as_str);
            names::overlap(path, &format!("{head}{tail}"))
        })
    }
}

/// Collects the longest paths an expected statement mentions.
struct Mentions(Vec<String>);

impl<'a> Visitor<'a> for Mentions {
    fn visit_expr(&mut self, expression: &'a Expr) {
        match names::path(expression) {
            Some(path) => self.0.push(path),
            None => rustpython_ruff_python_ast::visitor::walk_expr(self, expression),
        }
    }
}

/// Collects statements at all depths.
struct Statements<'a>(Vec<&'a Stmt>);

impl<'a> Visitor<'a> for Statements<'a> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        self.0.push(statement);
        rustpython_ruff_python_ast::visitor::walk_stmt(self, statement);
    }
}
