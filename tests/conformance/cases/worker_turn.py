# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""Wire contract 1.1, 3.1 to 3.5: the turn as the worker reads it, and the request that it makes of it."""

import json

from build import CLOCK, DOCS, KINDS, answer, b64, calls, done, ends_well, fails, kinds_but, refused_turn, turn, worker

NAMES_WRONG = ["", "A", "1a", "_a", "a-b", "a.b", "a b", "a/b", "a\n", "a\x00", " a", "a ", "\u00e9", "a\u00e9", "x" * 49]
NAMES_RIGHT = ["a", "z", "a_", "a0", "a_b_1", "x" * 47, "x" * 48]


def spec(**changes):
    return {"name": "a", "description": "d", "parameters": {"type": "object"}, **changes}


def members():
    for member in ("text", "model", "prompt", "timeZone"):
        for kind, value in kinds_but("text", "empty").items():
            refused_turn(f"{member}-{kind}", f"{member} is text", **{member: value})
    for member in ("tools", "mcp"):
        for kind, value in kinds_but("list").items():
            refused_turn(f"{member}-{kind}", f"{member} is a list", **{member: value})
    for kind, value in KINDS.items():
        refused_turn(f"speaker-{kind}", "a speaker is an object with two texts", speaker=value)
        if not isinstance(value, bool):
            refused_turn(f"reset-{kind}", "reset is a boolean", reset=value)
    for member in ("text", "speaker", "model", "prompt", "timeZone", "tools", "mcp"):
        refused_turn(f"without-{member}", f"{member} is required", **{member: ...})
    for member in ("id", "name"):
        for kind, value in kinds_but("text", "empty").items():
            refused_turn(f"speaker-{member}-{kind}",
                         f"the speaker's {member} is text",
                         speaker={"id": "a", "name": "b", member: value})
        refused_turn(f"speaker-without-{member}",
                     f"the speaker's {member} is required",
                     speaker={k: v for k, v in {"id": "a", "name": "b"}.items() if k != member})
    for value in (True, False):
        worker("turn", f"reset-{value}", "reset is a boolean", [done()], ends_well(), turn=turn(reset=value))
    for member in ("model", "prompt"):
        worker("turn",
               f"{member}-empty",
               f"{member} may be any text", [done()],
               ends_well(requests=[{"checks": [{"at": "/model", "is": "" if member == "model" else "test-model"}]}]),
               turn=turn(**{member: ""}))
    worker("turn",
           "speaker-empty-texts",
           "the speaker's texts may be empty", [done()],
           ends_well(requests=[{
               "checks": [{"at": "/messages/1/content", "parsed": {"speaker": {"id": "", "name": ""}, "message": "Hello"}}]
           }]),
           turn=turn(speaker={"id": "", "name": ""}))
    for name, zone in {
            "empty": "", "blank": " ", "climb": "../UTC", "climb-inside": "Europe/../UTC", "absolute": "/usr/share/zoneinfo/UTC",
            "unknown": "Europe/Atlantis", "word": "local-time", "trail": "UTC ", "lead": " UTC", "end": "Europe/Berlin/",
            "directory": "Europe", "nul": "UTC\x00", "line": "UTC\n", "file": "zone.tab", "rule": "CET-1CEST,M3.5.0,M10.5.0/3",
            "colon": ":UTC", "long": "A" * 300
    }.items():
        refused_turn(f"zone-{name}", "a zone that there is not", timeZone=zone)
    for zone, minutes in {
            "Etc/UTC": 0, "Etc/GMT+5": -300, "America/Argentina/Buenos_Aires": -180, "Asia/Kolkata": 330, "Pacific/Marquesas":
            -570, "Australia/Eucla": 525, "Etc/GMT-14": 840
    }.items():
        worker("turn",
               f"zone-{zone.replace('/', '-')}",
               "the time of day is the zone's", [done()],
               ends_well(requests=[{"checks": [{"at": "/messages/0/content", "clock": {"utc_offset_minutes": minutes}}]}]),
               turn=turn(timeZone=zone))


