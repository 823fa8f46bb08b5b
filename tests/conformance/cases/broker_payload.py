# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""Wire contract 2.4 to 2.6: what each route takes."""

from build import ELSEWHERE, KINDS, SERVED, kinds_but, many, mcp, one, pinned, refused, sent, tool, user

TOOL = "/tools/clock"

# --- 2.4 ---


def messages():
    area = "model"
    roles = ("system", "user", "assistant", "tool")
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}

    def of(role, /, **more):
        message = {"role": role, "content": "x", **({"tool_call_id": "a"} if role == "tool" else {})}
        message.update(more)
        return message

    def ask(message):
        return {"body": {"messages": [message]}}

    for role in roles:
        many(area,
             f"content-{role}",
             f"content of {role} is text",
             [(ask(of(role, content=value)), refused(400)) for value in kinds_but("text", "empty").values()],
             expect_upstream={"calls": 0})
        for name in ("text", "empty"):
            message = of(role, content=KINDS[name])
            one(area,
                f"content-{role}-{name}",
                "text of any length",
                ask(message),
                SERVED,
                expect_upstream=sent(pinned([message])))
        others = [
            "name", "refusal", "annotations", "function_call", "audio", "reasoning", "id", "Role", "CONTENT", "tool_calls_", "",
            "role ", "index", "metadata"
        ]
        many(area,
             f"member-{role}",
             "no other members", [(ask(of(role, **{name: "x"})), refused(400)) for name in others],
             expect_upstream={"calls": 0})
        ids = [(ask(of(role, tool_call_id=value)), SERVED if role == "tool" and value == "text" else refused(400))
               for value in KINDS.values()]
        many(area, f"call-id-{role}", "tool_call_id is of tool messages", ids)
        lists = [(ask(of(role, tool_calls=value)), SERVED if role == "assistant" and value == [] else refused(400))
                 for value in KINDS.values()]
        many(area, f"calls-{role}", "tool_calls is a list, of assistant messages", lists)
        if role != "assistant":
            one(area, f"calls-full-{role}", "calls of another role", ask(of(role, tool_calls=[call])), refused(400))
    wrong = ["Assistant", "USER", "function", "developer", "assistant ", " user", "user\n", "tools", "human", "ai", "model"]
    many(area,
         "role-wrong",
         "roles that there are not", [(ask(of("user", role=role)), refused(400)) for role in wrong],
         expect_upstream={"calls": 0})
    many(area,
         "role-kind",
         "a role is text", [(ask(of("user", role=value)), refused(400)) for value in kinds_but("text").values()],
         expect_upstream={"calls": 0})
    many(area,
         "message-kind",
         "a message is an object", [(ask(value), refused(400)) for name, value in KINDS.items()],
         expect_upstream={"calls": 0})
    one(area, "tool-id-none", "a tool message without its id", ask({"role": "tool", "content": "x"}), refused(400))
    one(area,
        "calls-empty",
        "an empty list of calls is passed on",
        ask(of("assistant", tool_calls=[])),
        SERVED,
        expect_upstream=sent(pinned([of("assistant", tool_calls=[])])))
    for units, text in {
            0: "", 1: "i", 127: "i" * 127, 128: "i" * 128, 129: "i" * 129, "wide-2": "😀", "wide-128": "😀" * 64, "wide-129":
            "😀" * 64 + "i", "three-byte-128": "丁" * 128, "three-byte-129": "丁" * 129
    }.items():
        fine = text != "" and len(text.encode("utf-16-le")) <= 256
        expect = SERVED if fine else refused(400)
        as_call, as_tool = of("assistant", tool_calls=[dict(call, id=text)]), of("tool", tool_call_id=text)
        one(area,
            f"id-call-{units}",
            "an id of 1 to 128 units",
            ask(as_call),
            expect,
            expect_upstream=sent(pinned([as_call])) if fine else {"calls": 0})
        one(area,
            f"id-tool-{units}",
            "an id of 1 to 128 units",
            ask(as_tool),
            expect,
            expect_upstream=sent(pinned([as_tool])) if fine else {"calls": 0})
    for name, text in {"blank": " ", "line-end": "a\n", "quotes": '"\\', "control": "\x01"}.items():
        message = of("tool", tool_call_id=text)
        one(area,
            f"id-odd-{name}",
            "an id may hold any characters",
            ask(message),
            SERVED,
            expect_upstream=sent(pinned([message])))

    def with_call(**changes):
        return ask(of("assistant", tool_calls=[{**call, **changes}]))

    def with_function(**changes):
        return with_call(function={**call["function"], **changes})

    many(area,
         "call-kind",
         "a call is an object", [(ask(of("assistant", tool_calls=[value])), refused(400)) for value in KINDS.values()],
         expect_upstream={"calls": 0})
    for member in ("id", "type"):
        many(area,
             f"call-{member}-kind",
             f"{member} of a call is text",
             [(with_call(**{member: value}), refused(400)) for value in kinds_but("text").values()],
             expect_upstream={"calls": 0})
    many(area,
         "call-type",
         "the type is function",
         [(with_call(type=value), refused(400)) for value in ("custom", "functions", "function ", "FUNCTION", "mcp", "tool")],
         expect_upstream={"calls": 0})
    many(area,
         "call-function-kind",
         "function is an object", [(with_call(function=value), refused(400)) for value in KINDS.values()],
         expect_upstream={"calls": 0})
    for member in ("id", "type", "function"):
        one(area, f"call-without-{member}", "a call has three members",
            ask(of("assistant", tool_calls=[{k: v for k, v in call.items() if k != member}])), refused(400))
    for member in ("name", "arguments"):
        one(area, f"call-function-without-{member}", "a function has two members",
            with_call(function={k: v for k, v in call["function"].items() if k != member}), refused(400))
        many(area,
             f"call-{member}-kind",
             f"{member} is text",
             [(with_function(**{member: value}), refused(400)) for value in kinds_but("text", "empty").values()],
             expect_upstream={"calls": 0})
    many(area,
         "call-name",
         "names that break the rule", [(with_function(name=name), refused(400))
                                       for name in ("", "a\n", "a ", " a", "1", "_a", "A", "a-b", "a.b", "a/b", "a:b", "é", "aé",
                                                    "a\x00", "f" * 65, "😀", "a\u0131")],
         expect_upstream={"calls": 0})
    for name in ("a", "a_", "a1", "z9_", "f" * 63, "f" * 64):
        message = of("assistant", tool_calls=[{**call, "function": {"name": name, "arguments": ""}}])
        one(area,
            f"call-name-fine-{len(name)}-{name[-1]}",
            "names within the rule",
            ask(message),
            SERVED,
            expect_upstream=sent(pinned([message])))
    for name, text in {
            "empty": "", "words": "not json", "list": "[1]", "long": "x" * 100000, "unicode": "😀\x7f\u2028é", "controls":
            '\x01\x1f\t\r\n"\\/'
    }.items():
        message = of("assistant", tool_calls=[{**call, "function": {"name": "f", "arguments": text}}])
        one(area, f"arguments-{name}", "arguments are any text", ask(message), SERVED, expect_upstream=sent(pinned([message])))
    for n in (1, 2, 7, 8):
        message = of("assistant", tool_calls=[dict(call, id="same") for _ in range(n)])
        one(area, f"calls-equal-{n}", "calls may have equal ids", ask(message), SERVED, expect_upstream=sent(pinned([message])))
    for n in (9, 10, 128):
        one(area, f"calls-over-{n}", "more than eight calls", ask(of("assistant", tool_calls=[call] * n)), refused(400))
    extra = {**call, "index": 0, "extra": {"a": 1}, "function": {**call["function"], "strict": True, "url": ELSEWHERE}}
    one(area,
        "call-extra",
        "other members of a call are dropped",
        ask(of("assistant", tool_calls=[extra])),
        SERVED,
        expect_upstream=sent(pinned([of("assistant", tool_calls=[call])])))
    for n, expect in ((1, SERVED), (127, SERVED), (128, SERVED), (129, refused(400)), (500, refused(400))):
        one(area,
            f"messages-{n}",
            "0 to 128 messages", {"body": {"messages": [user()] * n}},
            expect,
            expect_upstream=sent(pinned([user()] * n)) if expect is SERVED else {"calls": 0})
    many(area,
         "messages-kind",
         "messages is a list", [({"body": {"messages": value}}, refused(400)) for value in kinds_but("list").values()],
         expect_upstream={"calls": 0})
    one(area, "messages-last-bad", "the last of many is looked at too", {"body": {"messages": [user()] * 127 + [user(None)]}},
        refused(400))
    one(area,
        "members-in-any-order",
        "members of a message may come in any order", {"body_text": '{"messages":[{"content":"hi","role":"user"}]}'},
        SERVED,
        expect_upstream=sent(pinned([user()])))
    texts = ["a\x00b", "\x01\x1f\x7f\u2028\u2029", "é丁😀\uffff", '"}],"model":"x', "x" * 200000]
    for i, text in enumerate(texts):
        one(area,
            f"text-{i}",
            "content is passed on as it is",
            ask(user(text)), {"status": [200, 400, 502]} if "\x00" in text else SERVED,
            expect_upstream=sent(pinned([user(text)])) if "\x00" not in text else {"calls": [0, 1]})


