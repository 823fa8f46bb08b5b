#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""The egress against the reference MCP server: sessions, event streams, notifications, errors.

    everything.py PATH-OF-SANDBOX-EGRESS DIRECTORY-OF-SERVER-EVERYTHING
"""

import contextlib
import functools
import os
import pathlib
import socket
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "attack" / "egress"))
import harness  # noqa: E402
from harness import Egress, KEY, MCP_KEY, model_conf, run_tap  # noqa: E402

SERVER = os.path.join(sys.argv.pop(2), "dist", "index.js")
# Ours, and what the server calls them.
TOOLS = {"echo": "echo", "get_sum": "get-sum", "get_tiny_image": "get-tiny-image", "structured": "get-structured-content",
         "long_running": "trigger-long-running-operation", "logging": "toggle-simulated-logging", "nothing": "no-such-tool"}


def free_port():
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        return holder.getsockname()[1]


class Server:
    """The reference server in a process of its own; it says on its output when it listens."""

    def __init__(self, port):
        self.process = subprocess.Popen(["node", SERVER, "streamableHttp"], env=dict(os.environ, PORT=str(port)),
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.lines = []
        while not any("listening on port" in line for line in self.lines):
            line = self.process.stdout.readline()
            assert line, f"the server ended: {self.lines}"
            self.lines.append(line)

    def stop(self):
        """Ends it; returns all that it said."""
        self.process.terminate()
        rest, _ = self.process.communicate(timeout=harness.WAIT)
        return "".join(self.lines) + rest


@contextlib.contextmanager
def world(program):
    port = free_port()
    tools = [{"name": name, "remote_name": remote, "description": name, "parameters": {"type": "object"}}
             for name, remote in TOOLS.items()]
    servers = [{"name": name, "url": f"http://127.0.0.1:{port}/mcp", "plain_http": True, "session": session,
                "key_file": "@root@/keys/mcp", "tools": tools} for name, session in (("live", True), ("stateless", False))]
    egress = Egress(program, model_conf(9), servers=servers, keys={"model": KEY, "mcp": MCP_KEY})
    try:
        yield egress, functools.partial(Server, port)
        assert egress.process.poll() is None, f"the egress ended: {egress.log()}"
        assert KEY not in egress.log() and MCP_KEY not in egress.log()
    finally:
        status = egress.stop()
    assert status == 0, status


def ask(grant, tool, arguments=None, server="live"):
    grant.mcp(server, tool, arguments)
    return grant.answer()


def text_of(answer):
    assert answer["failure"] == harness.NONE, answer
    reply = answer["json"]
    assert reply["jsonrpc"] == "2.0" and reply["id"] == 1 and "error" not in reply, reply
    return reply["result"]["content"][0]["text"]


def one_session_for_all_calls(program):
    with world(program) as (egress, start):
        server = start()
        grant = egress.peer().announce(servers=["live"])
        assert text_of(ask(grant, "echo", {"message": "hello"})) == "Echo: hello"
        assert "5" in text_of(ask(grant, "get_sum", {"a": 2, "b": 3}))
        other = egress.peer().announce(turn="t2", servers=["live"])
        assert text_of(ask(other, "echo", {"message": "Grüße"})) == "Echo: Grüße"
        said = server.stop()
        assert said.count("Session initialized") == 1, said


def progress_and_logs_are_passed_over(program):
    """The server sends notifications before and beside the response; a guest gets the response alone."""
    with world(program) as (egress, start):
        server = start()
        grant = egress.peer().announce(servers=["live"])
        text_of(ask(grant, "logging", {}))
        text = text_of(ask(grant, "long_running", {"duration": 1, "steps": 4}))
        assert "completed" in text.lower(), text
        server.stop()


def all_kinds_of_content(program):
    with world(program) as (egress, start):
        server = start()
        grant = egress.peer().announce(servers=["live"])
        content = ask(grant, "get_tiny_image", {})["json"]["result"]["content"]
        assert any(part["type"] == "image" for part in content), content
        result = ask(grant, "structured", {"location": "Chicago"})["json"]["result"]
        assert "structuredContent" in result, result
        server.stop()


def errors_are_answers(program):
    """JSON-RPC errors and failed tools are what the server says; they go to the guest as they are, with its own id."""
    with world(program) as (egress, start):
        server = start()
        grant = egress.peer().announce(servers=["live"])
        for tool, arguments in (("nothing", {}), ("get_sum", {"a": "x"})):
            answer = ask(grant, tool, arguments)
            assert answer["failure"] == harness.NONE and answer["json"]["id"] == 1, answer
            assert "error" in answer["json"] or answer["json"]["result"].get("isError"), answer
        server.stop()


def a_restarted_server_gets_a_new_session(program):
    with world(program) as (egress, start):
        server = start()
        grant = egress.peer().announce(servers=["live"])
        text_of(ask(grant, "echo", {"message": "a"}))
        server.stop()
        server = start()
        # The kept connection is found dead by the first call; nothing is sent twice for that.
        answer = ask(grant, "echo", {"message": "b"})
        if answer["failure"] != harness.NONE:
            answer = ask(grant, "echo", {"message": "b"})
        assert text_of(answer) == "Echo: b"
        assert server.stop().count("Session initialized") == 1


def a_server_that_wants_a_session_says_so(program):
    with world(program) as (egress, start):
        server = start()
        grant = egress.peer().announce(servers=["stateless"])
        assert ask(grant, "echo", {"message": "a"}, "stateless")["failure"] == harness.REFUSED
        server.stop()


TESTS = [one_session_for_all_calls, progress_and_logs_are_passed_over, all_kinds_of_content, errors_are_answers,
         a_restarted_server_gets_a_new_session, a_server_that_wants_a_session_says_so]

if __name__ == "__main__":
    sys.exit(run_tap(TESTS, sys.argv[1]))
