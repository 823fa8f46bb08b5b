# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""Wire contract 3.6 and 3.7 in whole turns: seeded random answers of a model, beside a second reading of the text."""

import json
import random

from build import CLOCK, DOCS, done, ends_well, fails, turn, worker

SEED = 20261129
TURNS = 60
BLANKS = "\t\n\x0b\x0c\r \xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(chr(n) for n in range(0x2000, 0x200b))
PATHS = {"host_clock": "/tools/clock", "mcp_0_search": "/mcp/docs"}
OFFERED = ["invalid_tool", "memory_set", "memory_get", "memory_remove", *PATHS]
NAMES = OFFERED * 3 + ["nothing", "", "Host_clock", "search", None, 5, {}]
IDS = [
    "a", "b", "c", "call_0_0", "call_0_1", "call_1_0", "call_1_0_1", "", "i" * 128, "i" * 129, None, 7, "\U0001f600" * 64,
    "\U0001f600" * 65
]
WORDS = ["plum", "Fig", "\u00c4pfel", " ", "", "choir \u4e01", "\U0001f600", "k" * 128, "k" * 129, '"\\\n']
REFUSED = {"refusal": True}
SAVED = {"ack": True}


def units(text):
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


class Reference:
    """A worker's state in a turn, by the text."""

    def __init__(self, entries):
        self.entries = list(entries)
        self.written = False
        self.used = set()

    def choose_id(self, given, step, place):
        chosen = given
        if not isinstance(given, str) or not 1 <= units(given) <= 128 or given in self.used:
            chosen = made = f"call_{step}_{place}"
            more = 0
            while chosen in self.used:
                more += 1
                chosen = f"{made}_{more}"
        self.used.add(chosen)
        return chosen

    def memory(self, tool, given):
        """The check of a memory tool's result."""
        scope = {"speaker": "speaker:alice", "channel":
                 "channel"}.get(given.get("scope") if isinstance(given.get("scope"), str) else "")
        key = given.get("key")
        key = key.strip(BLANKS) if isinstance(key, str) else None
        if scope is None or (key is not None and not 1 <= units(key) <= 128):
            return REFUSED
        if tool == "memory_get":
            query = given.get("query") if isinstance(given.get("query"), str) else ""
            found = [{"key": e["key"], "text": e["text"]} for e in self.entries
                     if e["scope"] == scope and key in (None, e["key"]) and query.lower() in f"{e['key']} {e['text']}".lower()]
            return {"is": compact(found)}
        text = given.get("text")
        if key is None or (tool == "memory_set" and (not isinstance(text, str) or not text.strip(BLANKS) or units(text) > 2048)):
            return REFUSED
        rest = [e for e in self.entries if (e["scope"], e["key"]) != (scope, key)]
        if tool == "memory_set":
            rest.append({"scope": scope, "key": key, "text": text})
            if len(rest) > 256:
                return REFUSED
        self.entries, self.written = rest, True
        return SAVED


def random_arguments(chance, name):
    """A text of arguments, and the object that it holds or None."""
    kind = chance.randrange(12)
    if kind == 0:
        return chance.choice(["", "null", "[]", "{", '{"a":1,}', "{} {}", "1", '"{}"']), None
    if kind == 1:
        return None, None
    given = {}
    if isinstance(name, str) and name.startswith("memory"):
        given["scope"] = chance.choice(["speaker", "channel", "channel", "speaker", "Channel", None, 1])
        for member in ("key", "text", "query"):
            if chance.random() < 0.8:
                given[member] = chance.choice(WORDS + [None, 3])
    else:
        given = {
            chance.choice(WORDS): chance.choice([1, None, [True], {"a": "\u00e9"}, "x" * 50]) for _ in range(chance.randrange(3))
        }
        if chance.random() < 0.1:
            given["long"] = "x" * 2100
    return (given if kind == 2 else compact(given) if kind < 8 else json.dumps(given, indent=1)), given


