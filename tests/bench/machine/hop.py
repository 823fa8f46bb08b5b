# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""(c) What broker and egress add to a model call: beside the same call over kept-alive HTTPS, and by nginx as a TLS-upstream
proxy. The broker is a real turn's, whose worker holds still; the caller stands beside that worker's socket."""

import json
import pathlib
import re
import socket
import ssl
import time

import rig
import sizes

ENDPOINT = ("localhost", 8443)
PROXY = "/run/bench-proxy.sock"
CA = "/etc/roundtable-sandbox/bench-ca/ca.pem"
KEY = pathlib.Path("/etc/roundtable-sandbox/keys/model")
CALLS = 900  # a turn may have 1,000
BLOCK = 10
# No worker calls again at once, and what follows an answer (its entry in the journal) is not what is measured.
PAUSE_SECONDS = 0.001


def body_of(size):
    """A request as the worker makes it: messages of a few KiB each, which is what a history is, up to that size."""
    messages = []
    left = size - len('{"messages":[]}')
    while left > 40:
        text = min(left, 4096) - len('{"role":"user","content":""},')
        messages.append({"role": "user", "content": ("a word, \u00fc and some more; " * 200)[:text // 2] + "x" * (text - text // 2 - 30)})
        left = size - len(json.dumps({"messages": messages}, separators=(",", ":"), ensure_ascii=False).encode())
    return json.dumps({"messages": messages}, separators=(",", ":"), ensure_ascii=False).encode()


def read_answer(connection):
    """One answer with a known length; the connection may be kept."""
    data = connection.recv(65536)
    while b"\r\n\r\n" not in data:
        more = connection.recv(65536)
        if not more:
            raise SystemExit("no answer")
        data += more
    head, rest = data.split(b"\r\n\r\n", 1)
    if not head.startswith(b"HTTP/1.1 200"):
        raise SystemExit(head.split(b"\r\n")[0].decode())
    length = int(re.search(rb"(?i)content-length: (\d+)", head).group(1))
    while len(rest) < length:
        rest += connection.recv(65536)


class Direct:
    """The endpoint itself, over one connection that is kept."""

    def __init__(self):
        context = ssl.create_default_context(cafile=CA)
        plain = socket.create_connection(ENDPOINT)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.connection = context.wrap_socket(plain, server_hostname="localhost")
        key = KEY.read_text(encoding="ascii").strip()
        self.head = ("POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
                     f"authorization: Bearer {key}\r\ncontent-length: %d\r\n\r\n")

    def call(self, body):
        began = time.perf_counter()
        self.connection.sendall((self.head % len(body)).encode() + body)
        read_answer(self.connection)
        return (time.perf_counter() - began) * 1000


class Local:
    """A socket on this host, one connection a call, as the broker wants it."""

    def __init__(self, path):
        self.path = path
        self.head = ("POST /model HTTP/1.1\r\nhost: broker\r\ncontent-type: application/json\r\n"
                     "content-length: %d\r\n\r\n")

    def call(self, body):
        began = time.perf_counter()
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(self.path)
            connection.sendall((self.head % len(body)).encode() + body)
            read_answer(connection)
            return (time.perf_counter() - began) * 1000


def hop(setup, report, rounds):
    report.section("(c) one model call: the endpoint directly, by nginx as a proxy, by broker and egress")
    setup.restart(1)
    setup.turn(rig.channel(0))
    setup.configure(image="bench-hold:latest", calls=1000, deadline="600s")
    turn = setup.bot.send_turn(rig.channel(0))
    rig.wait_until("the turn runs", lambda: setup.root.number("TurnsRunning") == 1 and setup.turn_dirs())
    broker = Local(str(rig.RUN / setup.turn_dirs().pop() / "broker.sock"))
    kinds = {"direct": Direct(), "nginx": Local(PROXY), "broker and egress": broker}
    rig.wait_until("the worker waits", lambda: allowed(broker))
    try:
        blocks = min(1 + rounds // 2, CALLS // (2 * BLOCK) - 1)
        for size, limit in ((1024, 0.3), (190 * 1024, 0.8)):
            measure(report, kinds, size, limit, blocks, sizes.processes())
    finally:
        for workspace in (rig.STATE / "workspaces").iterdir():
            (workspace / "go-on").touch()
    setup.bot.wait(turn)
    for workspace in (rig.STATE / "workspaces").iterdir():
        (workspace / "go-on").unlink()
    setup.configure()


def allowed(broker):
    """Before its turn has begun a broker answers 410."""
    try:
        broker.call(body_of(200))
    except (OSError, SystemExit):
        return False
    return True


def measure(report, kinds, size, limit, blocks, processes):
    """Blocks of calls, in turn: within one the caches are warm, as in a turn that calls again and again."""
    body = body_of(size)
    samples = {name: [] for name in kinds}
    ours = {name: processes["sandbox-" + name][0] for name in ("broker", "egress")}
    spent = {name: [] for name in ours}
    for _ in range(blocks):
        for name, kind in kinds.items():
            kind.call(body)
            before = {ours[name]: sizes.cpu_ms(ours[name]) for name in ours}
            for _ in range(BLOCK - 1):
                time.sleep(PAUSE_SECONDS)
                samples[name].append(kind.call(body))
            if kind is kinds["broker and egress"]:
                for name in ours:
                    spent[name].append((sizes.cpu_ms(ours[name]) - before[ours[name]]) / (BLOCK - 1))
    what = f"{size // 1024} KiB"
    base = report.row(f"{what}: direct", samples["direct"])
    rows = [report.row(f"{what}: {name}", samples[name], base=base) for name in ("nginx", "broker and egress")]
    for name, values in spent.items():
        report.row(f"{what}: processor time of the {name}", values)
    added = [row.median - base.median for row in rows]
    # One of the two is enough: so many ms, or three times what nginx adds.
    report.target(f"hop at {what}: ms over the direct call, where nginx adds {added[0]:.3f}", added[1], round(max(limit, 3 * added[0]), 3))
