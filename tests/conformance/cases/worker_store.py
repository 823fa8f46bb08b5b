# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""Wire contract 3.5, 3.7 and 3.8: memory, history, and what is left out of a request that is too large."""

import json

from build import CLOCK, call, calls, done, ends_well, fails, turn, worker

# --- 3.7 ---

STORED = [{"scope": "channel", "key": "Choir", "text":
           "Thursday at NINE"}, {"scope": "speaker:alice", "key": "fruit", "text":
                                 "Black plum"}, {"scope": "channel", "key": "fruit", "text": "\u00c4pfel \u0130"},
          {"scope": "speaker:bob", "key": "fruit", "text": "Fig"}]


def memory_call(tool, given, check, name, about, files=STORED, stored=None, **more):

    end = ends_well(requests=[{}, {"checks": [{"at": "/messages/3/content", **check}]}])
    if stored is not None:
        end["files"] = {"memory.json": {"json": stored, "mode": "600"}}
    elif check.get("refusal"):
        end["files"] = {"memory.json": {"unchanged": True}}
    worker("memory",
           name,
           about, [calls(call(f"memory_{tool}", json.dumps(given))), done()],
           end,
           files={"memory.json": {"json": files}},
           **more)


def memory():
    refusal, ack = {"refusal": True}, {"ack": True}
    for tool, rest in (("get", {}), ("set", {"key": "k", "text": "v"}), ("remove", {"key": "k"})):
        for i, scope in enumerate([
                None, True, 0, [], {}, "", "Channel", "channel ", " channel", "channels", "speaker:alice", "speaker:bob",
                "SPEAKER", "all", "*", "channel\x00", ["channel"]
        ]):
            memory_call(tool, {"scope": scope, **rest}, refusal, f"scope-{tool}-{i}", "a scope is one of two words")
    for tool, rest in (("set", {"text": "v"}), ("remove", {})):
        for i, key in enumerate([None, True, 0, [], {}, "", " ", "\t\n", "\u3000\ufeff", "k" * 129, "\U0001f600" * 64 + "k"]):
            memory_call(tool, {"scope": "channel", "key": key, **rest}, refusal, f"key-{tool}-{i}",
                        "a key is text of 1 to 128 units")
    for i, key in enumerate(["", "  ", "k" * 129]):
        memory_call("get", {"scope": "channel", "key": key}, refusal, f"key-get-{i}", "a key that is text keeps the rule")
    whole = [{"key": "Choir", "text": "Thursday at NINE"}, {"key": "fruit", "text": "\u00c4pfel \u0130"}]
    for i, key in enumerate([None, True, 0, [], {}]):
        memory_call("get", {"scope": "channel", "key": key, "query": key}, {"parsed": whole}, f"key-get-kind-{i}",
                    "a key or query that is no text counts as missing")
    finds = {
        "upper": ("THURSDAY", whole[:1]), "lower": ("nine", whole[:1]), "key": ("choir", whole[:1]), "joined":
        ("choir thursday", whole[:1]), "umlaut": ("\u00e4PFEL", whole[1:]), "none": ("monday", []), "blank": (" ", whole),
        "pattern": (".*", []), "empty": ("", whole), "scope": ("channel", []), "all": ("h", whole[:1]), "joined-twice":
        ("choir  thursday", [])
    }
    for name, (query, found) in finds.items():
        memory_call("get", {"scope": "channel", "query": query}, {"parsed": found}, f"query-{name}",
                    "a query is looked for without case in key, blank and text")
    memory_call("get", {"scope": "channel", "key": "choir"}, {"parsed": []}, "key-case", "a key is compared with its case")
    memory_call("get", {"scope": "channel", "key": " Choir\t"}, {"parsed": whole[:1]}, "key-blanks",
                "blanks around a key are cut")
    memory_call("get", {"scope": "channel", "key": "Choir", "query": "fig"}, {"parsed": []}, "key-and-query",
                "key and query both have to fit")
    memory_call("get", {"scope": "speaker"}, {"parsed": [{"key": "fruit", "text": "Black plum"}]}, "speaker",
                "the speaker is the turn's")
    for i, text in enumerate([None, True, 0, [], {}, "", " \n\t", "\ufeff\u3000", "t" * 2049, "\U0001f600" * 1024 + "t"]):
        memory_call("set", {"scope": "channel", "key": "fruit", "text": text}, refusal, f"text-{i}",
                    "text is not only blanks and has at most 2,048 units")
    for name, text in {
            "2047": "t" * 2047, "2048": "t" * 2048, "wide-2048": "\U0001f600" * 1024, "blanks": " a ", "controls":
            "\x01\x1f\x7f\u2028"
    }.items():
        memory_call("set", {"scope": "channel", "key": "fruit", "text": text},
                    ack,
                    f"text-{name}",
                    "text is stored as it came",
                    stored=STORED[:2] + STORED[3:] + [{"scope": "channel", "key": "fruit", "text": text}])
    for name, key, kept in (("128", "k" * 128, "k" * 128), ("wide-128", "\U0001f600" * 64, "\U0001f600" * 64),
                            ("trimmed-128", " " + "k" * 128 + "\n", "k" * 128), ("inner", " a b ", "a b"), ("odd", '../\x01"',
                                                                                                            '../\x01"')):
        memory_call("set", {"scope": "speaker", "key": key, "text": "v", "extra": 1},
                    ack,
                    f"key-fine-{name}",
                    "a key is cut and kept",
                    stored=STORED + [{"scope": "speaker:alice", "key": kept, "text": "v"}])
    memory_call("remove", {"scope": "channel", "key": " fruit "}, ack, "remove", "an entry goes", stored=STORED[:2] + STORED[3:])
    memory_call("remove", {"scope": "channel", "key": "none"},
                ack,
                "remove-none",
                "one that is not there is no failure",
                stored=STORED)
    doubled = STORED[:1] + [{"scope": "channel", "key": "Choir", "text": "again"}] + STORED[1:]
    memory_call("remove", {"scope": "channel", "key": "Choir"},
                ack,
                "remove-doubled",
                "entries of one key go together",
                files=doubled,
                stored=STORED[1:])
    memory_call("get", {"scope": "channel", "key": "Choir"},
                {"parsed": [{"key": "Choir", "text": "Thursday at NINE"}, {"key": "Choir", "text": "again"}]},
                "get-doubled",
                "entries of one key are shown together",
                files=doubled)
    many = [{"scope": "channel", "key": f"k{i}", "text": "v"} for i in range(256)]
    memory_call("set", {"scope": "channel", "key": "new", "text": "v"}, refusal, "full", "a 257th entry is refused", files=many)
    memory_call("set", {"scope": "speaker", "key": "k0", "text": "v"}, refusal, "full-scope", "of either scope", files=many)
    for name, content in {
            "number": 1, "text": "x", "true": True, "entry-list": [[]], "entry-null": [None], "key-null":
        [{"scope": "channel", "key": None, "text": "v"}], "text-number": [{"scope": "channel", "key": "k", "text": 1}], "no-text":
        [{"scope": "channel", "key": "k"}], "scope-null": [{"scope": None, "key": "k", "text": "v"}], "last": STORED + [{}]
    }.items():
        worker("memory",
               f"file-{name}",
               "a memory file that breaks a rule fails the turn", [],
               fails(0, files={"memory.json": {"unchanged": True}}),
               files={"memory.json": {"json": content}})
    for name, text in {"blank": " ", "cut": "[", "trail": "[]x", "two": "[][]", "nul": "[]\x00"}.items():
        worker("memory",
               f"file-{name}",
               "a memory file that is no JSON fails the turn", [],
               fails(0, files={"memory.json": {"unchanged": True}}),
               files={"memory.json": {"text": text}})
    worker("memory",
           "file-fine",
           "any three texts are an entry", [done()],
           ends_well(files={"memory.json": {"unchanged": True}}),
           files={
               "memory.json":
               {"json": [{"scope": "", "key": "", "text": ""}, {"scope": "other", "key": " ", "text": "x" * 9000}]}
           })
    worker("memory", "file-256", "256 entries", [done()], ends_well(), files={"memory.json": {"json": many}})
    worker("memory", "file-blanks", "blanks in the file", [done()], ends_well(), files={"memory.json": {"text": " [ ] \n"}})
    worker(
        "memory", "next-call", "the next call sees what the one before wrote", [
            calls(call("memory_set", '{"scope":"channel","key":"a","text":"1"}', id="a"),
                  call("memory_get", '{"scope":"channel"}',
                       id="b"), call("memory_remove", '{"scope":"channel","key":"a"}', id="d"),
                  call("memory_get", '{"scope":"channel"}', id="e")),
            done()
        ],
        ends_well(requests=[{}, {
            "checks": [{"at": "/messages/4/content", "parsed": [{"key": "a", "text": "1"}]},
                       {"at": "/messages/6/content", "parsed": []}]
        }],
                  files={"memory.json": {"json": [], "mode": "600"}}))


