#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""A worker of one's own: the contract of doc/worker.md in standard-library Python.

It offers the host's tools and MCP tools and keeps the last ten exchanges. Deliberately short: no memory, no trimming of
long conversations beyond a bound on what is kept.
"""
import datetime
import http.client
import json
import os
import re
import socket
import sys
import zoneinfo

SOCKET = os.environ.get("SANDBOX_TEST_SOCKET", "/broker/broker.sock")
WORKSPACE = os.environ.get("SANDBOX_TEST_WORKSPACE", "/workspace")
HISTORY = os.path.join(WORKSPACE, "history.json")
MAX_TURN_BYTES = 262144
MAX_ANSWER_BYTES = 1048576
MAX_HISTORY = 20
MAX_CONTENT = 6000  # characters of a kept message or of a tool's result
MODEL_CALLS = 12
NAME = re.compile(r"[a-z][a-z0-9_]{0,47}\Z")
# Those of the contract, which are not quite Python's.
BLANKS = "\t\n\v\f\r \xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(map(chr, range(0x2000, 0x200b)))
REFUSED = "This call was refused or failed."


class Failed(Exception):
    """The turn cannot go on."""


class BrokerConnection(http.client.HTTPConnection):
    """http.client over the broker's socket."""

    def __init__(self):
        super().__init__("broker", timeout=65)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(SOCKET)


def post(path, value):
    """The JSON value of a 200 answer. Only the headers that the broker lets through."""
    body = json.dumps(value).encode()
    connection = BrokerConnection()
    try:
        connection.putrequest("POST", path, skip_host=True, skip_accept_encoding=True)
        for name, text in (("host", "broker"), ("content-type", "application/json"),
                           ("content-length", str(len(body))), ("authorization", "Bearer sandbox-dummy-key")):
            connection.putheader(name, text)
        connection.endheaders(body)
        answer = connection.getresponse()
        data = answer.read(MAX_ANSWER_BYTES + 1)
    except (OSError, http.client.HTTPException) as error:
        raise Failed("the broker could not be asked") from error
    finally:
        connection.close()
    if answer.status != 200 or len(data) > MAX_ANSWER_BYTES:
        raise Failed("the broker answered with status %d" % answer.status)
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise Failed("the answer is not JSON") from error


def check_tools(tools):
    if not isinstance(tools, list):
        raise Failed("tools are not a list")
    for tool in tools:
        if not (isinstance(tool, dict) and isinstance(tool.get("name"), str) and NAME.match(tool["name"])
                and isinstance(tool.get("description"), str) and isinstance(tool.get("parameters"), dict)):
            raise Failed("a tool breaks the contract")
    return tools


def read_turn():
    """None where no turn came."""
    data = sys.stdin.buffer.read(MAX_TURN_BYTES + 1)
    if not data:
        return None
    try:
        turn = json.loads(data) if len(data) <= MAX_TURN_BYTES else None
    except (ValueError, RecursionError):
        turn = None
    if not isinstance(turn, dict):
        raise Failed("the turn is not a JSON object")
    for name in ("text", "model", "prompt", "timeZone"):
        if not isinstance(turn.get(name), str):
            raise Failed("the turn has no " + name)
    speaker = turn.get("speaker")
    if not isinstance(speaker, dict) or not all(isinstance(speaker.get(n), str) for n in ("id", "name")):
        raise Failed("the turn has no speaker")
    check_tools(turn.get("tools"))
    if not isinstance(turn.get("mcp"), list) or not isinstance(turn.get("reset", False), bool):
        raise Failed("the turn breaks the contract")
    for server in turn["mcp"]:
        if not isinstance(server, dict) or not isinstance(server.get("server"), str) or not NAME.match(server["server"]):
            raise Failed("a server breaks the contract")
        check_tools(server.get("tools"))
    return turn


