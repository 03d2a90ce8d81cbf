# Given to the interpreter with `-c`. It connects to the worker, says which Python it is, and runs the program that
# the worker sends back. Any Python can read this file, also one that is too old: the worker then refuses it by name.
import sys

# The server's own imports come from the interpreter alone, never from the folder it was started in.
sys.path[:] = [entry for entry in sys.path if entry]

import json
import os
import socket
import struct


def boot():
    try:
        # A session without a terminal, and a process group that can be killed as a whole.
        os.setsid()
    except OSError:
        pass  # It leads one already.
    link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    link.connect("socket")
    version = "%d.%d.%d" % tuple(sys.version_info[:3])
    hello = json.dumps({"version": version, "executable": sys.executable}).encode("ascii")
    tag = b"argosy-python-01"
    link.sendall(tag + struct.pack(">I", len(hello)) + hello)

    def receive(count):
        data = b""
        while len(data) < count:
            part = link.recv(count - len(data))
            if not part:
                sys.exit("the worker closed the connection")
            data += part
        return data

    size = struct.unpack(">I", receive(len(tag) + 4)[len(tag):])[0]
    program = json.loads(receive(size).decode("utf-8"))
    # The server keeps a copy of the builtins: what the agent's code does to the real ones does not reach it.
    scope = {"__name__": "server", "__builtins__": dict(vars(__import__("builtins")))}
    for name, source in program["sources"]:
        exec(compile(source, name, "exec"), scope)
    return scope["prepare"](link.detach(), program)


# What comes back is called from here, so that no frame below the agent's code knows the connection.
boot()()
