#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""Whatever head our reader accepts, an independent reader takes apart alike: Python's http.server.

    test-head-differential.py PRINT-HEADS VECTORS

The requests are the vectors' own, and seeded changes of them by the tokens on which HTTP readers disagree.
"""

import base64
import http.server
import io
import json
import random
import subprocess
import sys

SEED = 20260101
CHANGED = 30000
TOKENS = [b"\r", b"\n", b"\r\n", b"\r\n\r\n", b"\0", b"\t", b" ", b":", b"  ", b"\x0b", b"\x0c", b"\x1f", b"\x7f", b"\x80", b"\xff",
          b"content-length: 3\r\n", b"Content-Length: 15\r\n", b"content-length:0\r\n", b"transfer-encoding: chunked\r\n",
          b"host: broker\r\n", b"Host: x\r\n", b"HTTP/1.0", b"HTTP/1.1", b"HTTP/9.9", b"GET", b"/", b"//", b"?", b"#", b"%0d%0a",
          b"accept: a\r\n", b" folded\r\n", b"\tfolded\r\n", b"x", b"+", b"-", b"0", b",", b";", b"\"", b"_", b"()", b"=?utf-8?q?a?="]


class Reader(http.server.BaseHTTPRequestHandler):
    """http.server's parser without a server."""

    def __init__(self, data):  # pylint: disable=super-init-not-called
        self.rfile, self.wfile = io.BytesIO(data), io.BytesIO()
        self.client_address, self.close_connection, self.request_version = ("", 0), True, "HTTP/0.9"
        self.raw_requestline = self.rfile.readline(65537)

    def log_message(self, *_):  # pylint: disable=arguments-differ
        pass


def theirs(data):
    """(length of the head, method, target, fields), or None."""
    reader = Reader(data)
    try:
        if not reader.parse_request():
            return None
    except (ValueError, LookupError):
        return None
    fields = [(name.encode("latin-1").lower(), value.encode("latin-1").strip(b" \t")) for name, value in reader.headers.raw_items()]
    return reader.rfile.tell(), reader.command.encode("latin-1"), reader.path.encode("latin-1"), fields


def ours(program, requests):
    stream = b"".join(b"%d\n" % len(data) + data for data in requests)
    done = subprocess.run([program], input=stream, stdout=subprocess.PIPE, check=True)
    for line in done.stdout.decode().splitlines():
        if line == "-":
            yield None
            continue
        size, length, *parts = line.split(" ")
        texts = [b"" if part == "." else bytes.fromhex(part) for part in parts]
        fields = [(texts[i].lower(), texts[i + 1]) for i in range(2, len(texts), 2)]
        yield int(size), int(length), texts[0], texts[1], fields


def from_vectors(path):
    plain = b"POST /model HTTP/1.1\r\nhost: broker\r\ncontent-type: application/json\r\ncontent-length: 15\r\n\r\n" + b'{"messages":[]}'
    yield plain
    yield plain[:20] + plain[20:].replace(b"content-type", b"accept: a, b;q=0.5\r\nuser-agent: guest/1 (x)\r\nauthorization: Bearer x\r\nx-a")
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            for request in json.loads(line).get("requests", ()):
                if "raw" in request:
                    yield base64.b64decode(request["raw"])
                for part in request.get("raw_parts", ()):
                    if isinstance(part, str):
                        yield part.encode("latin-1")


def changed(requests):
    """Each with one or two changes: a token put in, put over something, a piece taken out or doubled."""
    chance = random.Random(SEED)
    for _ in range(CHANGED):
        data = bytearray(chance.choice(requests)[:2000])
        for _ in range(chance.randint(1, 2)):
            place, size = chance.randint(0, len(data)), chance.randint(0, 6)
            kind = chance.randrange(4)
            if kind == 0:
                data[place:place] = chance.choice(TOKENS)
            elif kind == 1:
                data[place:place + size] = chance.choice(TOKENS)
            elif kind == 2:
                del data[place:place + size]
            else:
                data[place:place] = data[place:place + 30]
        yield bytes(data)


def main():
    program, vectors = sys.argv[1:3]
    requests = list(dict.fromkeys(from_vectors(vectors)))
    # Changes of what is accepted stay near what is accepted.
    requests += changed([data for data, mine in zip(requests, ours(program, requests)) if mine is not None])
    accepted = 0
    print("1..2")
    for data, mine in zip(requests, ours(program, requests), strict=True):
        if mine is None:
            continue
        accepted += 1
        size, length, method, target, fields = mine
        other = theirs(data)
        # http.server shortens a target that begins with two slashes, of its own accord.
        if other is not None and target.startswith(b"//"):
            target = b"/" + target.lstrip(b"/")
        named = dict(fields)
        assert other == (size, method, target, fields), (data, mine, other)
        assert int(named.get(b"content-length", b"0")) == length, (data, mine)
    print("ok 1 - read alike")
    print("%s 2 - enough of them are accepted to say something: %d of %d"
          % ("ok" if accepted > 1000 else "not ok", accepted, len(requests)))
    return 0 if accepted > 1000 else 1


if __name__ == "__main__":
    sys.exit(main())