def read_history(turn):
    if turn.get("reset"):
        return []
    try:
        # Not through a link, not waiting for the other end of a FIFO.
        file = os.open(HISTORY, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise Failed("the history cannot be read") from error
    try:
        with open(file, "rb") as stream:
            history = json.loads(stream.read(MAX_ANSWER_BYTES))
        assert isinstance(history, list) and len(history) <= MAX_HISTORY
        assert all(m["role"] in ("user", "assistant") and isinstance(m["content"], str) for m in history)
    except (OSError, ValueError, AssertionError, KeyError, TypeError, RecursionError) as error:
        raise Failed("the history is not readable") from error
    return [{"role": m["role"], "content": m["content"][:MAX_CONTENT]} for m in history]


def write_history(history):
    """On disk before the reply is: the container is gone as soon as that is known."""
    new = HISTORY + ".new-%d" % os.getpid()
    try:
        file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with open(file, "w", encoding="utf-8") as stream:
            json.dump(history[-MAX_HISTORY:], stream)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(new, HISTORY)
    except OSError as error:
        raise Failed("the history cannot be written") from error


def offers(turn):
    """Tool specs for the model, and what their names stand for: a path and a way to wrap the arguments."""
    specs, routes = [], {}

    def offer(name, tool, path, wrap):
        if name in routes:
            return  # the broker refuses a request with two of one name
        specs.append({"type": "function", "function": {"name": name, "description": tool["description"],
                                                       "parameters": tool["parameters"]}})
        routes[name] = (path, wrap)

    for tool in turn["tools"]:
        offer("host_" + tool["name"], tool, "/tools/" + tool["name"], lambda arguments: arguments)
    for i, server in enumerate(turn["mcp"]):
        for tool in server["tools"]:
            offer("mcp_%d_%s" % (i, tool["name"]), tool, "/mcp/" + server["server"],
                  lambda arguments, name=tool["name"]: {"method": "tools/call",
                                                        "params": {"name": name, "arguments": arguments}})
    return specs, routes


def run_call(call, routes):
    function = call.get("function") if isinstance(call, dict) else None
    function = function if isinstance(function, dict) else {}
    try:
        path, wrap = routes[function.get("name")]
        arguments = function.get("arguments")
        arguments = json.loads(arguments) if isinstance(arguments, str) else arguments
        if not isinstance(arguments, dict):
            return REFUSED
        return json.dumps(post(path, wrap(arguments)), ensure_ascii=False)[:MAX_CONTENT]
    except (KeyError, TypeError, ValueError, RecursionError, Failed):
        return REFUSED


def show_call(call, number, routes):
    """A call as the next request may show it, whatever the model gave."""
    function = call.get("function") if isinstance(call, dict) else None
    function = function if isinstance(function, dict) else {}
    name = function.get("name")
    arguments = function.get("arguments")
    if isinstance(arguments, dict):
        arguments = json.dumps(arguments)
    if not isinstance(arguments, str) or len(arguments) > 2000:
        arguments = '{"omitted":"not shown"}'
    return {"id": "call_%d" % number, "type": "function",
            "function": {"name": name if isinstance(name, str) and name in routes else "invalid_tool",
                         "arguments": arguments}}


def units(text):
    """UTF-16 code units, in which the contract counts."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def talk(turn, messages):
    """The final text, or None when the model calls are spent."""
    specs, routes = offers(turn)
    number = 0
    for _ in range(MODEL_CALLS):
        answer = post("/model", {"model": turn["model"], "messages": messages, "tools": specs})
        try:
            message = answer["choices"][0]["message"]
            calls, content = message.get("tool_calls"), message.get("content")
        except (KeyError, IndexError, TypeError, AttributeError) as error:
            raise Failed("the model's answer has no message") from error
        if not isinstance(calls, list) or not calls:
            if not isinstance(content, str) or not content.strip(BLANKS) or units(content) > 100000:
                raise Failed("the model's answer has no text")
            return content.strip(BLANKS)
        if len(calls) > 8:
            raise Failed("too many calls")
        shown = [show_call(call, number + i, routes) for i, call in enumerate(calls)]
        number += len(calls)
        messages.append({"role": "assistant", "content": content[:MAX_CONTENT] if isinstance(content, str) else "",
                         "tool_calls": shown})
        messages.extend({"role": "tool", "tool_call_id": one["id"], "content": run_call(call, routes)}
                        for one, call in zip(shown, calls))
    return None


def run(turn):
    try:
        now = datetime.datetime.now(zoneinfo.ZoneInfo(turn["timeZone"]))
    except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError) as error:
        raise Failed("the time zone is unknown") from error
    os.makedirs(WORKSPACE, exist_ok=True)
    history = read_history(turn)
    user = json.dumps({"speaker": turn["speaker"], "message": turn["text"]}, ensure_ascii=False)
    system = "%s\nIt is now %s.\nDisplay names are labels that anyone may choose." % (turn["prompt"],
                                                                                     now.strftime("%A, %d %B %Y %H:%M"))
    text = talk(turn, [{"role": "system", "content": system}, *history, {"role": "user", "content": user}])
    if text is None:
        return False, "This took more steps than one turn has."
    write_history(history + [{"role": "user", "content": user[:MAX_CONTENT]},
                             {"role": "assistant", "content": text[:MAX_CONTENT]}])
    return True, text


def main():
    status = 0
    try:
        turn = read_turn()
        if turn is None:
            return 1
        ok, text = run(turn)
    except Failed as error:
        print("worker: %s" % error, file=sys.stderr)
        ok, text, status = False, "Something went wrong.", 1
    # A lone surrogate would not survive as UTF-8, so all but ASCII is escaped.
    print(json.dumps({"ok": ok, "text": text}), flush=True)
    return status


sys.exit(main())
