# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""Wire contract 2.4 and 2.6: seeded random changes of good requests, judged by a second reading of the text."""

import copy
import random
import re

from broker_schema import LISTS, MAPS, ONE_OR_MORE, REFERENCES, is_local
from build import KINDS, SERVED, case, pinned, refused, sent

SEED = 20261130
BATCHES = 25
PER_BATCH = 12
ODD = list(KINDS.values()) + [
    "function", "assistant", "user", "tool", "f", "F", "f\n", "#", "#/a", "https://x", 1.5, [None], {"a": 1}, [{}], True
]

# --- the text of 2.4 ---


def is_text(value):
    return isinstance(value, str)


def is_id(value):
    return is_text(value) and 1 <= len(value.encode("utf-16-le", "surrogatepass")) // 2 <= 128


def is_name(value):
    return is_text(value) and re.fullmatch(r"[a-z][a-z0-9_]{0,63}", value) is not None


def passed_call(call):
    """What is passed on of a call, or None."""
    if not isinstance(call, dict) or call.get("type") != "function" or not is_id(call.get("id")) or not isinstance(
            call.get("function"), dict):
        return None
    function = call["function"]
    if not is_name(function.get("name")) or not is_text(function.get("arguments")):
        return None
    return {"id": call["id"], "type": "function", "function": {"name": function["name"], "arguments": function["arguments"]}}


def passed_message(message):
    if not isinstance(message, dict) or not is_text(message.get("role")) or message["role"] not in ("system", "user", "assistant",
                                                                                                    "tool"):
        return None
    role = message["role"]
    allowed = {"role", "content"
               } | ({"tool_calls"} if role == "assistant" else set()) | ({"tool_call_id"} if role == "tool" else set())
    if not is_text(message.get("content")) or set(message) - allowed or (role == "tool"
                                                                         and not is_id(message.get("tool_call_id"))):
        return None
    passed = dict(message)
    if "tool_calls" in message:
        calls = message["tool_calls"]
        if not isinstance(calls, list) or len(calls) > 8:
            return None
        passed["tool_calls"] = [passed_call(call) for call in calls]
        if None in passed["tool_calls"]:
            return None
    return passed


def passed_tool(tool):
    if not isinstance(tool, dict) or tool.get("type") != "function" or not isinstance(tool.get("function"), dict):
        return None
    function = tool["function"]
    if not is_name(function.get("name")) or not is_text(function.get("description")) or not isinstance(
            function.get("parameters"), dict):
        return None
    if not is_local(function["parameters"]):
        return None
    return {"type": "function", "function": {name: function[name] for name in ("name", "description", "parameters")}}


def passed_body(body):
    """What goes to the endpoint, or None where the body is refused."""
    if not isinstance(body.get("messages"), list) or len(body["messages"]) > 128:
        return None
    messages = [passed_message(message) for message in body["messages"]]
    if None in messages:
        return None
    if "tools" not in body:
        return pinned(messages)
    if not isinstance(body["tools"], list) or len(body["tools"]) > 128:
        return None
    tools = [passed_tool(tool) for tool in body["tools"]]
    if None in tools or len({tool["function"]["name"] for tool in tools}) < len(tools):
        return None
    return pinned(messages, tools=tools)


# --- requests ---


def random_schema(chance, depth=0):
    if depth > 3 or chance.random() < 0.15:
        return chance.choice([True, False, {}, {"type": "string"}])
    schema = {}
    for _ in range(chance.randint(0, 3)):
        keyword = chance.choice(REFERENCES + MAPS + ONE_OR_MORE + LISTS + ["dependencies", "enum", "default", "required"])
        if keyword in REFERENCES:
            schema[keyword] = chance.choice(["#", "#/a"])
        elif keyword in MAPS or keyword == "dependencies":
            schema[keyword] = {
                name: random_schema(chance, depth + 1) for name in chance.sample(["a", "$ref", "items", "\u00e9"], 2)
            }
        elif keyword in LISTS or chance.random() < 0.3:
            schema[keyword] = [random_schema(chance, depth + 1) for _ in range(chance.randint(0, 2))]
        elif keyword in ONE_OR_MORE:
            schema[keyword] = random_schema(chance, depth + 1)
        else:
            schema[keyword] = chance.choice(ODD)
    return schema


def random_body(chance):

    def call(i):
        return {
            "id": chance.choice(["a", "\U0001f600" * 64, f"c{i}"]), "type": "function", "function":
            {"name": chance.choice(["f", "a_1", "x" * 64]), "arguments": chance.choice(["", "{}", "no"])}
        }

    messages = []
    for _ in range(chance.randint(0, 5)):
        role = chance.choice(["system", "user", "assistant", "tool"])
        message = {"role": role, "content": chance.choice(["", "hi", "\u00e9\u4e01\U0001f600\n\"\\"])}
        if role == "tool":
            message["tool_call_id"] = chance.choice(["a", "i" * 128])
        if role == "assistant" and chance.random() < 0.6:
            message["tool_calls"] = [call(i) for i in range(chance.randint(0, 8))]
        messages.append(message)
    body = {"messages": messages}
    if chance.random() < 0.7:
        body["tools"] = []
        for i in range(chance.randint(0, 4)):
            parameters = random_schema(chance)
            body["tools"].append({
                "type": "function", "function": {
                    "name": f"f{i}", "description": chance.choice(["", "d"]), "parameters":
                    parameters if isinstance(parameters, dict) else {}
                }
            })
    return body


def places(value, found):
    """Every object and list below value."""
    if isinstance(value, (dict, list)):
        found.append(value)
        for child in value.values() if isinstance(value, dict) else value:
            places(child, found)
    return found


def change(chance, body):
    """One change somewhere: another value, one less, one more, one from elsewhere."""
    found = [place for place in places(body, []) if place is not body or chance.random() < 0.2]
    place = chance.choice(found or [body])
    keys = list(place) if isinstance(place, dict) else list(range(len(place)))
    kind = chance.randrange(4)
    if kind == 0 and keys:
        place[chance.choice(keys)] = copy.deepcopy(chance.choice(ODD))
    elif kind == 1 and keys:
        del place[chance.choice(keys)]
    elif isinstance(place, dict):
        place[chance.choice([
            "role", "content", "tool_calls", "tool_call_id", "id", "type", "function", "name", "arguments", "x", "$ref", "items",
            "allOf"
        ])] = copy.deepcopy(chance.choice(ODD))
    elif kind == 2 or not place:
        place.append(copy.deepcopy(chance.choice(ODD)))
    else:
        place.append(copy.deepcopy(chance.choice(place)))


def batch(number):
    chance = random.Random(SEED + number)
    pairs, last = [], None
    while len(pairs) < PER_BATCH or last is None:
        body = random_body(chance)
        for _ in range(chance.choice([0, 1, 1, 2])):
            change(chance, body)
        last = passed_body(body)
        pairs.append(({"body": body}, refused(400) if last is None else SERVED))
    case("random",
         str(number),
         "random changes of good requests",
         requests=[p[0] for p in pairs],
         expect=[p[1] for p in pairs],
         expect_upstream={**sent(last), "calls": sum(p[1] is SERVED for p in pairs), "routes": {}})


def add():
    for number in range(BATCHES):
        batch(number)
