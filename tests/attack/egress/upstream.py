#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""What endpoints can do to the egress, and what of it reaches a guest: faults, retries, keys, addresses, sessions."""

import base64
import contextlib
import gzip
import sys
import tempfile
import threading
import time
import urllib.parse

import harness
from harness import Egress, Endpoint, KEY, MCP_KEY, mcp_server, model_conf, run_tap

USER = [{"role": "user", "content": "hello"}]


@contextlib.contextmanager
def started(egress, *endpoints):
    try:
        yield egress
        assert egress.process.poll() is None, f"the egress ended: {egress.log()}"
        log = egress.log()
        assert KEY not in log and MCP_KEY not in log and "127.0.0.1" not in log and "localhost" not in log, log
    finally:
        for endpoint in endpoints:
            endpoint.close()
        status = egress.stop()
    assert status == 0, status


@contextlib.contextmanager
def world(program, more="", **options):
    endpoint = Endpoint()
    servers = [mcp_server("docs", endpoint.port, ["search"], key_file="@root@/keys/mcp"),
               mcp_server("live", endpoint.port, ["search"], session=True)]
    egress = Egress(program, model_conf(endpoint.port, more), servers=servers, keys={"model": KEY, "mcp": MCP_KEY},
                    **options)
    with started(egress, endpoint):
        yield egress, endpoint


def call(grant):
    grant.model(USER)
    return grant.answer()


def statuses(program):
    with world(program) as (egress, endpoint):
        grant = egress.peer().announce(budget=100)
        for status in (200, 201, 203, 226, 299):
            endpoint.act = lambda handler, body, status=status: handler.reply({"a": 1}, status)
            answer = call(grant)
            assert answer["json"] == {"a": 1} and answer["status"] == status, answer
        for status in (301, 302, 307, 308, 400, 401, 402, 403, 404, 408, 409, 413, 422, 498, 500, 501, 505):
            endpoint.act = lambda handler, body, status=status: handler.reply(
                {"error": KEY}, status, [("location", f"http://127.0.0.1:{endpoint.port}/elsewhere")])
            before = len(endpoint.requests)
            answer = call(grant)
            assert answer == {"failure": harness.REFUSED, "status": status, "retry": 0, "usage": (0, 0), "id": 7}, answer
            assert len(endpoint.requests) == before + 1, f"{status} was tried again or followed"
        endpoint.act = lambda handler, body: handler.reply({}, 204, raw=b"")
        assert call(grant)["failure"] == harness.BAD_ANSWER


def answers(program):
    fine = [b"null", b"42", b"{}", b"[]", b'"a"', b" \r\n\n{\"a\":1}\n", b'{"a":1,"a":2}', b'{"a":"\\u0000\\ud83d\\ude00"}',
            b"[" * 31 + b"]" * 31]
    bad = [b"", b"{", b"{}{}", b"{} x", b"ok", b"<html>", b"{'a':1}", b"{\"a\":NaN}", b"{}//", b"data: {}\n\n",
           b"\xff\xfe", b"{\"a\":\"\xff\"}", b"[" * 10000 + b"]" * 10000, b"1e999", b"\"" + b"a" * 1048576 + b"\""]
    with world(program) as (egress, endpoint):
        grant = egress.peer().announce(budget=100)
        for data in fine:
            endpoint.act = lambda handler, body, data=data: handler.reply(None, raw=data)
            assert call(grant)["json"] == harness.json.loads(data), data
        for data in bad:
            endpoint.act = lambda handler, body, data=data: handler.reply(None, raw=data)
            assert call(grant)["failure"] == harness.BAD_ANSWER, data[:40]
        whole = b'"' + b"a" * (1048576 - 2) + b'"'
        endpoint.act = lambda handler, body: handler.reply(None, raw=gzip.compress(whole),
                                                           headers=[("content-encoding", "gzip")])
        assert len(call(grant)["json"]) == 1048574
        endpoint.act = lambda handler, body: handler.reply(None, raw=gzip.compress(b" " * (8 << 20) + b"{}"),
                                                           headers=[("content-encoding", "gzip")])
        assert call(grant)["failure"] == harness.BAD_ANSWER
        endpoint.act = lambda handler, body: handler.reply(
            {"usage": {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15}})
        assert call(grant)["usage"] == (12, 3)
        endpoint.act = lambda handler, body: handler.reply({"usage": {"prompt_tokens": "12", "completion_tokens": -3}})
        assert call(grant)["usage"] == (0, 0)