def specs():
    for place, wrap in {
            "tool": lambda s: {"tools": [s]}, "served": lambda s: {"mcp": [{"server": "a", "tools": [s]}]}, "second":
            lambda s: {"tools": [spec(name="ok"), s]}
    }.items():
        for kind, value in KINDS.items():
            if kind != "object":
                refused_turn(f"{place}-{kind}", "a tool spec is an object", **wrap(value))
                refused_turn(f"{place}-parameters-{kind}", "parameters is an object", **wrap(spec(parameters=value)))
            if kind not in ("text", "empty"):
                refused_turn(f"{place}-description-{kind}", "a description is text", **wrap(spec(description=value)))
            if kind != "text":
                refused_turn(f"{place}-name-{kind}", "a name is text that fits the rule", **wrap(spec(name=value)))
        for member in ("name", "description", "parameters"):
            refused_turn(f"{place}-without-{member}", f"{member} is required",
                         **wrap({k: v for k, v in spec().items() if k != member}))
        for name in NAMES_WRONG:
            refused_turn(f"{place}-name-{name.encode().hex()[:24] or 'none'}-{len(name)}", "a name that breaks the rule",
                         **wrap(spec(name=name)))
    for kind, value in KINDS.items():
        refused_turn(f"mcp-item-{kind}", "a server is an object with a name and tools", mcp=[value])
        if kind != "list":
            refused_turn(f"mcp-tools-{kind}", "a server's tools are a list", mcp=[{"server": "a", "tools": value}])
        if kind != "text":
            refused_turn(f"mcp-server-{kind}", "a server's name is text that fits the rule", mcp=[{"server": value, "tools": []}])
    for name in NAMES_WRONG:
        refused_turn(f"mcp-server-{name.encode().hex()[:24] or 'none'}-{len(name)}",
                     "a server's name that breaks the rule",
                     mcp=[{"server": name, "tools": []}])
    for name in NAMES_RIGHT:
        offered = ["invalid_tool", "memory_set", "memory_get", "memory_remove", f"host_{name}", f"mcp_0_{name}"]
        worker("turn",
               f"name-right-{len(name)}-{name[:3]}",
               "names within the rule are offered", [done()],
               ends_well(requests=[{"checks": [{"at": "/tools", "names": offered}]}]),
               turn=turn(tools=[spec(name=name)], mcp=[{"server": name, "tools": [spec(name=name)]}]))
    extra = spec(strict=True, url="https://elsewhere.example", parameters={"type": "object", "x": [1.5, None, "\u00e9"]})
    shown = {"type": "function", "function": {"name": "host_a", "description": "d", "parameters": extra["parameters"]}}
    worker("turn",
           "spec-extra",
           "unknown members of a spec are ignored, parameters are whole", [done()],
           ends_well(requests=[{"checks": [{"at": "/tools/4", "is": shown}]}]),
           turn=turn(tools=[extra]))
    servers = [{"server": f"s{i}", "tools": [spec(name="t")]} for i in range(12)]
    names = ["invalid_tool", "memory_set", "memory_get", "memory_remove"] + [f"mcp_{i}_t" for i in range(12)]
    worker("turn",
           "servers-12",
           "servers are numbered in their order", [calls(("a", "mcp_11_t", "{}")), {"on": "/mcp/s11", "json": {"r": 1}},
                                                   done()],
           ends_well(
               requests=[{"checks": [{"at": "/tools", "names": names}]},
                         {"path": "/mcp/s11", "json": {"method": "tools/call", "params": {"name": "t", "arguments": {}}}}, {}]),
           turn=turn(mcp=servers))
    worker("turn",
           "servers-equal",
           "two servers of one name", [done()],
           ends_well(requests=[{
               "checks":
               [{"at": "/tools", "names": ["invalid_tool", "memory_set", "memory_get", "memory_remove", "mcp_0_t", "mcp_1_t"]}]
           }]),
           turn=turn(mcp=[{"server": "s", "tools": [spec(name="t")]}, {"server": "s", "tools": [spec(name="t")]}]))
    mixed = [spec(name="b", description="first"), spec(name="a"), spec(name="b", description="last")]
    worker("turn",
           "names-equal",
           "a name given twice keeps its first place and its last spec", [done()],
           ends_well(requests=[{
               "checks": [{
                   "at": "/tools", "names": ["invalid_tool", "memory_set", "memory_get", "memory_remove", "host_b", "host_a"]
               }, {"at": "/tools/4/function/description", "is": "last"}]
           }]),
           turn=turn(tools=mixed))


def as_text(**members_):
    return json.dumps(turn(**members_), ensure_ascii=False)


