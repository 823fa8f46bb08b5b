# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""Wire contract 3.4 and 3.6: the model's answers, its calls and their results."""

import json

from build import CLOCK, DOCS, KINDS, answer, call, calls, done, ends_well, fails, kinds_but, turn, worker

TOOLS = {"tools": [CLOCK], "mcp": [DOCS]}


def final():
    for kind, value in KINDS.items():
        if kind != "object":
            worker("answer", f"body-{kind}", "an answer is an object", [{"on": "/model", "json": value}], fails(1))
        worker("answer", f"choices-{kind}", "choices is a list with an object in front",
               [{"on": "/model", "json": {"choices": value}}], fails(1))
        worker("answer", f"choice-{kind}", "a choice is an object with a message",
               [{"on": "/model", "json": {"choices": [value]}}], fails(1))
        worker("answer", f"message-{kind}", "a message is an object with content", [answer(value)], fails(1))
        if kind != "text":
            worker("answer", f"content-{kind}", "a final answer has text", [answer({"content": value})],
                   fails(1, files={"history.json": {"absent": True}}))
        if kind not in ("list", ):
            worker("answer", f"calls-{kind}", "calls that are no list count as none",
                   [answer({"content": "Done.", "tool_calls": value})], ends_well())
    for blank in ("\t", "\n", "\x0b", "\x0c", "\r", " ", "\xa0", "\u1680", "\u2000", "\u2007", "\u200a", "\u2028", "\u2029",
                  "\u202f", "\u205f", "\u3000", "\ufeff"):
        worker("answer", f"blank-{ord(blank):04x}", "blanks around a final text are cut",
               [done(f"{blank}a{blank}b{blank}{blank}")], ends_well(f"a{blank}b"))
        worker("answer", f"only-blank-{ord(blank):04x}", "blanks alone are no text", [done(blank * 3)], fails(1))
    for kept in ("\u200b", "\u180e", "\x85", "\u2060", "\x00", "\x1f", "\u200d"):
        worker("answer", f"no-blank-{ord(kept):04x}", "what is no blank stays", [done(f"{kept}a{kept}")],
               ends_well(f"{kept}a{kept}"))
    for name, text, fine in (("99999", "x" * 99999, True), ("100000", "x" * 100000, True), ("100001", "x" * 100001, False),
                             ("wide-100000", "\U0001f600" * 50000, True), ("wide-100001", "\U0001f600" * 50000 + "x", False),
                             ("wide-100002", "\U0001f600" * 50001, False), ("bytes-100001", "\u4e01" * 100001, False)):
        worker("answer", f"units-{name}", "at most 100,000 units", [done(text)], ends_well(text) if fine else fails(1))
    for reason in ("stop", "tool_calls", "end_turn", "", None, 7, "content_filter", "error"):
        worker("answer", f"reason-{reason or 'none'}-{reason is None}", "the reason that an answer ended does not count",
               [answer({"content": "Done."}, finish_reason=reason)], ends_well())
    worker("answer", "reason-stop-calls", "calls count, whatever the reason says",
           [answer({"content": None, "tool_calls": [call()]}, finish_reason="stop"),
            done()], ends_well(request_count=2))
    worker("answer", "second-choice", "only the first choice counts",
           [{"on": "/model", "json": {"choices": [{"message": {"content": "Done."}}, {"message": {"content": "Other."}}]}}],
           ends_well())
    worker("answer", "first-choice-bad", "also where the second would do",
           [{"on": "/model", "json": {"choices": [None, {"message": {"content": "Other."}}]}}], fails(1))
    worker("answer", "role-any", "the message's role does not count", [answer({"role": "user", "content": "Done."})], ends_well())
    worker("answer", "members-more", "other members do not count", [{
        "on": "/model", "json": {
            "id": "x", "error": None, "usage": {}, "choices":
            [{"index": 0, "message": {"content": "Done.", "refusal": None, "reasoning_content": "x"}, "logprobs": None}]
        }
    }], ends_well())
    worker("answer", "twice", "of two members of one name the last counts",
           [{"on": "/model", "text": '{"choices":[],"choices":[{"message":{"content":"No","content":"Done."}}]}'}], ends_well())
    worker("answer", "blanks", "blanks around an answer",
           [{"on": "/model", "text": '\n\n {"choices":[{"message":{"content":"Done."}}]} \n'}], ends_well())
    for name, text in {
            "two": "{}{}", "words": "no", "sse": 'data: {"choices":[]}\n\n', "nan":
            '{"choices":[{"message":{"content":"x"}}],"a":NaN}', "comma": '{"choices":[{"message":{"content":"x"}}],}', "trail":
            '{"choices":[{"message":{"content":"x"}}]}x'
    }.items():
        worker("answer", f"text-{name}", "an answer that is no JSON", [{"on": "/model", "text": text}], fails(1))
    good = '{"choices":[{"message":{"content":"no"}}]}'
    for status in (201, 202, 203, 206, 301, 304, 400, 401, 403, 404, 408, 410, 413, 418, 429, 431, 500, 501, 502, 503, 504, 599):
        worker("answer", f"status-{status}", "only status 200 is an answer, and there is no second try",
               [{"on": "/model", "status": status, "text": good}], fails(1, files={"history.json": {"absent": True}}))
    for name, n, fine in (("exact", 1048576, True), ("over", 1048577, False)):
        text = '{"choices":[{"message":{"content":"Done."}}],"x":"'
        worker("answer", f"size-{name}", "an answer of at most 1 MiB",
               [{"on": "/model", "text": text + "y" * (n - len(text) - 2) + '"}'}],
               ends_well() if fine else fails(1))
    worker("answer", "closed-second", "a broker that goes away later", [calls(call()), {"on": "/model", "close": True}],
           fails(2, files={"history.json": {"absent": True}}))


