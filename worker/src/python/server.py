# The conversation with the worker: a frame with code comes in, a frame with the observation goes out. Shares one
# namespace with repl.py and capture.py.
#
# A frame is a tag of 16 bytes, the length of the payload in 4 bytes (big endian), and the payload. The worker makes up
# a new tag for every request and takes nothing for the answer that does not begin with it.
import _signal
import fcntl
import json
import os
import resource
import select
import sys
import time

TAG_BYTES = 16
# The exit code where the connection cannot be used any more; the worker knows it.
LOST = 71
# Where code that closes or writes to a row of small numbers does not meet the connection.
HIGH_DESCRIPTORS = (1000, 240, 60)
PACKAGES = ("pandas", "numpy", "scipy", "scikit-learn", "statsmodels", "sympy", "matplotlib", "seaborn")

# Bound before any code of an agent runs: changing `os` or `sys` later does not reach the conversation.
read, write, end_process, kill_group = os.read, os.write, os._exit, os.killpg
process_id, group_id = os.getpid, os.getpgrp
control, set_flags, asynchronous = fcntl.fcntl, fcntl.F_SETFL, os.O_ASYNC
signal_mask, BLOCK, SET = _signal.pthread_sigmask, _signal.SIG_BLOCK, _signal.SIG_SETMASK
SIGKILL = int(_signal.SIGKILL)
ALL_SIGNALS = frozenset(_signal.valid_signals())
now = time.perf_counter_ns


def prepare(descriptor, start):
    """Returns the function that talks until the worker says that it is enough; then the interpreter ends as after any
    script."""
    settle(start["workspace"])
    tool = Tool(start["limit"])
    talk = conversation(move_up(descriptor), bytes.fromhex(start["tag"]))

    def serve():
        # The connection and the tags live in the frame of a generator that is suspended while the agent's code runs,
        # not in a frame below that code.
        home = process_id()
        query = next(talk)
        while query is not None:
            answer = observe_with_signals(tool, query)
            if process_id() != home:
                # A copy of the server that the code made with `os.fork`. It must not answer a second time.
                end_process(0)
            query = talk.send(answer)

    return serve


def move_up(descriptor):
    for least in HIGH_DESCRIPTORS:
        try:
            higher = control(descriptor, fcntl.F_DUPFD_CLOEXEC, least)
        except OSError:
            continue
        os.close(descriptor)
        return higher
    return descriptor


def settle(workspace):
    # A crash must not fill the workspace with a core dump.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        # When memory runs out, this process is to go, not the worker.
        with open("/proc/self/oom_score_adj", "w") as score:
            score.write("800")
    except OSError:
        pass
    # It brought the packages that the worker's user has installed; what the agent installs goes to the workspace.
    os.environ.pop("PYTHONUSERBASE", None)
    os.chdir(workspace)
    # As in a script or a prompt of its own: a module that the agent writes to its folder can be imported.
    sys.path.insert(0, "")


def conversation(descriptor, tag):
    """Yields the code of each request, is sent the answer to it, and yields `None` when there is nothing more to do."""
    receive, send = wire(descriptor)
    watch, unwatch = watchdog(descriptor)
    send(tag, json.dumps({"packages": packages()}).encode("utf-8"))
    while True:
        header = receive(TAG_BYTES + 4)
        tag, size = header[:TAG_BYTES], int.from_bytes(header[TAG_BYTES:], "big")
        if not size:
            break
        query = receive(size)[1:].decode("utf-8")
        began = now()
        watch()
        text, cut = yield query
        unwatch()
        send(tag, (now() - began).to_bytes(8, "big") + cut.to_bytes(8, "big") + text)
    yield None


def wire(descriptor):
    """The two directions of the connection."""

    def receive(count):
        data = bytearray()
        while len(data) < count:
            try:
                part = read(descriptor, count - len(data))
            except OSError:
                end_process(LOST)
            if not part:
                worker_gone()
            data += part
        return bytes(data)

    def send(tag, payload):
        data = memoryview(tag + len(payload).to_bytes(4, "big") + payload)
        while data:
            try:
                data = data[write(descriptor, data):]
            except OSError:
                end_process(LOST)

    return receive, send


def watchdog(descriptor):
    """If the worker dies while code runs, the kernel kills the group: that needs no thread of this process and works
    even while a loop in C holds the interpreter. Nothing else happens on the connection in that time."""
    home = process_id()
    flags = control(descriptor, fcntl.F_GETFL)
    poll = select.poll()
    poll.register(descriptor, select.POLLIN | select.POLLHUP)
    happened = poll.poll
    try:
        control(descriptor, fcntl.F_SETOWN, -home)
        control(descriptor, fcntl.F_SETSIG, SIGKILL)
    except OSError:
        asynchronously = flags
    else:
        asynchronously = flags | asynchronous

    def watch():
        control(descriptor, set_flags, asynchronously)
        if happened(0):
            worker_gone()

    def unwatch():
        try:
            control(descriptor, set_flags, flags)
        except OSError:
            end_process(LOST)

    return watch, unwatch


def worker_gone():
    """What the code left running in the background has nobody to work for any more either."""
    if group_id() == process_id():
        kill_group(group_id(), SIGKILL)
    end_process(LOST)


def observe_with_signals(tool, query):
    """While the server itself works, signals wait, so that no handler of the agent can interrupt a reply. One that came
    in meanwhile is handled before the code runs, and what its handler raises belongs to nobody.

    Between the code and the moment when signals wait again a handler may raise anywhere. So this goes on from where it
    was, two handlers deep, and never runs the code twice.
    """
    phase, answer, trouble = "release", None, None

    def advance():
        nonlocal phase, answer
        if phase == "release":
            signal_mask(SET, masks[0])
            phase = "run"
        if phase == "run":
            phase = "flush"
            answer = tool.observe(query)
        if phase == "flush":
            for flush in flushes:
                try:
                    flush()
                except BaseException:
                    pass
            phase = "remember"
        if phase == "remember":
            masks[0] = signal_mask(BLOCK, ())
            phase = "hold"
        signal_mask(BLOCK, ALL_SIGNALS)

    while phase != "done":
        try:
            while phase != "done":
                try:
                    advance()
                    phase = "done"
                except BaseException as error:
                    trouble = error
        except BaseException as error:
            trouble = error
    return limited(describe_whatever(trouble), tool.limit) if answer is None else answer


# The agent's own signal mask while the server works.
masks = [()]
# What went to the real stdout and stderr is handed on after every execution.
flushes = [stream.flush for stream in (sys.stdout, sys.stderr) if stream is not None]


def packages():
    """The versions of the benchmark's packages, read off the names of their metadata folders: `importlib.metadata`
    would take longer to import than Python takes to start."""
    found = {}
    for folder in sys.path:
        try:
            names = os.listdir(folder or ".")
        except OSError:
            continue
        for name in names:
            stem, _, kind = name.rpartition(".")
            package, _, version = stem.partition("-")
            package = package.lower().replace("_", "-")
            if kind in ("dist-info", "egg-info") and package in PACKAGES:
                found.setdefault(package, version.partition("-")[0])
    return found