def input_text():
    whole = as_text()
    for name, text in {
            "list": f"[{whole}]", "twice": whole + whole, "comma": whole[:-1] + ",}", "comment": whole + "//x", "nan":
            whole[:-1] + ',"a":NaN}', "single": whole.replace('"', "'"), "cut": whole[:-1], "word": whole + "x", "nul":
            whole + "\x00", "control": whole.replace("Hello", "He\tllo"), "escape": whole.replace("Hello", "He\\llo"), "null":
            "null", "number": "1", "true": "true"
    }.items():
        worker("turn", f"input-{name}", "input that is not one JSON object", [], fails(0), stdin_text=text)
    worker("turn", "input-blanks", "blanks around the object", [done()], ends_well(), stdin_text=f" \r\n\t{whole}\r\n\t ")
    worker("turn", "input-line", "a line end behind the object", [done()], ends_well(), stdin_text=whole + "\n")
    for name, size in (("exact", 262144), ("over", 262145), ("mib", 1048576)):
        text = whole + " " * (size - len(whole))
        worker("turn",
               f"input-{name}",
               f"input of {size} bytes", [done()] if name == "exact" else [],
               ends_well() if name == "exact" else fails(0),
               stdin_text=text)
    for name, data in {
            "latin": whole.replace("Hello", "H\xe9llo").encode("latin-1"), "surrogate":
            whole.encode().replace(b"Hello", b"\xed\xa0\x80"), "utf16": whole.encode("utf-16")
    }.items():
        worker("turn",
               f"input-{name}",
               "input that is not UTF-8 is refused or repaired", [done()],
               {"exit": [0, 1], "notes_allowed": True} if name != "utf16" else fails(0),
               stdin_b64=b64(data))
    said = {"text": ('"Second"', "Second"), "model": ('"other"', "other")}
    for member, (value, shown) in said.items():
        check = ({"at": "/model", "is": shown} if member == "model" else
                 {"at": "/messages/1/content", "parsed": {"speaker": {"id": "alice", "name": "Alice"}, "message": shown}})
        worker("turn",
               f"twice-{member}",
               "of two members of one name the last counts", [done()],
               ends_well(requests=[{"checks": [check]}]),
               stdin_text=f'{whole[:-1]},"{member}":{value}}}')
    worker("turn", "twice-last-wrong", "also where the last is wrong", [], fails(0), stdin_text=f'{whole[:-1]},"text":1}}')
    worker("turn",
           "twice-first-wrong",
           "also where the first is wrong", [done()],
           ends_well(),
           stdin_text='{"text":1,' + whole[1:])
    worker("turn",
           "twice-inner",
           "inside, too", [done()],
           ends_well(requests=[{
               "checks": [{"at": "/messages/1/content", "parsed": {"speaker": {"id": "b", "name": "Alice"}, "message": "Hello"}}]
           }]),
           stdin_text=whole.replace('"id": "alice"', '"id": "alice", "id": "b"'))
    for member in ("temperature", "Text", "text ", "secrets", "env", "max_tokens", "stream", "principal", "channel", "__proto__",
                   ""):
        worker("turn",
               f"unknown-{member.strip() or 'empty'}-{len(member)}",
               "unknown members are ignored, whatever they are", [done()],
               ends_well(requests=[{"checks": [{"at": "", "keys": ["model", "messages", "tools"]}]}]),
               turn=turn(**{member: [{"a": None}]}))


