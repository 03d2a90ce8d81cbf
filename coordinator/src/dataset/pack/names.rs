//! Which names a statement changes. Decides what may be overlooked when a file is compared with what is expected.

use rustpython_ruff_python_ast::{
    Expr, ExprContext, Stmt,
    visitor::{Visitor, walk_expr, walk_stmt},
};

/// A change of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Change {
    /// `name` or `name.attribute`, as far as it is made of plain attributes.
    pub(super) path: String,
    /// In which way.
    pub(super) kind: Kind,
}

/// Ways to change a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// It is given another value.
    Rebinds,
    /// Its value may be changed: `x[0] = 1`, `x.append(1)`.
    Changes,
    /// It is handed to a function that is not known to leave it alone. Harmless for strings and numbers.
    Passes,
}

/// Functions that leave their arguments alone.
const HARMLESS: [&str; 6] = ["print", "len", "str", "range", "isinstance", "super"];

/// Everything `statements` change, functions and classes inside included.
pub(super) fn changes<'a>(statements: impl IntoIterator<Item = &'a Stmt>) -> Vec<Change> {
    let mut collector = Collector::default();
    for statement in statements {
        collector.visit_stmt(statement);
    }
    collector.changes
}

/// The statements of a module that give `name` a value or change its value in any way up to `worst`, wherever they
/// stand. A local variable of the same name inside a function is another thing.
pub(super) fn bindings<'a>(module: &'a [Stmt], name: &str, worst: Kind) -> Vec<&'a Stmt> {
    module.iter().filter(|statement| binds(statement, name, worst)).collect()
}

/// `a` and `b` are the same place, or one contains the other.
pub(super) fn overlap(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    long.strip_prefix(short).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// `a.b.c` of an expression made of names and attributes only.
pub(super) fn path(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Name(name) => Some(name.id.to_string()),
        Expr::Attribute(attribute) => Some(format!("{}.{}", path(&attribute.value)?, attribute.attr)),
        _ => None,
    }
}

fn binds(statement: &Stmt, name: &str, worst: Kind) -> bool {
    let touches = |change: &Change| match change.kind {
        Kind::Rebinds if worst == Kind::Rebinds => change.path == name,
        kind => kind <= worst && overlap(&change.path, name),
    };
    let function_touches = |body: &[Stmt]| {
        declares_global(body, name)
            || changes(body).iter().any(|change| change.kind != Kind::Rebinds && touches(change))
    };
    match statement {
        Stmt::FunctionDef(function) => function.name.as_str() == name || function_touches(&function.body),
        Stmt::ClassDef(class) => class.name.as_str() == name || function_touches(&class.body),
        other => changes([other]).iter().any(touches),
    }
}

fn declares_global(body: &[Stmt], name: &str) -> bool {
    struct Globals<'n> {
        name: &'n str,
        found: bool,
    }
    impl<'a> Visitor<'a> for Globals<'_> {
        fn visit_stmt(&mut self, statement: &'a Stmt) {
            if let Stmt::Global(global) = statement {
                self.found |= global.names.iter().any(|name| name.as_str() == self.name);
            }
            walk_stmt(self, statement);
        }
    }
    let mut globals = Globals { name, found: false };
    globals.visit_body(body);
    globals.found
}

#[derive(Default)]
struct Collector {
    changes: Vec<Change>,
}

impl Collector {
    fn add(&mut self, path: impl Into<String>, kind: Kind) {
        self.changes.push(Change { path: path.into(), kind });
    }

    /// The value below an attribute, subscript or call is changed, or may be.
    fn touches(&mut self, expression: &Expr, kind: Kind) {
        match (path(expression), expression) {
            (Some(path), _) => self.add(path, kind),
            (None, Expr::Subscript(subscript)) => self.touches(&subscript.value, kind),
            (None, Expr::Starred(starred)) => self.touches(&starred.value, kind),
            (None, Expr::Attribute(attribute)) => self.touches(&attribute.value, kind),
            _ => {}
        }
    }
}

