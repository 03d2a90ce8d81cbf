"""Plays programs as DiscoveryBench's Python tool does: `[{"folder", "executions", "programs"}]` in, observations out.

Written apart from the worker's own server, so that the demo's programs are held against two implementations: of a
program only the last statement's output or value comes back, and names live in a scope that inner scopes do not see.
"""

import ast
import contextlib
import io
import json
import os
import sys


def observe(code, outer, names):
    try:
        tree = ast.parse(code)
        last = ast.unparse(tree.body.pop())
        with contextlib.redirect_stdout(io.StringIO()):
            exec(ast.unparse(tree), outer, names)
        shown = io.StringIO()
        with contextlib.redirect_stdout(shown):
            try:
                value = eval(last, outer, names)
            except Exception:
                exec(last, outer, names)
                value = None
        return shown.getvalue() if value is None else format(value)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def main():
    observations = []
    for run in json.load(sys.stdin):
        os.chdir(run["folder"])
        outer, names = {}, {}
        programs = run["programs"]
        allowed = len(programs) if run["executions"] is None else run["executions"]
        observations.append([observe(code, outer, names) for code in programs[:allowed]])
    json.dump(observations, sys.stdout)


main()
