# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""What cases are put together from. A case is a line in the format of ../vectors/README.md."""

import base64

KEY = "host-secret-4f9c2a7e/+="
MCP_KEY = "mcp-secret-77"
DUMMY = "Bearer sandbox-dummy-key"
ELSEWHERE = "https://elsewhere.example/schema"
# One of each JSON kind, by name.
KINDS = {"null": None, "true": True, "false": False, "number": 5, "text": "text", "empty": "", "list": [], "object": {}}
# The same value more than once tells nothing new: fewer requests than the budget of one broker.
PER_CASE = 40

made = []


def case(area, name, about, **members):
    """Adds one case."""
    made.append({"area": area, "id": f"{area}-{name}", "about": about, **members})


def finish():
    """All cases added so far, each id once."""
    ids = [one["id"] for one in made]
    twice = sorted({name for name in ids if ids.count(name) > 1})
    assert not twice, f"used twice: {twice}"
    return made


def kinds_but(*names):
    return {name: value for name, value in KINDS.items() if name not in names}


# --- broker ---


def refused(*statuses):
    """An expectation: one of these statuses, with a body that says nothing."""
    return {"status": statuses[0] if len(statuses) == 1 else list(statuses), "body_is_generic": True}


SERVED = {"status": 200}


def one(area, name, about, request, expect, **more):
    """A case of one request. Nothing may have gone upstream where it is refused."""
    if "expect_upstream" not in more and expect["status"] != 200:
        more["expect_upstream"] = {"calls": [0, 1] if 200 in listed(expect["status"]) else 0}
    case(area, name, about, requests=[request], expect=[expect], **more)


def listed(statuses):
    return statuses if isinstance(statuses, list) else [statuses]


def many(area, name, about, pairs, **more):
    """Requests with their expectations, in as many cases as the budget of a broker asks for."""
    for start in range(0, len(pairs), PER_CASE):
        part = pairs[start:start + PER_CASE]
        number = "" if len(pairs) <= PER_CASE else f"-{start // PER_CASE}"
        case(area, name + number, about, requests=[p[0] for p in part], expect=[p[1] for p in part], **more)


def raw(text, body='{"messages":[]}', length=None, half_close=True):
    """A request as bytes: text is all up to the length's field, without its line end."""
    length = len(body) if length is None else length
    request = {"raw_parts": [f"{text}\r\ncontent-length: {length}\r\n\r\n{body}"]}
    return dict(request, half_close=True) if half_close else request


HEAD = f"host: broker\r\ncontent-type: application/json\r\nauthorization: {DUMMY}"


def pinned(messages, **more):
    """What goes to the model endpoint for these messages."""
    return {"model": "test-model", "messages": messages, "stream": False, "max_tokens": 4096, **more}


def sent(body):
    return {"calls": 1, "routes": {"model": 1}, "json_equals": body}


def user(content="hi"):
    return {"role": "user", "content": content}


def tool(name="f", description="d", parameters=None, **more):
    function = {"name": name, "description": description, "parameters": parameters or {"type": "object"}}
    return {"type": "function", "function": function, **more}


def mcp(name="search", arguments=None, **more):
    return {"method": "tools/call", "params": {"name": name, "arguments": arguments or {}}, **more}


def b64(data):
    return base64.b64encode(data).decode()


# --- worker ---

CLOCK = {"name": "clock", "description": "Read the time", "parameters": {"type": "object"}}
DOCS = {"server": "docs", "tools": [{"name": "search", "description": "Search", "parameters": {"type": "object"}}]}


def turn(**members):
    whole = {
        "text": "Hello", "speaker": {"id": "alice", "name": "Alice"}, "model": "test-model", "prompt": "Answer kindly",
        "timeZone": "UTC", "tools": [], "mcp": []
    }
    whole.update(members)
    return {name: value for name, value in whole.items() if value is not Ellipsis}


def call(name="memory_get", arguments='{"scope":"channel"}', id="c"):
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def calls(*given, **more):
    """The model's answer with calls, each (id, name, arguments)."""
    return {"on": "/model", "calls": [list(call) if isinstance(call, tuple) else call for call in given], **more}


def done(text="Done."):
    return {"on": "/model", "reply": text}


def answer(message, **choice):
    return {"on": "/model", "json": {"choices": [{"message": message, **choice}]}}


def ends_well(text="Done.", **more):
    return {"exit": 0, "reply": {"ok": True, "text": text}, **more}


def fails(n_requests=0, **more):
    return {"exit": 1, "ok": False, "request_count": n_requests, **more}


def worker(area, name, about, script, expect, **more):
    if "stdin_text" not in more and "stdin_b64" not in more:
        more.setdefault("turn", turn())
    case(area, name, about, script=script, expect=expect, **more)


def refused_turn(name, about, **members):
    worker("turn", name, about, [], fails(0), turn=turn(**members))