impl<'a> Visitor<'a> for Collector {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::FunctionDef(function) => self.add(function.name.as_str(), Kind::Rebinds),
            Stmt::ClassDef(class) => self.add(class.name.as_str(), Kind::Rebinds),
            Stmt::Import(import) => {
                for alias in &import.names {
                    let name = alias.asname.as_ref().unwrap_or(&alias.name).as_str();
                    self.add(name.split('.').next().unwrap_or(name), Kind::Rebinds);
                }
            }
            Stmt::ImportFrom(import) => {
                for alias in &import.names {
                    self.add(alias.asname.as_ref().unwrap_or(&alias.name).as_str(), Kind::Rebinds);
                }
            }
            Stmt::Try(attempt) => {
                for handler in &attempt.handlers {
                    let name = handler.as_except_handler().and_then(|handler| handler.name.as_ref());
                    if let Some(name) = name {
                        self.add(name.as_str(), Kind::Rebinds);
                    }
                }
            }
            _ => {}
        }
        walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        match expression {
            Expr::Name(name) if name.ctx != ExprContext::Load => self.add(name.id.as_str(), Kind::Rebinds),
            Expr::Attribute(attribute) if attribute.ctx != ExprContext::Load => match path(expression) {
                Some(path) => self.add(path, Kind::Rebinds),
                None => self.touches(&attribute.value, Kind::Changes),
            },
            Expr::Subscript(subscript) if subscript.ctx != ExprContext::Load => {
                self.touches(&subscript.value, Kind::Changes)
            }
            Expr::Call(call) => {
                if let Expr::Attribute(method) = &*call.func {
                    self.touches(&method.value, Kind::Changes);
                }
                let harmless = matches!(&*call.func, Expr::Name(name) if HARMLESS.contains(&name.id.as_str()));
                if !harmless {
                    // `**x` makes a new dict.
                    let named = call.arguments.keywords.iter().filter(|keyword| keyword.arg.is_some());
                    for argument in call.arguments.args.iter().chain(named.map(|keyword| &keyword.value)) {
                        self.touches(argument, Kind::Passes);
                    }
                }
            }
            _ => {}
        }
        walk_expr(self, expression);
    }
}

#[cfg(test)]
mod tests {
    use rustpython_ruff_python_parser::parse_module;

    use super::*;

    fn changed(code: &str) -> String {
        let module = parse_module(code).unwrap().into_suite();
        let changes = changes(&module);
        let sign = |kind| match kind {
            Kind::Rebinds => '=',
            Kind::Changes => '~',
            Kind::Passes => '?',
        };
        changes.iter().map(|change| format!("{}{} ", change.path, sign(change.kind))).collect()
    }

    #[test]
    fn what_counts_as_a_change() {
        let cases = [
            ("a = b", "a= "),
            ("a += b", "a= "),
            ("a.b = 1", "a.b= "),
            ("a[0] = 1", "a~ "),
            ("a[0].b = 1", "a~ "),
            ("del a", "a= "),
            ("a.b.append(c)", "a.b~ c? "),
            ("a.b[0].strip()", "a.b~ "),
            ("f(a, b=c.d, **e)", "a? c.d? "),
            ("print(a, b)", ""),
            ("print(a.pop())", "a~ "),
            ("for a in b: pass", "a= "),
            ("with b as a: pass", "a= "),
            ("(a := 1)", "a= "),
            ("import a.b, c as d\nfrom e import f as g", "a= d= g= "),
            ("try: pass\nexcept E as a: pass", "a= "),
            ("def a(): b = 1", "a= b= "),
        ];
        for (code, expected) in cases {
            assert_eq!(changed(code), expected, "{code}");
        }
    }

    #[test]
    fn paths_overlap_when_one_contains_the_other() {
        assert!(overlap("a.b", "a") && overlap("a", "a.b.c") && overlap("a", "a"));
        assert!(!overlap("a.b", "a.c") && !overlap("ab", "a"));
    }

    #[test]
    fn local_variables_are_not_module_level() {
        let code =
            "x = 1\ndef f():\n    x = 2\ndef g():\n    global x\n    x = 3\ndef h():\n    x['a'] = 4\nx.update(b)\n";
        let module = parse_module(code).unwrap().into_suite();
        assert_eq!(bindings(&module, "x", Kind::Rebinds).len(), 2);
        assert_eq!(bindings(&module, "x", Kind::Changes).len(), 4);
        assert_eq!(bindings(&module, "b", Kind::Changes).len(), 0);
        assert_eq!(bindings(&module, "b", Kind::Passes).len(), 1);
    }
}