def tools():
    area = "model"

    def ask(*given):
        return {"body": {"messages": [], "tools": list(given)}}

    many(area,
         "tools-kind",
         "tools is a list", [({"body": {"messages": [], "tools": value}}, refused(400)) for value in kinds_but("list").values()],
         expect_upstream={"calls": 0})
    many(area,
         "tool-kind",
         "a tool is an object", [(ask(value), refused(400)) for value in KINDS.values()],
         expect_upstream={"calls": 0})
    many(area,
         "tool-type",
         "the type is function",
         [(ask(tool(type=value)), refused(400))
          for value in list(KINDS.values()) + ["Function", "function ", "custom", "mcp", "web_search", "computer_use_preview"]],
         expect_upstream={"calls": 0})
    many(area,
         "tool-function-kind",
         "function is an object", [(ask({"type": "function", "function": value}), refused(400)) for value in KINDS.values()],
         expect_upstream={"calls": 0})
    for member in ("name", "description", "parameters"):
        function = {k: v for k, v in tool()["function"].items() if k != member}
        one(area, f"tool-without-{member}", "a function has three members", ask({"type": "function", "function": function}),
            refused(400))
    one(area, "tool-without-type", "a tool has a type", ask({"function": tool()["function"]}), refused(400))

    def with_function(**changes):
        return ask({"type": "function", "function": {**tool()["function"], **changes}})

    many(area,
         "tool-description-kind",
         "a description is text",
         [(with_function(description=value), refused(400)) for value in kinds_but("text", "empty").values()],
         expect_upstream={"calls": 0})
    many(area,
         "tool-parameters-kind",
         "parameters is an object", [(with_function(parameters=value), refused(400)) for value in kinds_but("object").values()],
         expect_upstream={"calls": 0})
    many(
        area,
        "tool-name",
        "names that break the rule",
        [(with_function(name=name), refused(400))
         for name in list(kinds_but("text").values()) + ["a\n", "a ", " a", "1", "_", "A", "a-b", "a.b", "é", "f" * 65, "a\x00"]],
        expect_upstream={"calls": 0})
    for name in ("a", "a_9", "f" * 63, "f" * 64):
        one(area,
            f"tool-name-fine-{len(name)}",
            "names within the rule",
            ask(tool(name)),
            SERVED,
            expect_upstream=sent(pinned([], tools=[tool(name)])))
    one(area, "tool-equal", "no two equal names", ask(tool("a"), tool("b"), tool("a")), refused(400))
    one(area,
        "tool-near",
        "names that are nearly equal",
        ask(tool("a"), tool("a_"), tool("aa")),
        SERVED,
        expect_upstream=sent(pinned([], tools=[tool("a"), tool("a_"), tool("aa")])))
    for n, expect in ((1, SERVED), (127, SERVED), (128, SERVED), (129, refused(400))):
        given = [tool(f"f{i}") for i in range(n)]
        one(area,
            f"tools-{n}",
            "0 to 128 tools",
            ask(*given),
            expect,
            expect_upstream=sent(pinned([], tools=given)) if expect is SERVED else {"calls": 0})
    one(area, "tools-129-equal", "129 tools of one name", ask(*[tool()] * 129), refused(400))
    one(area,
        "tool-dropped",
        "other members are dropped, parameters are whole",
        ask({**tool(parameters={"a": [1.5, None], "é": "x"}), "x": 1, "strict": True}),
        SERVED,
        expect_upstream=sent(pinned([], tools=[tool(parameters={"a": [1.5, None], "é": "x"})])))
    dropped = {
        "model": "other", "stream": True, "stream_options": {"include_usage":
                                                             True}, "max_tokens": 99999, "top_p": 1, "stop": ["x"], "tool_choice":
        "required", "parallel_tool_calls": True, "functions": [{}], "metadata": {"a": "b"}, "reasoning_effort": "high",
        "modalities": ["audio"], "Messages": [1], "tools ": 1, "messages ": None, "api_key": "x", "headers": {"a": "b"},
        "extra_body": {}, "__proto__": {"model": "x"}, "safety_identifier": "x", "verbosity": 1, "presence_penalty": 2, "": 1
    }
    for name, value in dropped.items():
        one(area,
            f"dropped-{name.strip() or 'empty'}-{len(name)}",
            "every other member is dropped, whatever it is", {"body": {"messages": [user()], name: value}},
            SERVED,
            expect_upstream=sent(pinned([user()])))
    one(area,
        "dropped-all",
        "all of them at once", {"body": {**dropped, "messages": [user()], "tools": []}},
        SERVED,
        expect_upstream=sent(pinned([user()], tools=[])))


