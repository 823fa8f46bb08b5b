#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""What a broker in a guest's hands can get out of the egress: raw frames, everything that a grant does not allow."""

import contextlib
import sys

import harness
from harness import Closed, Egress, Endpoint, KEY, MCP_KEY, mcp_server, model_conf, run_tap

USER = [{"role": "user", "content": "hello"}]


@contextlib.contextmanager
def world(program, more="", **options):
    endpoint = Endpoint()
    server = mcp_server("docs", endpoint.port, ["search"], key_file="@root@/keys/mcp")
    egress = Egress(program, model_conf(endpoint.port, more), servers=[server], keys={"model": KEY, "mcp": MCP_KEY},
                    **options)
    try:
        yield egress, endpoint
        assert egress.process.poll() is None, f"the egress ended: {egress.log()}"
        log = egress.log()
        assert KEY not in log and MCP_KEY not in log and "127.0.0.1" not in log, log
    finally:
        endpoint.close()
        status = egress.stop()
    assert status == 0, status


def plain_call(program):
    with world(program) as (egress, endpoint):
        grant = egress.peer().announce()
        grant.model(USER)
        answer = grant.answer()
        assert answer["json"]["choices"][0]["message"]["content"] == "ok", answer
        request = endpoint.requests[0]
        assert request["body"] == {"model": "test-model", "messages": USER, "stream": False, "max_tokens": 4096}
        headers = {name.lower(): value for name, value in request["headers"].items()}
        assert headers["authorization"] == f"Bearer {KEY}"
        assert headers["accept"] == "application/json" and headers["content-type"] == "application/json"
        assert "expect" not in headers and "user-agent" not in headers


def pinned_members(program):
    more = "OutputTokens=99\nOutputTokenField=max_completion_tokens\nExtraBody={\"temperature\":0.5}\nAuthHeader=api-key\nAuthPrefix="
    with world(program, more) as (egress, endpoint):
        grant = egress.peer().announce()
        grant.model(USER, [])
        grant.answer()
        request = endpoint.requests[0]
        assert request["body"] == {"model": "test-model", "messages": USER, "tools": [], "stream": False,
                                   "max_completion_tokens": 99, "temperature": 0.5}
        headers = {name.lower(): value for name, value in request["headers"].items()}
        assert headers["api-key"] == KEY and "authorization" not in headers


