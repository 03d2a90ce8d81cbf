//! Comparing expressions.

use rustpython_ruff_python_ast::{Arguments, Comprehension, Expr, comparable::ComparableExpr};
use rustpython_ruff_text_size::{Ranged as _, TextRange};

use super::{Matched, Matcher, hole};

impl<'s> Matcher<'_, 's> {
    /// Compares one expression.
    pub(super) fn expression(&mut self, pattern: &Expr, source: &'s Expr) -> Matched {
        if let Expr::Name(name) = pattern
            && let Some((kind, _)) = hole(name.id.as_str())
        {
            return self.fill(kind, name.id.as_str(), name.range, source);
        }
        match (pattern, source) {
            (Expr::Attribute(pattern), Expr::Attribute(source)) if pattern.attr.id == source.attr.id => {
                self.expression(&pattern.value, &source.value)
            }
            (Expr::Subscript(pattern), Expr::Subscript(source)) => {
                self.expression(&pattern.value, &source.value)?;
                self.expression(&pattern.slice, &source.slice)
            }
            (Expr::Call(pattern), Expr::Call(source)) => {
                self.expression(&pattern.func, &source.func)?;
                self.arguments(&pattern.arguments, &source.arguments)
            }
            (Expr::BinOp(pattern), Expr::BinOp(source)) if pattern.op == source.op => {
                self.expression(&pattern.left, &source.left)?;
                self.expression(&pattern.right, &source.right)
            }
            (Expr::Compare(pattern), Expr::Compare(source)) if pattern.ops == source.ops => {
                self.expression(&pattern.left, &source.left)?;
                self.all(&pattern.comparators, &source.comparators, pattern.range, source.range)
            }
            (Expr::If(pattern), Expr::If(source)) => {
                self.expression(&pattern.test, &source.test)?;
                self.expression(&pattern.body, &source.body)?;
                self.expression(&pattern.orelse, &source.orelse)
            }
            (Expr::List(pattern), Expr::List(source)) => {
                self.all(&pattern.elts, &source.elts, pattern.range, source.range)
            }
            (Expr::Tuple(pattern), Expr::Tuple(source)) => {
                self.all(&pattern.elts, &source.elts, pattern.range, source.range)
            }
            (Expr::Dict(pattern), Expr::Dict(source)) if pattern.items.len() == source.items.len() => {
                for (expected, found) in pattern.items.iter().zip(&source.items) {
                    match (&expected.key, &found.key) {
                        (Some(key), Some(found)) => self.expression(key, found)?,
                        (None, None) => {}
                        _ => return self.differs(pattern.range, source.range),
                    }
                    self.expression(&expected.value, &found.value)?;
                }
                Ok(())
            }
            (Expr::ListComp(pattern), Expr::ListComp(source))
                if pattern.generators.len() == source.generators.len() =>
            {
                for (pattern, source) in pattern.generators.iter().zip(&source.generators) {
                    self.comprehension(pattern, source)?;
                }
                self.expression(&pattern.elt, &source.elt)
            }
            _ if ComparableExpr::from(pattern) == ComparableExpr::from(source) => {
                self.progress += 1;
                Ok(())
            }
            _ => self.differs(pattern.range(), source.range()),
        }
    }

    /// Compares a call's arguments; keywords by name, in any order.
    pub(super) fn arguments(&mut self, pattern: &Arguments, source: &'s Arguments) -> Matched {
        self.all(&pattern.args, &source.args, pattern.range, source.range)?;
        if pattern.keywords.len() != source.keywords.len() {
            return self.differs(pattern.range, source.range);
        }
        for expected in &pattern.keywords {
            let name = |keyword: Option<&str>| keyword.map(ToOwned::to_owned);
            let wanted = name(expected.arg.as_deref());
            match source.keywords.iter().find(|found| name(found.arg.as_deref()) == wanted) {
                Some(found) => self.expression(&expected.value, &found.value)?,
                None => return self.differs(expected.range, source.range),
            }
        }
        Ok(())
    }

    /// Compares two identifiers that are no expressions.
    pub(super) fn identifier(&mut self, expected: &str, found: &str, pattern: TextRange, at: TextRange) -> Matched {
        if expected == found {
            self.progress += 1;
            return Ok(());
        }
        self.differs(pattern, at)
    }

    fn all(&mut self, pattern: &[Expr], source: &'s [Expr], whole: TextRange, at: TextRange) -> Matched {
        if pattern.len() != source.len() {
            return self.differs(whole, at);
        }
        pattern.iter().zip(source).try_for_each(|(pattern, source)| self.expression(pattern, source))
    }

    fn comprehension(&mut self, pattern: &Comprehension, source: &'s Comprehension) -> Matched {
        if !pattern.ifs.is_empty() || !source.ifs.is_empty() || source.is_async {
            return self.differs(pattern.range, source.range);
        }
        self.expression(&pattern.iter, &source.iter)?;
        self.expression(&pattern.target, &source.target)
    }

    /// Lets a hole stand for `source`.
    fn fill(&mut self, kind: &str, name: &str, pattern: TextRange, source: &'s Expr) -> Matched {
        let fits = match kind {
            "TEXT" => source.is_string_literal_expr(),
            "FORMAT" => source.is_f_string_expr(),
            "NUMBER" => source.is_number_literal_expr(),
            "NAME" => source.is_name_expr(),
            _ => true,
        };
        if !fits {
            return self.differs(pattern, source.range());
        }
        if let Expr::Name(found) = source
            && kind == "NAME"
        {
            // One hole, one name; and two holes are never the same name.
            let taken =
                self.captures.names.iter().find(|(hole, bound)| (*hole == name) != (*bound == found.id.as_str()));
            if taken.is_some() {
                return self.differs(pattern, source.range());
            }
            self.captures.names.insert(name.to_owned(), found.id.to_string());
        } else if let Some(before) = self.captures.expressions.insert(name.to_owned(), source)
            && ComparableExpr::from(before) != ComparableExpr::from(source)
        {
            return self.differs(pattern, source.range());
        }
        self.progress += 1;
        Ok(())
    }
}