def many_calls():
    for n in (1, 2, 8):
        given = [call(id=f"c{i}") for i in range(n)]
        checks = [{"at": f"/messages/{3 + i}/tool_call_id", "is": f"c{i}"}
                  for i in range(n)] + [{"at": "/messages", "len": 3 + n}]
        worker("calls", f"count-{n}", f"{n} calls in one answer", [calls(*given), done()],
               ends_well(requests=[{}, {"checks": checks}]))
    for n in (9, 10, 100):
        worker("calls", f"count-{n}", "more than eight calls fail the turn before any is run",
               [calls(*[call("memory_set", '{"scope":"channel","key":"k","text":"v"}', id=f"c{i}") for i in range(n)])],
               fails(1, files={"memory.json": {"absent": True}}))
    odd = {
        "null": None, "text": "x", "list": [], "empty": {}, "id-only": {"id": "q"}, "function-list": {"function": []},
        "name-null": {"function": {"name": None, "arguments":
                                   "{}"}}, "name-object": {"function": {"name": {}, "arguments": "{}"}}
    }
    for name, value in odd.items():
        checks = [{"at": "/messages/2/tool_calls/0/function/name", "is":
                   "invalid_tool"}, {"at": "/messages/2/tool_calls/0/type", "is":
                                     "function"}, {"at": "/messages/3/content", "refusal": True},
                  {"at": "/messages/2/tool_calls/0/id", "is": "q" if name == "id-only" else "call_0_0"},
                  {"at": "/messages/2/tool_calls/0", "keys": ["id", "type", "function"]}]
        worker("calls", f"odd-{name}", "a call that is none is shown as the placeholder", [calls(value), done()],
               ends_well(requests=[{}, {"checks": checks}]))
    for value in KINDS.values():
        if value != "text":
            kind = type(value).__name__ + repr(value)[:5]
            worker(
                "calls", f"type-{kind}", "the type is written as function and not checked",
                [calls({**call(), "type": value}), done()],
                ends_well(requests=[{}, {
                    "checks": [{"at": "/messages/2/tool_calls/0/type", "is": "function"},
                               {"at": "/messages/3/content", "parsed": []}]
                }]))
            shown = value if isinstance(value, str) else ""
            worker(
                "calls", f"content-{kind}", "content beside calls is text, and anything else is empty text",
                [answer({"content": value, "tool_calls": [call()]}), done()],
                ends_well(requests=[{}, {
                    "checks": [{"at": "/messages/2/content", "is": shown},
                               {"at": "/messages/2", "keys": ["role", "content", "tool_calls"]}]
                }]))
    worker("calls", "content-none", "no content beside calls is empty text",
           [answer({"tool_calls": [call()]}), done()],
           ends_well(requests=[{}, {"checks": [{"at": "/messages/2/content", "is": ""}]}]))
    worker("calls", "content-blanks", "blanks beside calls are kept",
           [answer({"content": " \n", "tool_calls": [call()]}), done()],
           ends_well(requests=[{}, {"checks": [{"at": "/messages/2/content", "is": " \n"}]}]))
    names = [
        "", "memory_get ", "Memory_get", "memory-get", "memory_list", "host_", "host_clock\n", "host_Clock", "mcp_0_",
        "mcp_0_clock", "mcp_1_search", "mcp_-1_search", "mcp_0_search_", "mcp__search", "mcp_0", "mcp_0_fetch", "host_search",
        "tools_clock", "model", "x" * 64, "x" * 65, "toString"
    ]
    for i, name in enumerate(names):
        checks = [{"at": "/messages/2/tool_calls/0/function/name", "is": "invalid_tool"},
                  {"at": "/messages/3/content", "refusal": True}]
        worker("calls",
               f"name-{i}",
               f"{name!r:.30} is not offered", [calls(call(name, "{}")), done()],
               ends_well(requests=[{}, {"checks": checks}]),
               turn=turn(**TOOLS))
    ids = {
        "empty": ("", "call_0_0"), "one": ("i", "i"), "127": ("i" * 127, "i" * 127), "128": ("i" * 128, "i" * 128), "129":
        ("i" * 129, "call_0_0"), "wide-128": ("\U0001f600" * 64, "\U0001f600" * 64), "wide-129":
        ("\U0001f600" * 64 + "i", "call_0_0"), "blank": (" ", " "), "like": ("call_7_7", "call_7_7"), "three-byte-128":
        ("\u4e01" * 128, "\u4e01" * 128)
    }
    for name, (given, kept) in ids.items():
        worker(
            "calls", f"id-{name}", "an id of 1 to 128 units is kept", [calls(call(id=given)), done()],
            ends_well(requests=[{}, {
                "checks": [{"at": "/messages/2/tool_calls/0/id", "is": kept}, {"at": "/messages/3/tool_call_id", "is": kept}]
            }]))
    for kind, value in kinds_but("text", "empty").items():
        worker("calls", f"id-kind-{kind}", "an id that is no text is replaced",
               [calls(call(id=value)), done()],
               ends_well(requests=[{}, {"checks": [{"at": "/messages/2/tool_calls/0/id", "is": "call_0_0"}]}]))
    chain = [call(id="call_0_3"), call(id="call_0_3_1"), call(id="call_0_3_2"), call(id="call_0_3")]
    worker(
        "calls", "id-chain", "a made-up id goes on until it is free", [calls(*chain), done()],
        ends_well(requests=[{}, {
            "checks": [{"at": "/messages/2/tool_calls/3/id", "is": "call_0_3_3"},
                       {"at": "/messages/6/tool_call_id", "is": "call_0_3_3"}]
        }]))