def broken_payloads(program):
    """Media, remote schemas, and texts that would break out of their place in the body."""
    tool = {"type": "function", "function": {"name": "a", "description": "", "parameters": {}}}
    remote = {"type": "function", "function": {"name": "a", "description": "", "parameters": {"$ref": "https://x/"}}}
    cases = [
        ([{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://x/"}}]}], None),
        ([{"role": "user", "content": "a", "name": "b"}], None),
        (USER, [remote]),
        (USER, [tool, tool]),
        (USER * 129, None),
        ('[],"model":"other"', None),
        ("[]}", None),
        ("{}", None),
        ("[] []", None),
        ("", None),
        (b"[\xff]", None),
        (USER, "[],\"stream\":true"),
    ]
    with world(program) as (egress, endpoint):
        grant = egress.peer().announce()
        for number, (messages, tools) in enumerate(cases):
            grant.model(messages, tools, number)
            answer = grant.answer()
            assert answer["failure"] == harness.RULES and answer["id"] == number, (messages, tools, answer)
        assert not endpoint.requests


def undeclared_mcp(program):
    with world(program) as (egress, endpoint):
        grant = egress.peer().announce(servers=["docs"])
        for server, tool, arguments in (("docs", "delete", "{}"), ("other", "search", "{}"), ("docs", "search", "[]"),
                                        ("docs", "search", '{},"x":1'), ("docs", "Search", "{}")):
            grant.mcp(server, tool, arguments)
            assert grant.answer()["failure"] == harness.RULES, (server, tool, arguments)
        without = egress.peer().announce(turn="t2")
        without.mcp("docs", "search")
        assert without.answer()["failure"] == harness.RULES
        assert not endpoint.requests
        grant.mcp("docs", "search", {"q": 1})
        assert grant.answer()["failure"] == harness.NONE
        assert endpoint.requests[0]["body"] == {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                                                "params": {"name": "search", "arguments": {"q": 1}}}
        assert endpoint.requests[0]["headers"]["Authorization"] == f"Bearer {MCP_KEY}"


def second_call_in_flight(program):
    with world(program) as (egress, endpoint):
        hold = harness.threading.Event()
        endpoint.act = lambda handler, body: (hold.wait(harness.WAIT), handler.reply({}))
        grant = egress.peer().announce()
        grant.model(USER, number=1)
        endpoint.wait()
        grant.model(USER, number=2)
        assert grant.is_closed()
        hold.set()
        assert len(endpoint.requests) == 1


def budget(program):
    with world(program) as (egress, endpoint):
        grant, service = egress.peer().announce(budget=3), egress.service()
        assert service.charge("t1") == harness.NONE
        assert service.charge("t2") == harness.BUDGET_SPENT
        for expected in (harness.NONE, harness.NONE, harness.BUDGET_SPENT, harness.BUDGET_SPENT):
            grant.model(USER)
            assert grant.answer()["failure"] == expected
        assert service.charge("t1") == harness.BUDGET_SPENT
        assert len(endpoint.requests) == 2


def deadline(program):
    with world(program) as (egress, endpoint):
        hold = harness.threading.Event()
        endpoint.act = lambda handler, body: (hold.wait(harness.WAIT), handler.reply({}))
        grant = egress.peer().announce(deadline=700)
        grant.model(USER)
        endpoint.wait()
        assert grant.answer()["failure"] == harness.DEADLINE
        grant.model(USER)
        assert grant.answer()["failure"] == harness.DEADLINE
        hold.set()
        assert grant.is_closed(), "the grant's connection outlives its end"


def cancel(program):
    with world(program) as (egress, endpoint):
        hold = harness.threading.Event()
        endpoint.act = lambda handler, body: (hold.wait(harness.WAIT), handler.reply({}))
        grant = egress.peer().announce()
        grant.model(USER, number=5)
        endpoint.wait()
        grant.send(harness.CALL_CANCEL, 6)
        grant.send(harness.CALL_CANCEL, 5)
        answer = grant.answer()
        assert (answer["failure"], answer["id"]) == (harness.CANCELLED, 5)
        hold.set()
        endpoint.act = lambda handler, body: handler.reply({"a": 1})
        grant.model(USER, number=8)
        answer = grant.answer()
        assert (answer["id"], answer["json"]) == (8, {"a": 1})


def closing_cancels(program):
    with world(program) as (egress, endpoint):
        gone = harness.threading.Event()

        def act(handler, body):
            if harness.readable(handler.connection, harness.WAIT) and not handler.connection.recv(1):
                gone.set()

        endpoint.act = act
        grant = egress.peer().announce()
        grant.model(USER)
        endpoint.wait()
        grant.close()
        assert gone.wait(harness.WAIT), "the call went on without its grant"
        egress.peer().announce()  # the turn's id is free again


def forged_turns(program):
    """Connections that say what they may not."""
    with world(program) as (egress, endpoint):
        grant = egress.peer().announce()
        twin = egress.peer()
        try:
            twin.announce()
            raise AssertionError("one turn was granted twice")
        except Closed:
            pass
        for frames in (
            [(harness.MODEL_CALL, b"")], [(harness.CHARGE, harness.text("t1"))], [(harness.SCAN, b"x")],
            [(harness.RELOAD, b"")], [(harness.SERVICE, b""), (harness.SERVICE, b"")],
            [(harness.SERVICE, b""), (harness.MODEL_CALL, harness.text("[]") + b"\0")],
            [(harness.GRANTED, b"\0")], [(0x0101, b"")], [(0, b"")], [(harness.ANNOUNCE, b"")],
            [(harness.ANNOUNCE, harness.text("x"))],
        ):
            peer = egress.peer()
            for kind, payload in frames:
                peer.send(kind, 1, payload)
            assert peer.is_closed(), frames
        for kind, payload in ((harness.ANNOUNCE, b""), (harness.SERVICE, b""), (harness.CHARGE, harness.text("t1")),
                              (harness.SCAN, b"x"), (harness.RELOAD, b"")):
            peer = egress.peer().announce(turn="t9")
            peer.send(kind, 1, payload)
            assert peer.is_closed(), kind
            peer.close()
        for data in (b"GET / HTTP/1.1\r\n\r\n", b"SBX1" + b"\xff" * 12, b"SBX1\x03\x04\x00\x00" + b"\0" * 4 + b"\xff" * 4):
            peer = egress.peer()
            peer.raw(data)
            assert peer.is_closed(), data
        for turn, length, calls in (("", 1000, 1), ("a", 0, 1), ("a", 1000, 0), ("a", 1000, 1001), ("a", 10 ** 7, 1)):
            try:
                egress.peer().announce(turn=turn, deadline=length, budget=calls)
                raise AssertionError((turn, length, calls))
            except Closed:
                pass
        grant.model(USER)
        assert grant.answer()["failure"] == harness.NONE
        assert len(endpoint.requests) == 1


def wrong_uid(program):
    with world(program, client="daemon") as (egress, endpoint):
        peer = egress.peer()
        assert peer.is_closed()
        assert "only the user" in egress.log()


def many_connections(program):
    with world(program) as (egress, endpoint):
        grants = [egress.peer().announce(turn=f"t{number}") for number in range(256)]
        egress.peer().announce(turn="more", expect=32)
        services = [egress.service() for _ in range(8)]
        assert all(service.scan("a") == harness.NONE for service in services)
        assert egress.service().is_closed()
        grants.pop().close()
        service = services[0]
        while service.charge("t255") != harness.BUDGET_SPENT:
            pass
        egress.peer().announce(turn="more").model(USER)


def reload(program):
    with world(program) as (egress, endpoint):
        service, grant = egress.service(), egress.peer().announce()
        good = (egress.conf_dir / "sandboxd.conf").read_text()
        egress.write_conf(good + "[Turns]\nCalls=many\n")
        fine, complaint = service.reload()
        assert not fine and "[Turns] Calls=many" in complaint and "1 to 1000" in complaint, complaint
        grant.model(USER)
        assert grant.answer()["failure"] == harness.NONE
        egress.write_conf(good.replace("Name=test-model", "Name=newer"))
        assert service.reload() == (True, "")
        newer = egress.peer().announce(turn="t2")
        newer.model(USER)
        newer.answer()
        grant.model(USER)
        grant.answer()
        assert [request["body"]["model"] for request in endpoint.requests] == ["test-model", "newer", "test-model"]


TESTS = [plain_call, pinned_members, broken_payloads, undeclared_mcp, second_call_in_flight, budget, deadline, cancel,
         closing_cancels, forged_turns, wrong_uid, many_connections, reload]

if __name__ == "__main__":
    sys.exit(run_tap(TESTS, sys.argv[1]))
