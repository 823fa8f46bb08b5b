# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""sandboxd's end of a broker's control socket, for tests: starts the real program and speaks frames with it."""

import os
import socket
import struct
import subprocess
import tempfile

CONFIG, START, TOOL_RESULT = 0x0101, 0x0102, 0x0103
READY, TOOL_CALL, TOOL_CANCEL, REPLY, NO_REPLY, AUDIT = range(0x0201, 0x0207)
MODEL_CALL, MCP_CALL, CALL_CANCEL, ANSWER = 0x0311, 0x0312, 0x0313, 0x0411

FAILURES = {0: "none", 6: "egress-down", 15: "budget-spent", 16: "deadline", 17: "cancelled", 18: "worker-failed",
            21: "reply-invalid", 22: "reply-too-large", 28: "tool-failed", 31: "rules", 32: "internal"}


def text(value):
    data = value if isinstance(value, bytes) else value.encode()
    return struct.pack(">I", len(data)) + data


def texts(values):
    return struct.pack(">I", len(values)) + b"".join(text(v) for v in values)


class Unpack:
    def __init__(self, data):
        self.data, self.place = data, 0

    def number(self, kind):
        value, = struct.unpack_from(">" + kind, self.data, self.place)
        self.place += struct.calcsize(kind)
        return value

    def bytes(self):
        size = self.number("I")
        value = self.data[self.place:self.place + size]
        self.place += size
        return value


def frame(kind, number=0, payload=b""):
    return b"SBX1" + struct.pack(">HHII", kind, 0, number, len(payload)) + payload


def send_frame(sock, kind, number=0, payload=b"", fds=()):
    data = frame(kind, number, payload)
    if fds:
        sent = socket.send_fds(sock, [data], fds)
        data = data[sent:]
    if data:
        sock.sendall(data)


def read_exactly(sock, size):
    data = b""
    while len(data) < size:
        more = sock.recv(size - len(data))
        if not more:
            raise EOFError("the peer closed")
        data += more
    return data


def read_frame(sock):
    """(type, id, payload); EOFError at the end."""
    head = read_exactly(sock, 16)
    assert head[:4] == b"SBX1", head
    kind, zero, number, size = struct.unpack(">HHII", head[4:])
    assert zero == 0
    return kind, number, read_exactly(sock, size)


def config(budget=48, newline=False, tools=("clock",), servers=(("docs", ("search",)),), kept=()):
    out = struct.pack(">IB", budget, int(newline)) + texts(tools) + texts(kept) + struct.pack(">I", len(servers))
    for name, names in servers:
        out += text(name) + texts(names)
    return out


def answer(body=None, failure=0, status=200, retry=0, prompt=0, completion=0):
    head = struct.pack(">BHIII", failure, status, retry, prompt, completion)
    return head if failure else head + text(body or b"")


def audit(payload):
    data = Unpack(payload)
    entry = {"route": data.number("B"), "name": data.bytes().decode(), "status": data.number("H")}
    entry["failure"] = data.number("B")
    for name, kind in (("upstream_status", "H"), ("request_bytes", "I"), ("answer_bytes", "I"), ("duration_msec", "I"),
                       ("prompt_tokens", "I"), ("completion_tokens", "I"), ("omitted", "I")):
        entry[name] = data.number(kind)
    assert data.place == len(payload), "an audit entry has more than is known of it"
    return entry


def read_all(sock):
    """All that a broker answers, to the end of the connection."""
    data = b""
    while True:
        try:
            more = sock.recv(65536)
        except ConnectionResetError:
            return data
        if not more:
            return data
        data += more


def status(data):
    """Of an answer; None where there is none."""
    return int(data.split(b" ")[1]) if data else None


class Broker:
    """A broker that was started; closed, with all it holds, at the end of a `with`."""

    def __init__(self, program, arguments=(), **options):
        self.options = options
        self.directory = tempfile.TemporaryDirectory(prefix="sbx-")
        self.path = os.path.join(self.directory.name, "broker.sock")
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(self.path)
        listener.listen(64)
        self.control, theirs = socket.socketpair()
        self.control.settimeout(20)
        # Beyond the standard streams and what the program asks for, an inherited descriptor shows whether it closes them.
        self.process = subprocess.Popen(
            [program, "--listen-fd=%d" % listener.fileno(), "--control-fd=%d" % theirs.fileno(), *arguments],
            pass_fds=(listener.fileno(), theirs.fileno()), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        listener.close()
        theirs.close()
        self.grant = self.stream = None

    def configure(self):
        send_frame(self.control, CONFIG, 0, config(**self.options))
        assert read_frame(self.control)[0] == READY
        return self

    def start(self, deadline_msec=60000):
        self.grant, grant = socket.socketpair()
        self.stream, stream = socket.socketpair()
        for ours in (self.grant, self.stream):
            ours.settimeout(20)
        send_frame(self.control, START, 0, struct.pack(">I", deadline_msec), (grant.fileno(), stream.fileno()))
        grant.close()
        stream.close()
        return self

    def next(self, *kinds):
        """The next frame of one of these kinds; audit entries between are left out unless they are asked for."""
        while True:
            got = read_frame(self.control)
            if got[0] in kinds:
                return got
            assert got[0] == AUDIT, got

    def connect(self):
        sock = socket.socket(socket.AF_UNIX)
        sock.settimeout(20)
        sock.connect(self.path)
        return sock

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for sock in (self.control, self.grant, self.stream):
            if sock is not None:
                sock.close()
        self.process.wait(10)
        self.process.stderr.close()
        self.directory.cleanup()