def cut_answers(program):
    def cut(handler, body):
        handler.send_response(200)
        handler.send_header("content-length", "100")
        handler.end_headers()
        handler.wfile.write(b'{"a":')
        handler.close_connection = True

    def hang_up(handler, body):
        handler.close_connection = True

    with world(program) as (egress, endpoint):
        grant = egress.peer().announce()
        for act in (cut, hang_up):
            endpoint.act = act
            assert call(grant)["failure"] == harness.BAD_ANSWER, act
        assert len(endpoint.requests) == 2


def kept_connections(program):
    """One connection serves several calls; one that died after it took a request is not given the request again."""
    with world(program) as (egress, endpoint):
        ports = []

        def act(handler, body):
            ports.append(handler.client_address[1])
            if len(ports) == 3:
                handler.close_connection = True
                return
            handler.reply({})

        endpoint.act = act
        first, second = egress.peer().announce(), egress.peer().announce(turn="t2")
        assert call(first)["failure"] == harness.NONE
        assert call(second)["failure"] == harness.NONE
        assert ports[0] == ports[1], "no connection was kept between turns"
        assert call(first)["failure"] == harness.UNREACHABLE
        assert len(ports) == 3, "a request that may have been served was sent again"
        assert call(first)["failure"] == harness.NONE


def answers_unasked(program):
    """What an endpoint sends without being asked is the answer to nobody: not to the next turn, which may be another channel's."""
    def twice(handler, body):
        handler.reply({"for": "t1"})
        handler.wfile.flush()
        sent.wait(harness.WAIT)
        handler.reply({"for": "nobody"})
        handler.wfile.flush()
        late.set()

    with tempfile.TemporaryDirectory() as directory:
        authority, certificate = harness.make_certificates(directory)
        for scheme, host, more in (("http", "127.0.0.1", ""),
                                   ("https", "localhost", f"CAFile={authority}\nAllowPrivate=yes")):
            endpoint = Endpoint(certificate if scheme == "https" else None)
            sent, late = threading.Event(), threading.Event()
            with started(Egress(program, model_conf(endpoint.port, more, scheme, host), keys={"model": KEY}),
                         endpoint) as egress:
                endpoint.act = twice
                first = egress.peer().announce(turn="t1")
                assert call(first)["json"] == {"for": "t1"}
                sent.set()
                assert late.wait(harness.WAIT)
                endpoint.act = lambda handler, body: handler.reply({"for": "t2"})
                for _ in range(2):
                    answer = call(egress.peer().announce(turn="t2"))
                    assert answer.get("json") == {"for": "t2"}, f"{scheme}: {answer}"
                assert len(endpoint.requests) == 3, "a request was sent on a connection that was not clean"


def retries(program):
    with world(program) as (egress, endpoint):
        grant = egress.peer().announce()
        for status in (429, 502, 503, 504):
            before = len(endpoint.requests)
            endpoint.act = lambda handler, body, status=status, before=before: (
                handler.reply({}, status, [("retry-after", "0")]) if len(endpoint.requests) == before + 1
                else handler.reply({"a": status}))
            assert call(grant)["json"] == {"a": status}
            assert len(endpoint.requests) == before + 2
        before = len(endpoint.requests)
        endpoint.act = lambda handler, body: handler.reply({}, 503, [("retry-after", "0")])
        answer = call(grant)
        assert (answer["failure"], answer["status"]) == (harness.REFUSED, 503)
        assert len(endpoint.requests) == before + 4


def retry_after(program):
    with world(program) as (egress, endpoint):
        grant = egress.peer().announce(deadline=20000)
        began = time.monotonic()
        endpoint.act = lambda handler, body: handler.reply({}, 429, [("retry-after", "3600")])
        answer = call(grant)
        assert (answer["failure"], answer["retry"]) == (harness.RATE_LIMITED, 3600), answer
        date = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 300))
        endpoint.act = lambda handler, body: handler.reply({}, 503, [("retry-after", date)])
        answer = call(grant)
        assert answer["failure"] == harness.RATE_LIMITED and 290 <= answer["retry"] <= 300, answer
        assert len(endpoint.requests) == 2
        assert time.monotonic() - began < 10, "it waited although it cannot help"