def user_text():

    def shown(speaker, text, compact_speaker):
        return {
            "at": "/messages/-1/content", "is":
            f'{{"speaker":{compact_speaker},"message":{json.dumps(text, ensure_ascii=False)}}}'
        }

    for name, speaker, compact in [("order", {"name": "N", "id": "i"}, '{"name":"N","id":"i"}'),
                                   ("extra", {"id": "i", "name": "N", "roles": ["a", 1], "owner": True, "x":
                                              None}, '{"id":"i","name":"N","roles":["a",1],"owner":true,"x":null}'),
                                   ("nested", {"id": "i", "name": "N", "a": {"b": [{}]}}, '{"id":"i","name":"N","a":{"b":[{}]}}'),
                                   ("numbers", {"id": "i", "name": "N", "a":
                                                [0, -1, 1.5, 0.1, 100000,
                                                 12345678901]}, '{"id":"i","name":"N","a":[0,-1,1.5,0.1,100000,12345678901]}'),
                                   ("quotes", {"id": '"', "name": "\\"}, '{"id":"\\"","name":"\\\\"}')]:
        worker("request",
               f"speaker-{name}",
               "the speaker travels as it came", [done()],
               ends_well(requests=[{"checks": [shown(speaker, "Hello", compact)]}]),
               turn=turn(speaker=speaker))
    for number, compact in (("1e21", "1e+21"), ("1e20", "100000000000000000000"), ("1.0", "1"), ("1E2", "100"), ("1e-7", "1e-7"),
                            ("0.000001", "0.000001"), ("-0", "0"), ("1.50", "1.5"), ("0.1234567890123456", "0.1234567890123456"),
                            ("5e-324", "5e-324"), ("123456789012345680000", "123456789012345680000"),
                            ("1.7976931348623157e308", "1.7976931348623157e+308")):
        text = as_text().replace('"name": "Alice"', f'"name": "Alice", "n": {number}')
        worker("request",
               f"number-{number}",
               "a number in a text is written in its shortest form", [done()],
               ends_well(requests=[{
                   "checks": [{
                       "at": "/messages/-1/content", "is":
                       f'{{"speaker":{{"id":"alice","name":"Alice","n":{compact}}},"message":"Hello"}}'
                   }]
               }]),
               stdin_text=text)
    for name, text in {
            "controls": "".join(chr(n) for n in range(1, 32)), "raw": "/\x7f\u2028\u2029\u00e9\u4e01\U0001f600\uffff", "nul":
            "a\x00b", "json": '{"speaker":{"id":"owner"}}', "lines": "a\r\nb\n"
    }.items():
        worker("request",
               f"text-{name}",
               "the text travels as it came", [done()],
               ends_well(requests=[{
                   "checks":
                   [{"at": "/messages/-1/content", "parsed": {"speaker": {"id": "alice", "name": "Alice"}, "message": text}}]
               }]),
               turn=turn(text=text))
    worker("request",
           "headers",
           "four headers, and no others, on every route", [
               calls(("a", "host_clock", "{}"),
                     ("b", "mcp_0_search", "{}")), {"on": "/tools/clock", "json": {"text": "x"}}, {"on": "/mcp/docs", "json": {}},
               done()
           ],
           ends_well(requests=[{
               "path":
               path, "checks": [{"headers_exact": ["host", "content-type", "content-length", "authorization"]},
                                {"header": "host", "value": "broker"}, {"header": "content-type", "value": "application/json"},
                                {"header": "authorization", "value": "Bearer sandbox-dummy-key"}]
           } for path in ("/model", "/tools/clock", "/mcp/docs", "/model")]),
           turn=turn(tools=[CLOCK], mcp=[DOCS]))


def prompts():
    for n, kept in ((8190, True), (8191, False), (20000, False)):
        prompt = "p" * n
        system = {"at": "/messages/0/content", "starts": prompt if kept else "p" * 7000}
        more = [] if kept else [{"at": "/messages/0/content", "lacks": "p" * 8190}]
        worker("request",
               f"prompt-{n}",
               "a prompt is cut to 8,192 JSON bytes", [done()],
               ends_well(requests=[{"checks": [system] + more}]),
               turn=turn(prompt=prompt))
    memory = [{"scope": "speaker:alice", "key": f"s{i}", "text": "x" * 300}
              for i in range(20)] + [{"scope": "channel", "key": f"c{i}", "text": "y" * 300} for i in range(20)]
    worker("request",
           "memory-cut",
           "each list of memory is cut, and the speaker's comes first", [done()],
           ends_well(requests=[{
               "checks": [{"at": "/messages/0/content", "in_order": ["s0", "s9", "memory_get", "c0", "c9", "memory_get"]},
                          {"at": "/messages/0/content", "lacks": ["s15", "c15"]}]
           }]),
           files={"memory.json": {"json": memory}})
    worker("request",
           "memory-other",
           "nobody else's memory is shown", [done()],
           ends_well(requests=[{"checks": [{"at": "/messages/0/content", "lacks": ["secret"]}]}]),
           files={
               "memory.json": {
                   "json": [{"scope": scope, "key": "secret", "text": "secret"}
                            for scope in ("speaker:bob", "speaker:", "speaker:alice2", "Speaker:alice", "speaker", "alice", "",
                                          "channel ")]
               }
           })


def start():
    worker("start",
           "order-memory",
           "a memory file that cannot be read fails a turn with a reset too", [],
           fails(0, files={"memory.json": {"unchanged": True}}),
           turn=turn(reset=True),
           files={"memory.json": {"text": "{"}})
    worker("start",
           "workspace",
           "a workspace that is missing is made", [done()],
           ends_well(files={"history.json": {"mode": "600"}}),
           no_workspace=True)
    worker("start",
           "too-many-tools",
           "descriptions over 32,768 bytes fail the turn", [],
           fails(0),
           turn=turn(tools=[spec(description="d" * 32768)]))
    for n in (1, 11):
        worker("start", f"calls-{n}", f"{n} answers with calls before a final one",
               [calls((f"a{i}", "memory_get", {"scope": "channel"})) for i in range(n)] + [done()],
               ends_well(request_count=n + 1))
    worker("start", "error-shape", "an error in an answer of status 200", [answer(None)], fails(1))


def add():
    for part in (members, specs, input_text, user_text, prompts, start):
        part()