# --- 3.5, 3.8 ---


def message(i, content="h"):
    return {"role": "assistant" if i % 2 else "user", "content": content}


def history():
    shown = '{"speaker":{"id":"alice","name":"Alice"},"message":"Hello"}'
    exchange = [{"role": "user", "content": shown}, {"role": "assistant", "content": "Done."}]
    for n in (0, 1, 2, 17, 18, 19, 20):
        old = [message(i, f"m{i}") for i in range(n)]
        worker("history",
               f"length-{n}",
               f"{n} old messages", [done()],
               ends_well(requests=[{"checks": [{"at": "/messages", "len": n + 2}]}],
                         files={"history.json": {"json": (old + exchange)[-20:], "mode": "600"}}),
               files={"history.json": {"json": old}})
    for n in (21, 22, 100):
        worker("history",
               f"length-{n}",
               "more than 20 old messages", [],
               fails(0, files={"history.json": {"unchanged": True}}),
               files={"history.json": {"json": [message(i) for i in range(n)]}})
    for name, content in {
            "number": 1, "text": "x", "true": True, "object": {}, "entry-list": [[]], "entry-empty": [{}], "role-tool":
        [{"role": "tool", "content": "x"}], "role-upper": [{"role": "User", "content": "x"}], "role-null":
        [{"role": None, "content": "x"}], "role-nul": [{"role": "user\x00", "content":
                                                        "x"}], "content-number": [{"role": "user", "content": 1}], "content-list":
        [{"role": "user", "content": ["x"]}], "no-content": [{"role": "user"}], "last": [message(0), {"role": "user"}]
    }.items():
        worker("history",
               f"file-{name}",
               "a history file that breaks a rule fails the turn", [],
               fails(0, files={"history.json": {"unchanged": True}}),
               files={"history.json": {"json": content}})
        worker("history",
               f"reset-{name}",
               "with a reset it is not read", [done()],
               ends_well(files={"history.json": {"json": exchange, "mode": "600"}}),
               files={"history.json": {"json": content}},
               turn=turn(reset=True))
    for name, text in {"cut": "[", "two": "[][]", "comma": "[{},]", "nul": "[]\x00"}.items():
        worker("history",
               f"file-{name}",
               "a history file that is no JSON fails the turn", [],
               fails(0, files={"history.json": {"unchanged": True}}),
               files={"history.json": {"text": text}})
    extra = [{"role": "user", "content": "a", "name": "x", "tool_calls": [1]}]
    worker("history",
           "extra",
           "role and content only are sent and saved", [done()],
           ends_well(requests=[{"checks": [{"at": "/messages/1", "is": {"role": "user", "content": "a"}}]}],
                     files={"history.json": {"json": [{"role": "user", "content": "a"}] + exchange}}),
           files={"history.json": {"json": extra}})
    worker("history",
           "empty-content",
           "content may be empty", [done()],
           ends_well(requests=[{"checks": [{"at": "/messages/1/content", "is": ""}]}]),
           files={"history.json": {"json": [message(0, "")]}})
    worker("history",
           "no-alternation",
           "roles need not alternate", [done()],
           ends_well(requests=[{"checks": [{"at": "/messages", "len": 5}]}]),
           files={"history.json": {"json": [message(1, "a"), message(1, "b"), message(1, "c")]}})
    worker("history", "trimmed", "the reply is saved as it was given", [done(" \nDone.\n ")],
           ends_well(files={"history.json": {"json": exchange}}))
    for name, char, n in (("control", "\x02", 2000), ("three-byte", "\u4e01", 3000), ("wide", "\U0001f600", 2100), ("backslash",
                                                                                                                    "\\", 5000)):
        worker(
            "history",
            f"cut-{name}",
            "an old message is cut at whole characters", [done()],
            ends_well(
                requests=[{"checks": [{"at": "/messages/1/content", "truncated": {"of": char *
                                                                                  n, "budget": 8192, "slack": 6}}]}]),
            files={"history.json": {"json": [message(0, char * n)]}})
    for n, kept in ((8190, True), (8191, False)):
        check = {"is": "r" * n} if kept else {"truncated": {"of": "r" * n, "budget": 8192}}
        worker("history", f"reply-{n}", "the reply is saved cut to 8,192 JSON bytes", [done("r" * n)],
               ends_well("r" * n, files={"history.json": {"checks": [{"at": "/1/content", **check}]}}))
    for status in (400, 429, 502):
        worker("history",
               f"kept-{status}",
               "a turn that fails leaves the file", [{"on": "/model", "status": status, "text": "x"}],
               fails(1, files={"history.json": {"unchanged": True}}),
               files={"history.json": {"json": [message(0)]}})