def refused_connection(program):
    holder, port = harness.refused_port()
    with holder, started(Egress(program, model_conf(port), keys={"model": KEY})) as egress:
        answer = call(egress.peer().announce())
        assert (answer["failure"], answer["status"]) == (harness.UNREACHABLE, 0)
        assert "refused" in egress.log()


def mcp_tools_are_not_repeated(program):
    with world(program) as (egress, endpoint):
        grant = egress.peer().announce(servers=["docs"])
        endpoint.act = lambda handler, body: handler.reply({}, 502)
        grant.mcp("docs", "search")
        assert grant.answer()["failure"] == harness.REFUSED
        assert len(endpoint.requests) == 1


def tls(program):
    with tempfile.TemporaryDirectory() as directory:
        authority, certificate = harness.make_certificates(directory)
        endpoint = Endpoint(certificate)
        known = model_conf(endpoint.port, f"CAFile={authority}\nAllowPrivate=yes", "https", "localhost")
        with started(Egress(program, known, keys={"model": KEY}), endpoint) as egress:
            grant = egress.peer().announce()
            assert call(grant)["failure"] == harness.NONE
            assert call(grant)["failure"] == harness.NONE

        endpoint = Endpoint(certificate)
        unknown = model_conf(endpoint.port, "AllowPrivate=yes", "https", "localhost")
        with started(Egress(program, unknown, keys={"model": KEY}), endpoint) as egress:
            assert call(egress.peer().announce())["failure"] == harness.UNREACHABLE
            assert "tls" in egress.log() and not endpoint.requests

        endpoint = Endpoint(certificate)
        other_name = model_conf(endpoint.port, f"CAFile={authority}", "https", "127.0.0.1")
        with started(Egress(program, other_name, keys={"model": KEY}), endpoint) as egress:
            assert call(egress.peer().announce())["failure"] == harness.UNREACHABLE
            assert not endpoint.requests


def tls_sessions(program):
    """Turns share TLS connections; where one has ended, the next begins with the session of the last."""
    with tempfile.TemporaryDirectory() as directory:
        authority, certificate = harness.make_certificates(directory)
        endpoint, seen = Endpoint(certificate), []

        def act(handler, body):
            seen.append((handler.client_address[1], handler.connection.session_reused))
            handler.close_connection = len(seen) % 3 == 0
            handler.reply({}, headers=[("connection", "close")] if handler.close_connection else [])

        endpoint.act = act
        known = model_conf(endpoint.port, f"CAFile={authority}\nAllowPrivate=yes", "https", "localhost")
        with started(Egress(program, known, keys={"model": KEY}), endpoint) as egress:
            for number in range(9):
                grant = egress.peer().announce(turn=f"t{number}")
                assert call(grant)["failure"] == harness.NONE
                grant.close()
        ports = [port for port, _ in seen]
        assert len(set(ports)) == 3 and ports == sorted(ports, key=ports.index), f"nine turns had the connections {ports}"
        assert [reused for _, reused in seen] == [False] * 3 + [True] * 6, f"sessions resumed: {seen}"


def private_addresses(program):
    with tempfile.TemporaryDirectory() as directory:
        authority, certificate = harness.make_certificates(directory)
        endpoint = Endpoint(certificate)
        conf = model_conf(endpoint.port, f"CAFile={authority}", "https", "localhost")
        with started(Egress(program, conf, keys={"model": KEY}), endpoint) as egress:
            assert call(egress.peer().announce())["failure"] == harness.ADDRESS_REFUSED
            assert "AllowPrivate=yes" in egress.log() and not endpoint.requests


def unknown_name(program):
    conf = model_conf(443, "", "https", "no-such-host.invalid")
    with started(Egress(program, conf, keys={"model": KEY})) as egress:
        assert call(egress.peer().announce())["failure"] == harness.UNREACHABLE
        assert "(name" in egress.log()


def no_proxy(program):
    environment = {name: "http://127.0.0.1:9" for name in ("http_proxy", "https_proxy", "all_proxy", "ALL_PROXY")}
    with world(program, environment=environment) as (egress, endpoint):
        assert call(egress.peer().announce())["failure"] == harness.NONE