def arguments():
    wrong = [
        "", " ", "null", "[]", "[{}]", "1", '"{}"', "true", "{", "}", "{}}", "{}{}", "{a:1}", '{"a":1,}', '{"a":01}', "{'a':1}",
        "undefined", '{"a":\n"\t"}', "//{}", "{}\x00"
    ]
    for i, text in enumerate(wrong):
        checks = [{"at": "/messages/2/tool_calls/0/function/arguments", "is":
                   text}, {"at": "/messages/2/tool_calls/0/function/name", "is": "host_clock"},
                  {"at": "/messages/3/content", "refusal": True}]
        worker("arguments",
               f"wrong-{i}",
               f"arguments {text!r} run nothing", [calls(call("host_clock", text)), done()],
               ends_well(requests=[{}, {"checks": checks}]),
               turn=turn(**TOOLS))
    right = {
        "blanks": (' \n{ "a" : 1 }\t', {"a": 1}), "twice": ('{"a":1,"a":2}', {"a": 2}), "unicode":
        ('{"\u00e9":"\U0001f600"}', {"\u00e9": "\U0001f600"}), "escapes": ('{"a":"\\u00e9\\/"}', {"a": "\u00e9/"}), "numbers":
        ('{"a":[1e2,-0.5]}', {"a": [100, -0.5]}), "proto": ('{"__proto__":{"a":1}}', {"__proto__": {"a": 1}}), "nested":
        ('{"a":{"b":[{"c":null}]}}', {"a": {"b": [{"c": None}]}})
    }
    for name, (text, value) in right.items():
        worker("arguments",
               f"right-{name}",
               "a tool gets the object", [
                   calls(call("host_clock", text), call("mcp_0_search", text, id="d")),
                   {"on": "/tools/clock", "json": {"text": "x"}}, {"on": "/mcp/docs", "json": {}},
                   done()
               ],
               ends_well(requests=[{}, {"path": "/tools/clock", "json": value}, {
                   "path": "/mcp/docs", "json": {"method": "tools/call", "params": {"name": "search", "arguments": value}}
               }, {"checks": [{"at": "/messages/2/tool_calls/0/function/arguments", "is": text}]}]),
               turn=turn(**TOOLS))
    for kind, value in kinds_but("text", "empty", "object").items():
        checks = [{"at": "/messages/2/tool_calls/0/function/arguments", "omitted": "x"},
                  {"at": "/messages/3/content", "refusal": True}]
        worker("arguments",
               f"kind-{kind}",
               "arguments that are neither text nor an object",
               [calls(call("host_clock", value)), done()],
               ends_well(requests=[{}, {"checks": checks}]),
               turn=turn(**TOOLS))
    worker("arguments",
           "none",
           "no arguments at all", [calls({"id": "c", "type": "function", "function": {"name": "host_clock"}}),
                                   done()],
           ends_well(requests=[{}, {
               "checks": [{"at": "/messages/2/tool_calls/0/function/arguments", "omitted": "x"},
                          {"at": "/messages/3/content", "refusal": True}]
           }]),
           turn=turn(**TOOLS))
    for name, n, kept in (("2047", 2047, True), ("2048", 2048, True), ("2049", 2049, False), ("20000", 20000, False)):
        text = '{"a":"' + "x" * (n - 2 - 12) + '"}'  # four quotes are escaped
        check = {"is": text} if kept else {"omitted": text}
        worker("arguments",
               f"size-{name}",
               f"arguments of {n} JSON bytes",
               [calls(call("host_clock", text)), {"on": "/tools/clock", "json": {"text": "x"}},
                done()],
               ends_well(requests=[{}, {"path": "/tools/clock", "json": {"a": "x" * (n - 14)}},
                                   {"checks": [{"at": "/messages/2/tool_calls/0/function/arguments", **check}]}]),
               turn=turn(**TOOLS))
    given = {"a": [1, None, {"b": "\u00e9"}], "c": ""}
    worker("arguments",
           "object",
           "an object is taken as its compact text",
           [calls(call("host_clock", given)), {"on": "/tools/clock", "json": {"text": "x"}},
            done()],
           ends_well(requests=[{}, {"path": "/tools/clock", "json": given}, {
               "checks": [{"at": "/messages/2/tool_calls/0/function/arguments", "is": '{"a":[1,null,{"b":"\u00e9"}],"c":""}'}]
           }]),
           turn=turn(**TOOLS))


