//! Comparing statements.

use rustpython_ruff_python_ast::{
    Decorator, ElifElseClause, ExceptHandler, Expr, Parameters, Stmt,
    comparable::ComparableStmt,
    visitor::{Visitor, walk_stmt},
};
use rustpython_ruff_text_size::{Ranged as _, TextRange};

use super::{Matched, Matcher, Mismatch, describe};

impl<'s> Matcher<'_, 's> {
    /// Compares one statement.
    pub(super) fn statement(&mut self, pattern: &Stmt, source: &'s Stmt) -> Matched {
        match (pattern, source) {
            (Stmt::FunctionDef(pattern), Stmt::FunctionDef(source)) => {
                self.identifier(pattern.name.as_str(), source.name.as_str(), pattern.range, source.range)?;
                self.decorators(&pattern.decorator_list, &source.decorator_list, source.name.range())?;
                if source.is_async {
                    return Err(self.mismatch(source.range, "a function that is not async"));
                }
                self.parameters(&pattern.parameters, &source.parameters)?;
                self.body(&pattern.body, &source.body, source.range)
            }
            (Stmt::ClassDef(pattern), Stmt::ClassDef(source)) => {
                self.identifier(pattern.name.as_str(), source.name.as_str(), pattern.range, source.range)?;
                self.decorators(&pattern.decorator_list, &source.decorator_list, source.name.range())?;
                match (&pattern.arguments, &source.arguments) {
                    (Some(pattern), Some(source)) => self.arguments(pattern, source)?,
                    (None, None) => {}
                    _ => return self.differs(pattern.range, source.range),
                }
                self.body(&pattern.body, &source.body, source.range)
            }
            (Stmt::Assign(pattern), Stmt::Assign(source)) if pattern.targets.len() == source.targets.len() => self
                .whole(pattern.range, |this| {
                    for (pattern, target) in pattern.targets.iter().zip(&source.targets) {
                        this.expression(pattern, target)?;
                    }
                    this.expression(&pattern.value, &source.value)
                }),
            (Stmt::AugAssign(pattern), Stmt::AugAssign(source)) if pattern.op == source.op => {
                self.whole(pattern.range, |this| {
                    this.expression(&pattern.target, &source.target)?;
                    this.expression(&pattern.value, &source.value)
                })
            }
            (Stmt::For(pattern), Stmt::For(source)) if !source.is_async => {
                self.whole(pattern.range, |this| {
                    this.expression(&pattern.iter, &source.iter)?;
                    this.expression(&pattern.target, &source.target)
                })?;
                self.body(&pattern.body, &source.body, source.range)?;
                self.body(&pattern.orelse, &source.orelse, source.range)
            }
            (Stmt::While(pattern), Stmt::While(source)) => {
                self.whole(pattern.range, |this| this.expression(&pattern.test, &source.test))?;
                self.body(&pattern.body, &source.body, source.range)?;
                self.body(&pattern.orelse, &source.orelse, source.range)
            }
            (Stmt::If(pattern), Stmt::If(source)) => {
                self.whole(pattern.range, |this| this.expression(&pattern.test, &source.test))?;
                self.body(&pattern.body, &source.body, source.range)?;
                self.clauses(&pattern.elif_else_clauses, &source.elif_else_clauses, source.range)
            }
            (Stmt::Try(pattern), Stmt::Try(source)) if pattern.handlers.len() == source.handlers.len() => {
                self.body(&pattern.body, &source.body, source.range)?;
                for (pattern, source) in pattern.handlers.iter().zip(&source.handlers) {
                    self.handler(pattern, source)?;
                }
                self.body(&pattern.orelse, &source.orelse, source.range)?;
                self.body(&pattern.finalbody, &source.finalbody, source.range)
            }
            (Stmt::Return(pattern), Stmt::Return(source)) => match (&pattern.value, &source.value) {
                (Some(value), Some(found)) => self.whole(pattern.range, |this| this.expression(value, found)),
                (None, None) => Ok(()),
                _ => self.differs(pattern.range, source.range),
            },
            (Stmt::Expr(pattern), Stmt::Expr(source)) => {
                self.whole(pattern.range, |this| this.expression(&pattern.value, &source.value))
            }
            (pattern, source) if ComparableStmt::from(pattern) == ComparableStmt::from(source) => {
                self.progress += 1;
                Ok(())
            }
            _ => self.differs(pattern.range(), source.range()),
        }
    }

    /// Compares a run of statements; `around` is what they stand in.
    pub(super) fn body(&mut self, pattern: &[Stmt], source: &'s [Stmt], around: TextRange) -> Matched {
        let mut rest = source;
        let mut anything = false;
        for expected in pattern {
            if is_ellipsis(expected) {
                anything = true;
            } else {
                rest = self.next(expected, rest, anything, around)?;
                anything = false;
            }
        }
        for statement in rest {
            if !(anything || is_talk(statement)) {
                return Err(self.mismatch(statement.range(), "the end of this block"));
            }
            self.overlook(statement)?;
        }
        Ok(())
    }

    /// Finds `expected` at the head of `source`, or after statements that may be overlooked; returns what follows.
    fn next(
        &mut self,
        expected: &Stmt,
        source: &'s [Stmt],
        anything: bool,
        around: TextRange,
    ) -> Result<&'s [Stmt], Mismatch> {
        let mut nearest: Option<Mismatch> = None;
        for (index, statement) in source.iter().enumerate() {
            let before = (self.captures.clone(), self.progress);
            let Err(mismatch) = self.statement(expected, statement) else {
                return Ok(&source[index + 1..]);
            };
            let advanced = mismatch.progress > before.1;
            (self.captures, self.progress) = before;
            // Without `...` only talk was passed over: what follows it is what was meant.
            if !anything || nearest.as_ref().is_none_or(|nearest| nearest.progress < mismatch.progress) {
                nearest = Some(mismatch);
            }
            if !(anything || is_talk(statement)) {
                break;
            }
            if let Err(conflict) = self.overlook(statement) {
                return Err(nearest.filter(|_| advanced).unwrap_or(conflict));
            }
        }
        Err(nearest.unwrap_or_else(|| {
            let expected = describe(&self.shape.text[expected.range()]);
            self.mismatch(around, format!("`{expected}` in this block"))
        }))
    }

    /// Passes over a statement that the shape does not mention, if it is as harmless as that.
    fn overlook(&self, statement: &Stmt) -> Matched {
        if let Some(path) = self.conflict(statement) {
            return Err(self.mismatch(statement.range(), format!("no further statement that may change `{path}`")));
        }
        if leaves(statement) {
            return Err(self.mismatch(statement.range(), "no further statement that leaves the function or loop"));
        }
        Ok(())
    }

    fn clauses(&mut self, pattern: &[ElifElseClause], source: &'s [ElifElseClause], around: TextRange) -> Matched {
        for (index, expected) in pattern.iter().enumerate() {
            let Some(found) = source.get(index) else { return self.differs(expected.range, around) };
            match (&expected.test, &found.test) {
                (Some(test), Some(found_test)) => {
                    self.whole(expected.range, |this| this.expression(test, found_test))?;
                }
                (None, None) => {}
                _ => return self.differs(expected.range, found.range),
            }
            self.body(&expected.body, &found.body, found.range)?;
        }
        match source.get(pattern.len()) {
            None => Ok(()),
            Some(extra) => Err(self.mismatch(extra.range, "no further branch")),
        }
    }

    fn handler(&mut self, pattern: &ExceptHandler, source: &'s ExceptHandler) -> Matched {
        let (ExceptHandler::ExceptHandler(pattern), ExceptHandler::ExceptHandler(source)) = (pattern, source);
        match (&pattern.type_, &source.type_) {
            (Some(kind), Some(found)) => self.expression(kind, found)?,
            (None, None) => {}
            _ => return self.differs(pattern.range, source.range),
        }
        // `except ... as name` is allowed to name what nothing here depends on.
        match source.name.as_ref().filter(|name| self.mentions(name.as_str())) {
            None => self.body(&pattern.body, &source.body, source.range),
            Some(name) => Err(self.mismatch(name.range, format!("another name than `{name}`"))),
        }
    }

    fn decorators(&mut self, pattern: &[Decorator], source: &'s [Decorator], at: TextRange) -> Matched {
        if pattern.len() != source.len() {
            let at = source.first().map_or(at, |decorator| decorator.range);
            return Err(self.mismatch(at, format!("{} decorators", pattern.len())));
        }
        for (pattern, source) in pattern.iter().zip(source) {
            self.expression(&pattern.expression, &source.expression)?;
        }
        Ok(())
    }

    /// Names and defaults; annotations decide nothing. `*_` in the pattern allows others beside the named ones.
    fn parameters(&mut self, pattern: &Parameters, source: &'s Parameters) -> Matched {
        let some = pattern.vararg.as_ref().is_some_and(|vararg| vararg.name.as_str() == "_");
        let found: Vec<_> = source.iter_non_variadic_params().collect();
        let expected: Vec<_> = pattern.iter_non_variadic_params().collect();
        let kwarg = |parameters: &Parameters| parameters.kwarg.as_ref().map(|kwarg| kwarg.name.to_string());
        if !some && (expected.len() != found.len() || source.vararg.is_some() || kwarg(pattern) != kwarg(source)) {
            return self.differs(pattern.range, source.range);
        }
        for (index, expected) in expected.into_iter().enumerate() {
            let name = expected.parameter.name.as_str();
            let found = if some {
                found.iter().find(|found| found.parameter.name.as_str() == name)
            } else {
                found.get(index).filter(|found| found.parameter.name.as_str() == name)
            };
            match (found, &expected.default) {
                (None, _) => return Err(self.mismatch(source.range, format!("a parameter `{name}`"))),
                (Some(found), None) if found.default.is_none() => {}
                (Some(found), Some(default)) if found.default.is_some() => {
                    let value: &Expr = found.default.as_deref().expect("just seen");
                    self.whole(expected.range, |this| this.expression(default, value))?;
                }
                (Some(found), _) => return self.differs(expected.range, found.range),
            }
        }
        Ok(())
    }

    /// Runs a comparison and, where it fails, speaks of the whole statement instead of the small piece; the place
    /// stays that of the piece.
    fn whole(&mut self, pattern: TextRange, compare: impl FnOnce(&mut Self) -> Matched) -> Matched {
        compare(self)
            .map_err(|mismatch| Mismatch { expected: format!("`{}`", describe(&self.shape.text[pattern])), ..mismatch })
    }
}

fn is_ellipsis(statement: &Stmt) -> bool {
    matches!(statement, Stmt::Expr(statement) if statement.value.is_ellipsis_literal_expr())
}

/// A docstring or a `print`.
fn is_talk(statement: &Stmt) -> bool {
    let Stmt::Expr(statement) = statement else { return false };
    match &*statement.value {
        Expr::StringLiteral(_) => true,
        Expr::Call(call) => matches!(&*call.func, Expr::Name(name) if name.id.as_str() == "print"),
        _ => false,
    }
}

/// Whether control may leave the surrounding block through `statement`.
fn leaves(statement: &Stmt) -> bool {
    struct Exits(bool);
    impl<'a> Visitor<'a> for Exits {
        fn visit_stmt(&mut self, statement: &'a Stmt) {
            match statement {
                Stmt::Return(_) | Stmt::Break(_) | Stmt::Continue(_) => self.0 = true,
                Stmt::FunctionDef(_) | Stmt::ClassDef(_) => {}
                other => walk_stmt(self, other),
            }
        }
    }
    let mut exits = Exits(false);
    exits.visit_stmt(statement);
    exits.0
}