def forms(key):
    data = key.encode()
    return [key, urllib.parse.quote(key, safe="-_.!~*'()"), base64.b64encode(data).decode(),
            base64.urlsafe_b64encode(data).decode().rstrip("="), data.hex(), data.hex().upper()]


def reflections(program):
    with world(program) as (egress, endpoint):
        grant, service = egress.peer().announce(budget=500, servers=["docs"]), egress.service()
        for key in (KEY, MCP_KEY):
            for form in forms(key):
                for value in (form, [[{"a": f"x{form}y"}]], {f"-{form}": 1}, {"a": {"b": [None, f"{form}\n"]}}):
                    endpoint.act = lambda handler, body, value=value: handler.reply(value)
                    assert call(grant)["failure"] == harness.REFLECTED, value
                grant.mcp("docs", "search")
                assert grant.answer()["failure"] == harness.REFLECTED, form
                assert service.scan(f"before {form} after") == harness.REFLECTED
        endpoint.act = lambda handler, body: handler.reply(None, raw=b'"' + KEY.replace("/", "\\/").encode() + b'"')
        assert call(grant)["failure"] == harness.REFLECTED
        assert service.scan('{"a":"' + KEY.replace("+", "\\u002b") + '"}') == harness.REFLECTED
        for near in (KEY[:-1], KEY[1:], KEY.upper(), KEY.replace("-", ""), KEY[:10] + " " + KEY[10:],
                     "Bearer sandbox-dummy-key", KEY.encode().hex().replace("f", "F", 1)):
            endpoint.act = lambda handler, body, near=near: handler.reply({"a": near, near: [near]})
            assert call(grant)["failure"] == harness.NONE, near
            assert service.scan(near) == harness.NONE, near
        assert service.scan(b"") == service.scan(b"\x00\xff") == harness.NONE
        assert service.scan(b"a" * (1 << 20)) == harness.NONE


def key_changes(program):
    with world(program) as (egress, endpoint):
        grant, service = egress.peer().announce(), egress.service()
        call(grant)
        egress.write_key("model", "another-key-of-today\n")
        call(grant)
        sent = [request["headers"]["Authorization"] for request in endpoint.requests]
        assert sent == [f"Bearer {KEY}", "Bearer another-key-of-today"], sent
        assert service.scan("another-key-of-today") == harness.REFLECTED
        assert service.scan(KEY) == harness.REFLECTED, "a call that began before the change may still bring the old key"


def bad_keys(program):
    with world(program) as (egress, endpoint):
        grant = egress.peer().announce()
        for value in ("", "\n", "two\nlines-of-it", "a key with blanks", "shorter", "caf\u00e9-caf\u00e9-caf\u00e9",
                      "tab\tin-it-here", "carriage-return\r", "x" * 9000):
            egress.write_key("model", value)
            answer = call(grant)
            assert answer["failure"] == harness.KEY_MISSING, value
        assert f"{egress.root}/keys/model" in egress.log()
        (egress.root / "keys/model").unlink()
        assert call(grant)["failure"] == harness.KEY_MISSING
        egress.peer().announce(turn="t2", expect=harness.KEY_MISSING)
        egress.write_key("elsewhere", KEY)
        (egress.root / "keys/model").symlink_to(egress.root / "keys/elsewhere")
        assert call(grant)["failure"] == harness.KEY_MISSING
        assert not endpoint.requests
        (egress.root / "keys/model").unlink()
        egress.write_key("model", KEY)
        assert call(grant)["failure"] == harness.NONE


