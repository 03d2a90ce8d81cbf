//! One Python file of a checkout, as syntax.

use std::{fs::File, io::Read as _, path::Path};

use rustpython_ruff_python_ast::{Expr, Stmt, token::TokenKind};
use rustpython_ruff_python_parser::{Mode, lexer, parse_module};
use rustpython_ruff_text_size::{Ranged as _, TextRange};
use sha2::{Digest as _, Sha256};

use super::{
    Error,
    names::{self, Kind},
    shape,
};

/// Upstream's largest file has 20 KB.
const MAX_BYTES: u64 = 256 << 10;
/// Tokens of one statement. Bounds how deep the syntax tree can be, since the parser recurses without a limit.
const MAX_STATEMENT_TOKENS: usize = 2_000;
/// As in CPython.
const MAX_INDENTATION: usize = 100;

/// A parsed Python file.
pub(super) struct Source {
    /// Its place in the checkout, `/` between folders.
    pub(super) path: &'static str,
    /// SHA-256 of its bytes, lower-case hexadecimal.
    pub(super) sha256: String,
    text: String,
    statements: Vec<Stmt>,
}

impl Source {
    /// Reads and parses `path` below `root`.
    pub(super) fn read(root: &Path, path: &'static str) -> Result<Self, Error> {
        let unreadable = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::NotFound => Error::Missing { file: path },
            _ => Error::Unreadable { file: path, reason: error.to_string() },
        };
        let file = File::open(root.join(path)).map_err(unreadable)?;
        let mut bytes = Vec::new();
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(Error::Unreadable { file: path, reason: format!("larger than {} KiB", MAX_BYTES >> 10) });
        }
        Self::parse(path, &bytes)
    }

    /// Parses the bytes of a file.
    pub(super) fn parse(path: &'static str, bytes: &[u8]) -> Result<Self, Error> {
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let line = 1 + bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count();
            Error::Syntax { file: path, line, reason: "not UTF-8".to_owned() }
        })?;
        // As Python's tokenizer does; a file checked out with CRLF has the same strings.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n").replace('\r', "\n");
        if let Some(reason) = too_deep(&text) {
            return Err(Error::Unreadable { file: path, reason: reason.to_owned() });
        }
        let statements = parse_module(&text)
            .map_err(|error| {
                let line = 1 + text[..error.location.start().to_usize()].matches('\n').count();
                Error::Syntax { file: path, line, reason: error.error.to_string() }
            })?
            .into_suite();
        Ok(Self { path, sha256: hex::encode(Sha256::digest(bytes)), text, statements })
    }

    /// Refuses `from module import *`, which may replace any name, except from `allowed` modules.
    pub(super) fn check_star_imports(&self, allowed: &[&str]) -> Result<(), Error> {
        for statement in names::bindings(&self.statements, "*", Kind::Rebinds) {
            let module = statement.as_import_from_stmt().and_then(|import| import.module.as_deref());
            if !module.is_some_and(|module| allowed.contains(&module)) {
                return Err(self.unexpected(statement.range(), "no `import *`"));
            }
        }
        Ok(())
    }

    /// The 1-based line where `range` starts.
    pub(super) fn line(&self, range: TextRange) -> usize {
        1 + self.text[..range.start().to_usize()].matches('\n').count()
    }

    /// The first line of the text at `range`, shortened.
    pub(super) fn excerpt(&self, range: TextRange) -> String {
        shape::shorten(&self.text[range])
    }

    /// "Here stands something else."
    pub(super) fn unexpected(&self, at: TextRange, expected: impl Into<String>) -> Error {
        Error::Unexpected { file: self.path, line: self.line(at), expected: expected.into(), found: self.excerpt(at) }
    }

    /// The value of the only module-level assignment to `name`.
    pub(super) fn assigned(&self, name: &str) -> Result<&Expr, Error> {
        let expected = format!("`{name} = ...`, a plain assignment");
        // A dict may also be changed by whoever gets hold of it.
        let value = match self.binding(name, Kind::Changes, &expected)? {
            Stmt::Assign(assign) if matches!(assign.targets.as_slice(), [Expr::Name(_)]) => &assign.value,
            other => return Err(self.unexpected(other.range(), expected)),
        };
        if value.is_dict_expr() {
            self.binding(name, Kind::Passes, &expected)?;
        }
        Ok(value)
    }

    /// The only definition of the function `name` at module level.
    pub(super) fn function(&self, name: &str) -> Result<&Stmt, Error> {
        let expected = format!("`def {name}`");
        match self.binding(name, Kind::Changes, &expected)? {
            function @ Stmt::FunctionDef(_) => Ok(function),
            other => Err(self.unexpected(other.range(), expected)),
        }
    }

    /// The only definition of the class `name` at module level.
    pub(super) fn class(&self, name: &str) -> Result<&Stmt, Error> {
        let expected = format!("`class {name}`");
        match self.binding(name, Kind::Changes, &expected)? {
            class @ Stmt::ClassDef(_) => Ok(class),
            other => Err(self.unexpected(other.range(), expected)),
        }
    }

    /// The only definition of the method `name` of the class `class`.
    pub(super) fn method(&self, class: &str, name: &str) -> Result<&Stmt, Error> {
        let Stmt::ClassDef(definition) = self.class(class)? else { unreachable!("a class") };
        let defines = |statement: &&Stmt| match statement {
            Stmt::FunctionDef(function) => function.name.as_str() == name,
            other => names::changes([*other]).iter().any(|change| names::overlap(&change.path, name)),
        };
        match definition.body.iter().filter(defines).collect::<Vec<_>>().as_slice() {
            [only] => Ok(only),
            [] => Err(self.unexpected(definition.name.range(), format!("`class {class}` with `def {name}`"))),
            [.., last] => Err(self.unexpected(last.range(), format!("one definition of `{class}.{name}`"))),
        }
    }

    /// Makes sure that `name` is what `from module import name` brought.
    pub(super) fn check_import(&self, module: &str, name: &str) -> Result<(), Error> {
        let expected = format!("`from {module} import {name}`");
        match self.binding(name, Kind::Rebinds, &expected)? {
            Stmt::ImportFrom(import)
                if import.level == 0
                    && import.module.as_deref() == Some(module)
                    && import.names.iter().any(|alias| alias.name.as_str() == name && alias.asname.is_none()) =>
            {
                Ok(())
            }
            other => Err(self.unexpected(other.range(), expected)),
        }
    }

    /// Makes sure that `from module import *` in another file cannot replace `names`.
    pub(super) fn check_binds_none_of(&self, names: &[&str]) -> Result<(), Error> {
        for name in names {
            if let Some(statement) = names::bindings(&self.statements, name, Kind::Rebinds).first() {
                return Err(self.unexpected(
                    statement.range(),
                    format!("no definition of `{name}`, which another file imports from elsewhere"),
                ));
            }
        }
        Ok(())
    }

    /// The statement at module level that gives `name` its only value.
    fn binding(&self, name: &str, worst: Kind, expected: &str) -> Result<&Stmt, Error> {
        let found = names::bindings(&self.statements, name, worst);
        match found.as_slice() {
            [] => Err(Error::Absent { file: self.path, expected: expected.to_owned() }),
            [only] => Ok(only),
            [.., last] => Err(self.unexpected(last.range(), format!("no further statement that changes `{name}`"))),
        }
    }
}

/// Why the parser must not be trusted with `text`.
fn too_deep(text: &str) -> Option<&'static str> {
    let mut lexer = lexer::lex(text, Mode::Module);
    let (mut tokens, mut indentation) = (0, 0_usize);
    loop {
        match lexer.next_token() {
            TokenKind::EndOfFile => return None,
            TokenKind::Newline => tokens = 0,
            TokenKind::Indent => indentation += 1,
            TokenKind::Dedent => indentation = indentation.saturating_sub(1),
            TokenKind::Comment | TokenKind::NonLogicalNewline => {}
            _ => tokens += 1,
        }
        if tokens > MAX_STATEMENT_TOKENS {
            return Some("a statement of more than 2000 tokens");
        }
        if indentation > MAX_INDENTATION {
            return Some("more than 100 levels of indentation");
        }
    }
}
