# What the agent's code is run with: LangChain's Python AST tool of the version that DiscoveryBench pins, statement by
# statement. Shares one namespace with capture.py and server.py.
#
# Everything needed later is bound here, before any code of an agent runs.
import ast
import builtins
import sys

PARSE_ONLY = ast.PyCF_ONLY_AST
Module = ast.Module
unparse = ast.unparse


def sanitize(query):
    """Removes white space and back quotes from both ends, and the word `python` with the white space behind it.

    The same as the two substitutions `^(\\s|`)*(?i:python)?\\s*` and `(\\s|`)*$`, whose second takes time quadratic in
    the length of a run of blanks inside the code.
    """
    start, end = 0, len(query)
    while start < end and (query[start] == "`" or query[start].isspace()):
        start += 1
    if query[start:start + 6].lower() == "python":
        start += 6
        while start < end and query[start].isspace():
            start += 1
    while end > start and (query[end - 1] == "`" or query[end - 1].isspace()):
        end -= 1
    return query[start:end]


class Tool:
    """Keeps the two dictionaries in which the code of one agent runs: top-level names live in `locals`, functions see
    only `globals`."""

    def __init__(self, limit):
        self.limit = limit
        self.globals = {"__builtins__": vars(builtins)}
        self.locals = {}

    def observe(self, query):
        """Runs code and returns what the next prompt shows: UTF-8 bytes and the number of bytes cut out of it.

        What upstream lets escape (`SystemExit`, `KeyboardInterrupt`, a value that cannot be formatted) is shown in the
        same way as an exception, and the session goes on.
        """
        try:
            result = self.run(query)
            if type(result) is Printed:
                return result.text, result.cut
            # An f-string puts it into the prompt: `format`, not `str`.
            return limited(format(result, ""), self.limit)
        except BaseException as error:
            return limited(describe_whatever(error), self.limit)

    def run(self, query):
        """The tool's body. Only the last statement's output is caught; if evaluating it fails, it is executed again."""
        try:
            query = sanitize(query)
            tree = compile(query, "<unknown>", "exec", PARSE_ONLY)
            exec(unparse(Module(tree.body[:-1], type_ignores=[])), self.globals, self.locals)
            last = unparse(Module(tree.body[-1:], type_ignores=[]))
            stdout, printed = capture(self.limit)
            try:
                with Redirected(stdout):
                    value = eval(last, self.globals, self.locals)
                    return printed() if value is None else value
            except Exception:
                with Redirected(stdout):
                    exec(last, self.globals, self.locals)
                return printed()
        except Exception as error:
            return describe(error)


class Redirected:
    """`contextlib.redirect_stdout`, out of reach of code that changes that module."""

    def __init__(self, target):
        self.target = target

    def __enter__(self):
        self.before = sys.stdout
        sys.stdout = self.target

    def __exit__(self, kind, value, trace):
        sys.stdout = self.before


def describe(error):
    return "{}: {}".format(type(error).__name__, str(error))


def describe_whatever(error):
    """Also of an exception that cannot say what it is."""
    try:
        return describe(error)
    except BaseException:
        return "{}: ".format(type.__dict__["__name__"].__get__(type(error)))