class McpServer:
    """Streamable HTTP with sessions; answers tools/call by an event stream that has other things before the response."""

    def __init__(self):
        self.sessions = []
        self.stream = True

    def __call__(self, handler, body):
        session = handler.headers.get("mcp-session-id")
        if body["method"] == "initialize":
            self.sessions.append(f"s{len(self.sessions) + 1}")
            handler.reply({"jsonrpc": "2.0", "id": body["id"], "result": {
                "protocolVersion": "2025-03-26", "capabilities": {}, "serverInfo": {"name": "a", "version": "1"}}},
                headers=[("mcp-session-id", self.sessions[-1])])
            return
        if not self.sessions or session != self.sessions[-1]:
            handler.reply({"jsonrpc": "2.0", "error": {"code": -32001, "message": "no session"}}, 404)
            return
        if body["method"] == "notifications/initialized":
            handler.reply(None, 202, raw=b"")
            return
        response = {"jsonrpc": "2.0", "id": body["id"], "result": {"content": [{"type": "text", "text": "found"}]}}
        if not self.stream:
            handler.reply(response)
            return
        events = (
            "id: 0\ndata:\n\n"
            ": a comment\n\n"
            'event: message\ndata: {"jsonrpc":"2.0","method":"notifications/progress","params":{}}\n\n'
            'data: {"jsonrpc":"2.0","id":999,"result":{"content":"another request\'s"}}\r\n\r\n'
            'data: {"jsonrpc":"2.0","id":%d,"method":"sampling/createMessage"}\n\n' % body["id"]
            + "data: not JSON\n\n"
            + "event: message\ndata: " + harness.json.dumps(response) + "\n\n"
        )
        handler.send_response(200)
        handler.send_header("content-type", "text/event-stream; charset=utf-8")
        handler.end_headers()
        for at in range(0, len(events), 7):
            handler.wfile.write(events[at:at + 7].encode())
            handler.wfile.flush()
        # The stream stays open, as a server may leave it.
        harness.readable(handler.connection, harness.WAIT)
        handler.close_connection = True


def mcp_sessions(program):
    with world(program) as (egress, endpoint):
        server = endpoint.act = McpServer()
        grant = egress.peer().announce(servers=["live"])
        expected = {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": "found"}]}}
        for _ in range(2):
            grant.mcp("live", "search", {"q": "a"})
            assert grant.answer()["json"] == expected
        assert len(server.sessions) == 1, "a session was made for each call"
        server.sessions.append("forgotten")  # the server knows the old one no more
        server.stream = False
        grant.mcp("live", "search")
        assert grant.answer()["json"] == expected
        methods = [request["body"]["method"] for request in endpoint.requests]
        assert methods == ["initialize", "notifications/initialized", "tools/call", "tools/call", "tools/call",
                           "initialize", "notifications/initialized", "tools/call"], methods
        headers = {name.lower(): value for name, value in endpoint.requests[2]["headers"].items()}
        assert headers["accept"] == "application/json, text/event-stream"
        assert headers["mcp-session-id"] == "s1" and headers["mcp-protocol-version"] == "2025-03-26"
        ids = [request["body"]["id"] for request in endpoint.requests if "id" in request["body"]]
        assert len(set(ids)) == len(ids), ids
        server.sessions[-1] = "gone"
        endpoint.act = lambda handler, body: handler.reply({}, 404)
        grant.mcp("live", "search")
        assert grant.answer()["failure"] == harness.REFUSED


def streams_are_bounded(program):
    server = McpServer()

    def flood(handler, body):
        if body["method"] != "tools/call":
            server(handler, body)
            return
        handler.send_response(200)
        handler.send_header("content-type", "text/event-stream")
        handler.end_headers()
        for _ in range(64):
            handler.wfile.write(b"data: " + b"x" * 65536 + b"\n\n")
        handler.close_connection = True

    with world(program) as (egress, endpoint):
        endpoint.act = flood
        grant = egress.peer().announce(servers=["live", "docs"])
        grant.mcp("live", "search")
        assert grant.answer()["failure"] == harness.BAD_ANSWER
        endpoint.act = lambda handler, body: handler.reply(
            None, raw=b'data: {"jsonrpc":"2.0","id":1,"result":{}}\n\n', headers=[("content-type", "text/event-stream")])
        grant.mcp("docs", "search")
        assert grant.answer()["failure"] == harness.BAD_ANSWER, "without a session no stream is read"


TESTS = [statuses, answers, cut_answers, kept_connections, answers_unasked, retries, retry_after, refused_connection,
         mcp_tools_are_not_repeated, tls, tls_sessions, private_addresses, unknown_name, no_proxy, reflections, key_changes, bad_keys,
         mcp_sessions, streams_are_bounded]

if __name__ == "__main__":
    sys.exit(run_tap(TESTS, sys.argv[1]))