def trimming():
    for chars, n in (("h", 8000), ("\u4e01", 2700), ('"', 4000), ("\x01", 1300)):
        old = [message(i, f"{i} " + chars * n) for i in range(20)]
        worker("trim",
               f"history-{ord(chars):04x}",
               "the newest old messages that fit are sent", [done()],
               ends_well(requests=[{"checks": [{"body_max": 196608}, {"history_suffix": old}]}], request_count=1),
               turn=turn(text="u" * 45000, tools=[{"name": "a", "description": "d" * 25000, "parameters": {}}]),
               files={"history.json": {"json": old}})
    big = '{"a":"' + "x" * 1900 + '"}'
    steps, requests = [], [{}]
    for step in range(8):
        steps.append(calls(*[call("host_clock", big, id=f"s{step}_{i}") for i in range(8)], content="t" * 4000))
        steps += [{"on": "/tools/clock", "json": {"text": "r" * 4000}, "repeat": 8}]
        requests += [{"path": "/tools/clock"}] * 8 + [{
            "checks": [{"body_max": 196608}, {"groups_whole": True}, {"trimmed_from_previous": True}]
        }]
    worker("trim",
           "groups",
           "the newest whole groups that fit are sent",
           steps + [done()],
           ends_well(requests=requests),
           turn=turn(tools=[CLOCK]))
    old = [message(i, f"{i} " + "h" * 6000) for i in range(20)]
    worker("trim",
           "history-then-groups",
           "old messages go before groups",
           steps + [done()],
           ends_well(requests=requests),
           turn=turn(tools=[CLOCK]),
           files={"history.json": {"json": old}})