def random_call(chance):
    """A call as the model gives it, with its name and the object of its arguments."""
    name = chance.choice(NAMES)
    text, given = random_arguments(chance, name)
    call = {
        "id": chance.choice(IDS), "type": chance.choice(["function", "tool", None]), "function":
        {"name": name, "arguments": text}
    }
    if chance.random() < 0.1:
        call["index"] = chance.randrange(3)
    if text is None and chance.random() < 0.5:
        del call["function"]["arguments"]
    return call, name, text, given


def shown_arguments(text):
    """The check of arguments in the context."""
    text = compact(text) if isinstance(text, dict) else text
    if text is None or len(compact(text).encode()) > 2048:
        return {"omitted": text or ""}
    return {"is": text}


def run_call(chance, state, name, given, script, requests):
    """The check of a call's result; what it asks of the broker goes to script and requests."""
    if given is None or name not in OFFERED or name == "invalid_tool":
        return REFUSED
    if name.startswith("memory"):
        return state.memory(name, given)
    path = PATHS[name]
    body = given if path.startswith("/tools") else {"method": "tools/call", "params": {"name": "search", "arguments": given}}
    requests.append({"path": path, "json": body})
    answer = chance.choice([{"text": "x"}, [], "t", None, 5, {"a": [1.5, "\u00e9"]}, Ellipsis])
    if answer is Ellipsis:
        script.append({"on": path, "status": chance.choice([400, 403, 502]), "text": "no"})
        return REFUSED
    script.append({"on": path, "json": answer})
    return {"is": compact(answer)}


def one_turn(number):
    chance = random.Random(SEED + number)
    state = Reference({"scope": chance.choice(["channel", "speaker:alice", "speaker:bob"]), "key": word, "text": word + " text"}
                      for word in chance.sample(WORDS, 5))
    files = {"memory.json": {"json": list(state.entries)}}
    script, requests, checks = [], [{}], []
    steps = chance.randint(1, 6)
    for step in range(steps):
        given = [random_call(chance) for _ in range(chance.randint(1, 8))]
        content = chance.choice([None, "", " Wait. ", 7, {}, "\u00e9" * 30])
        script.append(
            {"on": "/model", "json": {"choices": [{"message": {"content": content, "tool_calls": [one[0] for one in given]}}]}})
        place = 2 + sum(len(group) for group in checks)
        group = [[{"at": f"/messages/{place}/content", "is": content if isinstance(content, str) else ""}]]
        for i, (call, name, text, arguments) in enumerate(given):
            at = f"/messages/{place}/tool_calls/{i}"
            own_id = state.choose_id(call["id"], step, i)
            group[0] += [{"at": at, "keys": ["id", "type", "function"]}, {"at": f"{at}/id", "is":
                                                                          own_id}, {"at": f"{at}/type", "is": "function"},
                         {"at": f"{at}/function/name", "is": name if name in OFFERED else "invalid_tool"},
                         {"at": f"{at}/function/arguments", **shown_arguments(text)}]
            tool = f"/messages/{place + 1 + i}"
            group.append([{"at": f"{tool}/role", "is": "tool"}, {"at": f"{tool}/tool_call_id", "is": own_id}])
        for i, (_, name, _, arguments) in enumerate(given):
            group[1 + i].append(
                {"at": f"/messages/{place + 1 + i}/content", **run_call(chance, state, name, arguments, script, requests)})
        checks.append(group)
        requests.append({
            "checks": [check for whole in checks for message in whole
                       for check in message] + [{"at": "/messages", "len": 2 + sum(len(whole) for whole in checks)}]
        })
    kept = {"memory.json": {"json": state.entries}} if state.written else {"memory.json": {"unchanged": True}}
    if chance.random() < 0.2:
        script.append({"on": "/model", "status": 502, "text": "no"})
        expect = fails(len(requests), requests=requests, files={**kept, "history.json": {"absent": True}})
    else:
        script.append(done())
        expect = ends_well(requests=requests, files=kept)
    worker("random", str(number), "a turn of random answers", script, expect, turn=turn(tools=[CLOCK], mcp=[DOCS]), files=files)


def add():
    for number in range(TURNS):
        one_turn(number)
