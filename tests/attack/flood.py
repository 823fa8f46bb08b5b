#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""A worker that spends its broker's patience instead of its rights: slow, silent, flooding, half-closing and many peers. None
holds up another connection or sandboxd, and what they cost is bounded.

    flood.py PATH-OF-SANDBOX-BROKER
"""

import os
import pathlib
import socket
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "egress"))
sys.path.insert(0, str(HERE.parent / "unit" / "broker"))
import fake_sandboxd as fake  # noqa: E402
from fake_sandboxd import Broker, read_all, status  # noqa: E402
from harness import run_tap  # noqa: E402

HEAD = b"POST /%s HTTP/1.1\r\nhost: broker\r\ncontent-length: %d\r\n\r\n"
MEMORY_MAX_KIB = 64 << 10


def started(program, **options):
    return Broker(program, **options).configure().start()


def memory(broker):
    fields = dict(line.split(":", 1) for line in pathlib.Path(f"/proc/{broker.process.pid}/status").read_text().splitlines())
    return int(fields["VmHWM"].split()[0])


def still_serves(broker):
    """A refusal, and a whole call beside whatever else there is; and sandboxd is heard."""
    with broker.connect() as sock:
        sock.sendall(HEAD % (b"none", 0))
        assert status(read_all(sock)) == 404
    with broker.connect() as sock:
        sock.sendall(HEAD % (b"model", 15) + b'{"messages":[]}')
        kind, number, _ = fake.read_frame(broker.grant)
        assert kind == fake.MODEL_CALL
        fake.send_frame(broker.grant, fake.ANSWER, number, fake.answer(b"{}"))
        assert status(read_all(sock)) == 200
    assert broker.process.poll() is None
    assert memory(broker) < MEMORY_MAX_KIB, memory(broker)


def silent_peers(program):
    with started(program) as broker:
        silent = [broker.connect() for _ in range(14)]
        still_serves(broker)
        for sock in silent:
            sock.close()


def seventeenth_peer(program):
    """It is closed without a word, and a place that becomes free is given again."""
    with started(program) as broker:
        held = [broker.connect() for _ in range(16)]
        with broker.connect() as more:
            assert read_all(more) == b""
        for sock in held[:2]:
            sock.close()
        end = time.monotonic() + 20
        while time.monotonic() < end:
            with broker.connect() as sock:
                try:
                    sock.sendall(HEAD % (b"none", 0))
                except BrokenPipeError:
                    continue
                if status(read_all(sock)) == 404:
                    break
        else:
            raise AssertionError("no place became free")
        for sock in held[2:]:
            sock.close()


def dripping_heads(program):
    with started(program) as broker:
        peers = [broker.connect() for _ in range(12)]
        for byte in HEAD % (b"model", 15):
            for sock in peers:
                sock.sendall(bytes([byte]))
        # All heads are whole now: one call at a time, so one waits for its body and the others are refused.
        codes = [status(read_all(sock)) for sock in peers[1:]]
        assert codes.count(429) == len(codes), codes
        peers[0].sendall(b'{"messages":[]}')
        kind, number, _ = fake.read_frame(broker.grant)
        assert kind == fake.MODEL_CALL
        fake.send_frame(broker.grant, fake.ANSWER, number, fake.answer(b"{}"))
        assert status(read_all(peers[0])) == 200
        still_serves(broker)


def endless_heads(program):
    """64 MiB of header lines, on each of several connections."""
    with started(program) as broker:
        for _ in range(4):
            with broker.connect() as sock:
                piece = b"a: " + b"b" * 1000 + b"\r\n"
                sent = 0
                try:
                    sock.sendall(b"POST /model HTTP/1.1\r\n")
                    while sent < 64 << 20:
                        sent += sock.send(piece)
                except (BrokenPipeError, ConnectionResetError):
                    pass
                assert sent < 4 << 20, sent  # the bound, what is thrown away behind the answer, and the socket
        still_serves(broker)


def bodies_beyond_their_length(program):
    with started(program) as broker:
        for length in (0, 15, 262144):
            with broker.connect() as sock:
                try:
                    sock.sendall(HEAD % (b"none", length) + b"x" * (8 << 20))
                except (BrokenPipeError, ConnectionResetError):
                    pass
                assert status(read_all(sock)) in (404, None)
        still_serves(broker)


def peers_that_never_read(program):
    """Answers of a megabyte that nobody takes."""
    with started(program) as broker:
        peers = []
        big = b'"' + b"x" * 1048570 + b'"'
        for _ in range(8):
            sock = socket.socket(socket.AF_UNIX)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            sock.connect(broker.path)
            sock.sendall(HEAD % (b"model", 15) + b'{"messages":[]}')
            _, number, _ = fake.read_frame(broker.grant)
            fake.send_frame(broker.grant, fake.ANSWER, number, fake.answer(big))
            peers.append(sock)
        still_serves(broker)
        for sock in peers:
            sock.close()


def half_closed_peers(program):
    """Those that only ended their sending get their answers; those that ended before a whole request cost nothing."""
    with started(program) as broker:
        for data in (b"", b"POST", HEAD % (b"model", 15), HEAD % (b"model", 15) + b"{"):
            with broker.connect() as sock:
                sock.sendall(data)
                sock.shutdown(socket.SHUT_WR)
                assert read_all(sock) == b""
        with broker.connect() as sock:
            sock.sendall(HEAD % (b"model", 15) + b'{"messages":[]}')
            sock.shutdown(socket.SHUT_WR)
            _, number, _ = fake.read_frame(broker.grant)
            fake.send_frame(broker.grant, fake.ANSWER, number, fake.answer(b"{}"))
            assert status(read_all(sock)) == 200
        still_serves(broker)


def output_without_end(program):
    """The worker's own output: more than its bounds is no reply, and the rest is thrown away without holding Docker up."""
    with started(program) as broker:
        piece = b"\2\0\0\0" + (65536).to_bytes(4, "big") + b"e" * 65536
        for _ in range(160):
            broker.stream.sendall(piece)
        kind, _, payload = broker.next(fake.REPLY, fake.NO_REPLY)
        assert kind == fake.NO_REPLY, payload
        with broker.connect() as sock:
            sock.sendall(HEAD % (b"model", 15) + b'{"messages":[]}')
            assert status(read_all(sock)) == 410
        assert broker.process.poll() is None
        assert memory(broker) < MEMORY_MAX_KIB, memory(broker)


TESTS = [silent_peers, seventeenth_peer, dripping_heads, endless_heads, bodies_beyond_their_length, peers_that_never_read,
         half_closed_peers, output_without_end]

if __name__ == "__main__":
    sys.exit(run_tap(TESTS, os.path.abspath(sys.argv[1])))