def results():
    values = {
        "true": ("true", "true"), "false": ("false", "false"), "zero": ("0", "0"), "decimal": ("1.50", "1.5"), "exponent":
        ("[1e2,1E-7,1e21]", "[100,1e-7,1e+21]"), "blanks": (' { "a" : [ 1 , 2 ] } ', '{"a":[1,2]}'), "empty": ("{}", "{}"),
        "list": ("[]", "[]"), "order": ('{"z":1,"a":2}', '{"z":1,"a":2}'), "escapes": ('"\\u00e9\\/\\u007f\\u2028\\u001f\\b"',
                                                                                       '"\u00e9/\x7f\u2028\\u001f\\b"'), "twice":
        ('{"a":1,"b":2,"a":3}', '{"a":3,"b":2}'), "integer": ("12345678901234567", "12345678901234568"), "minus-zero":
        ("-0", "0"), "doubles": ("[0.1,0.30000000000000004,123456789.123]", "[0.1,0.30000000000000004,123456789.123]")
    }
    for name, (text, shown) in values.items():
        for tool, path in (("host_clock", "/tools/clock"), ("mcp_0_search", "/mcp/docs")):
            if name == "integer":
                continue
            worker(
                "results",
                f"value-{name}-{tool}",
                "a result is the compact JSON of the answer",
                [calls(call(tool, "{}")), {"on": path, "text": text}, done()],
                ends_well(requests=[{}, {}, {"checks": [{"at": "/messages/3/content", "is": shown}]}][:1] +
                          [{"path": path}, {"checks": [{"at": "/messages/3/content", "is": shown}]}]),
                turn=turn(**TOOLS))
    for status in (201, 204, 206, 301, 400, 403, 404, 410, 413, 429, 500, 502, 503):
        for tool, path in (("host_clock", "/tools/clock"), ("mcp_0_search", "/mcp/docs")):
            worker("results",
                   f"status-{status}-{tool}",
                   "a refusal of the broker is the refusal",
                   [calls(call(tool, "{}")), {"on": path, "status": status, "text": '{"text":"x"}'},
                    done()],
                   ends_well(requests=[{}, {"path": path}, {"checks": [{"at": "/messages/3/content", "refusal": True}]}]),
                   turn=turn(**TOOLS))
    for name, step in {
            "closed": {"close": True}, "words": {"text": "no"}, "cut": {"text": '{"text":'}, "two": {"text": "{}{}"}, "huge":
        {"huge_bytes": 1048577}, "empty": {"text": ""}
    }.items():
        worker("results",
               f"unreadable-{name}",
               "an answer that cannot be read is the refusal",
               [calls(call("mcp_0_search", "{}")), {"on": "/mcp/docs", **step},
                done()],
               ends_well(requests=[{}, {"path": "/mcp/docs"}, {"checks": [{"at": "/messages/3/content", "refusal": True}]}]),
               turn=turn(**TOOLS))
    worker("results",
           "after-refusal",
           "the next call runs all the same", [
               calls(call("host_clock", "x", id="a"), call("nothing", "{}", id="b"), call("host_clock", "{}", id="d")),
               {"on": "/tools/clock", "json": {"text": "t"}},
               done()
           ],
           ends_well(requests=[{}, {"path": "/tools/clock"}, {
               "checks": [{"at": "/messages/3/content", "refusal": True}, {"at": "/messages/4/content", "refusal": True},
                          {"at": "/messages/5/content", "is": '{"text":"t"}'}]
           }]),
           turn=turn(**TOOLS))
    for name, char, n in (("ascii", "r", 5000), ("wide", "\U0001f600", 3000), ("three-byte", "\u4e01", 3000),
                          ("control", "\x01", 3000), ("quote", '"', 3000), ("separator", "\u2028", 3000)):

        whole = json.dumps({"text": char * n}, ensure_ascii=False, separators=(",", ":"))
        worker(
            "results",
            f"cut-{name}",
            "a long result is cut at whole characters",
            [calls(call("host_clock", "{}")), {"on": "/tools/clock", "json": {"text": char * n}},
             done()],
            ends_well(
                requests=[{}, {"path": "/tools/clock"},
                          {"checks": [{"at": "/messages/3/content", "truncated": {"of": whole, "budget": 4096, "slack": 6}}]}]),
            turn=turn(**TOOLS))
    for n, kept in ((4096 - 2 - 11 - 4, True), (4097 - 2 - 11 - 4, False)):
        whole = '{"text":"' + "r" * n + '"}'
        check = {"is": whole} if kept else {"truncated": {"of": whole, "budget": 4096}}
        worker("results",
               f"cut-at-{n}",
               "4,096 JSON bytes", [calls(call("host_clock", "{}")), {"on": "/tools/clock", "json": {"text": "r" * n}},
                                    done()],
               ends_well(requests=[{}, {"path": "/tools/clock"}, {"checks": [{"at": "/messages/3/content", **check}]}]),
               turn=turn(**TOOLS))


def add():
    for part in (final, many_calls, arguments, results):
        part()