def links():
    target = {"target.json": {"json": [message(0, "outside")]}, "target.txt": {"text": "precious"}}
    stays = {"exit": [0, 1], "notes_allowed": True, "extra_files_allowed": True}
    write = [calls(call("memory_set", '{"scope":"channel","key":"k","text":"v"}')), done()]
    for name in ("history.json", "memory.json", "history.json.tmp", "memory.json.tmp", ".history.json.new", ".memory.json.new"):
        for kind, link in {
                "target": "@outside/target.json", "text": "@outside/target.txt", "new": "@outside/new", "itself": name,
                "outside": "@outside"
        }.items():
            worker("links",
                   f"{name.strip('.')}-{kind}",
                   "nothing is read or written through a link",
                   write,
                   stays,
                   files={name: {"symlink": link}},
                   outside=target)
    for name in ("history.json.tmp", "memory.json.tmp", ".history.json.new", ".memory.json.new"):
        for kind, what in {"file": {"text": "stale"}, "read-only": {"text": "stale", "mode": 0o400}, "directory": {"dir":
                                                                                                                   True}}.items():
            worker("links",
                   f"{name.strip('.')}-{kind}",
                   "what stands at a temporary name stops no turn",
                   write,
                   ends_well(
                       files={"history.json": {"regular": True, "mode": "600"}, "memory.json": {"regular": True, "mode": "600"}}),
                   files={name: what})
    for name in ("history.json", "memory.json"):
        worker("links",
               f"{name}-directory",
               "a directory in place of a file fails the turn", [done()], {"exit": 1, "ok": False, "notes_allowed": True},
               files={name: {"dir": True}})
        worker("links",
               f"{name}-open",
               "a file is private when it has been written",
               write,
               ends_well(files={name: {"mode": "600"}}),
               files={name: {"json": [], "mode": 0o666}})
    worker("links",
           "unknown",
           "other files in the workspace are left alone",
           write,
           ends_well(files={"notes.txt": {"unchanged": True}}),
           files={"notes.txt": {"text": "mine"}, "sub": {"dir": True}})


def add():
    for part in (memory, history, trimming, links):
        part()