# --- 2.5, 2.6 ---


def mcp_route():

    def ask(body, path="/mcp/docs"):
        return {"path": path, "body": body}

    area = "mcp"
    many(area,
         "method-kind",
         "the method is text", [(ask({**mcp(), "method": value}), refused(403)) for value in KINDS.values()],
         expect_upstream={"calls": 0})
    names = [
        "Tools/call", "tools/Call", "tools/call ", " tools/call", "tools/call\n", "tools/call\x00", "tools\\call", "tools/calls",
        "call", "notifications/cancelled", "ping", "logging/setLevel", "sampling/createMessage", "tools/call/", "/tools/call",
        "tools%2fcall", "prompts/list", "resources/templates/list", "elicitation/create", "tasks/cancel"
    ]
    many(area,
         "method-other",
         "no other method", [(ask({**mcp(), "method": value}), refused(403)) for value in names],
         expect_upstream={"calls": 0})
    many(area,
         "params-kind",
         "params is an object", [(ask({**mcp(), "params": value}), refused(403)) for value in KINDS.values()],
         expect_upstream={"calls": 0})
    one(area, "params-missing", "params is needed", ask({"method": "tools/call"}), refused(403))
    one(area, "empty", "an empty object", ask({}), refused(403))
    for member in ("name", "arguments"):
        params = {k: v for k, v in mcp()["params"].items() if k != member}
        one(area, f"without-{member}", f"{member} is needed", ask({"method": "tools/call", "params": params}), refused(403))
        fine = "object" if member == "arguments" else None
        many(area,
             f"kind-{member}",
             f"the kind of {member}", [(ask({"method": "tools/call", "params": {**mcp()["params"], member: value}}), refused(403))
                                       for name, value in KINDS.items() if name != fine],
             expect_upstream={"calls": 0})
    undeclared = [
        "Search", "SEARCH", "search\n", "search\x00", " search", "searc", "searchx", "docs.search", "mcp_0_search", "clock",
        "toString", "*", "search,fetch", "fetch/search"
    ]
    many(area,
         "undeclared",
         "a tool that the server does not declare", [(ask(mcp(name)), refused(403)) for name in undeclared],
         expect_upstream={"calls": 0})
    many(area,
         "batch",
         "lists are no request",
         [(ask(body), refused(400)) for body in ([], [mcp()], [mcp(), mcp()], [[]], "tools/call", 1, None, True)],
         expect_upstream={"calls": 0})
    for name, arguments in {
            "empty": {}, "deep": {"a": {"b": {"c": [{"d": [[[1]]]}]}}}, "nul-free": {"a": "\x01\x1f\x7f\u2028"}, "like-a-call":
            mcp("fetch"), "kinds": dict(KINDS), "names": {"": 1, " ": 2, "a.b": 3, "😀":
                                                          4}, "numbers": {"a": [0, -1, 1.5, 1e21, 1e-7, 123456789012]}
    }.items():
        one(area,
            f"kept-{name}",
            "arguments are passed on whole",
            ask(mcp("search", arguments)),
            SERVED,
            expect_upstream={
                "calls": 1, "routes": {"docs": 1}, "json_equals": {"jsonrpc": "2.0", "id": 1, **mcp("search", arguments)}
            })
    dropped = {
        "id": [None, 0, "x", [], {}], "jsonrpc": [None, "2.1", 2, {}], "_meta": [{"progressToken": 1}], "error": [{}], "method2":
        ["x"], "tools/call": [1]
    }
    for name, values in dropped.items():
        for i, value in enumerate(values):
            one(area,
                f"dropped-{name.replace('/', '-')}-{i}",
                "everything else is dropped",
                ask({**mcp("fetch", {"u": 1}), name: value}),
                SERVED,
                expect_upstream={"calls": 1, "json_equals": {"jsonrpc": "2.0", "id": 1, **mcp("fetch", {"u": 1})}})
    params = {"name": "search", "arguments": {"q": 1}, "_meta": {"progressToken": 1}, "cursor": "x", "Name": "delete"}
    one(area,
        "dropped-params",
        "params has two members",
        ask({"method": "tools/call", "params": params}),
        SERVED,
        expect_upstream={"calls": 1, "json_equals": {"jsonrpc": "2.0", "id": 1, **mcp("search", {"q": 1})}})
    one(area,
        "key-none",
        "a server without a key gets no credential",
        ask(mcp("ping"), "/mcp/open"),
        SERVED,
        expect_upstream={
            "calls": 1, "routes": {"open": 1}, "headers_absent": ["authorization", "host2"], "headers_lack":
            ["sandbox-dummy-key", "host-secret"]
        })
    one(area,
        "key-own",
        "a server gets its own key",
        ask(mcp()),
        SERVED,
        expect_upstream={
            "calls": 1, "headers_present": {"authorization": "Bearer mcp-secret-77"}, "headers_lack":
            ["sandbox-dummy-key", "host-secret"]
        })


def tool_route():
    for value in ("é丁😀", "\x01\x7f\u2028", '"\\/', "x" * 50000, " ", ""):
        body = {"a": value, value[:40]: [value]}
        one("tools",
            f"echo-{value[:1].encode().hex() or 'empty'}-{len(value)}",
            "the input reaches the tool as it is", {"path": "/tools/echo", "body": body},
            dict(SERVED, text_json={"input": body, "channel": "test:guests", "speaker": {"id": "guest-1", "name": "Guest One"}}),
            expect_upstream={"calls": 0})
    one("tools", "echo-large", "an input as large as a body may be",
        {"path": "/tools/echo", "body_repeat": {"prefix": '{"a":"', "char": "x", "count": 262136, "suffix": '"}'}}, SERVED)
    one("tools", "over", "one byte more",
        {"path": "/tools/echo", "body_repeat": {"prefix": '{"a":"', "char": "x", "count": 262137, "suffix": '"}'}}, refused(502))
    one("tools", "huge", "a result over 1 MiB", {"path": "/tools/huge", "body": {}}, refused(502))
    one("tools", "empty-body", "no body is no JSON", {"path": TOOL, "body_text": ""}, refused(502))


def add():
    for part in (messages, tools, mcp_route, tool_route):
        part()
