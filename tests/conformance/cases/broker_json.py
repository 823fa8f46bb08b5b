# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""Wire contract 2.3: JSON as it is read and passed on."""

from build import SERVED, b64, case, many, one, refused

TOOL = "/tools/clock"


def json_grammar():
    wrong = [
        '{"a":1.}', '{"a":-.1}', '{"a":-01}', '{"a":00}', '{"a":1e}', '{"a":1e+}', '{"a":1E-}', '{"a":1.e1}', '{"a":1_000}',
        '{"a":0b1}', '{"a":0o1}', '{"a":1f}', '{"a":1n}', '{"a":- 1}', '{"a":1 2}', '{"a":-Infinity}', '{"a":nan}', '{"a":nul}',
        '{"a":nullx}', '{"a":TRUE}', '{"a":truefalse}', '{"a":"b}', '{"a":"b\\u12"}', '{"a":"\\u 123"}', '{"a":"\\u-123"}',
        '{"a":"\\U0041"}', '{"a":"\\0"}', '{"a":"\\\'"}', '{"a":"\\\n"}', '{"a":"\x1f"}', '{"a":"\r"}', "{\"a\":'b'}", '{"a" 1}',
        '{"a"}', '{"a":1 "b":2}', '{"a":1,,"b":2}', '{"a":[1,]}', '{"a":[,1]}', '{"a":[1 2]}', '{"a":[1}', '{"a":{]}', '{"a":[}',
        "{1:2}", "{null:1}", '{"a":1]', "[1", "{", "[", '"', "}", "]", "{}]", "{},", ",{}", "{}\x00", "\x00{}", '{"a":1}\x0c',
        "\x0b{}", "\x85{}", "\u2028{}", "\u3000{}", '{"a":\xa01}', "{}\ufeff", '{"a":1}<!-- -->', "--{}", "%7b%7d", "a=1",
        "null{}", "{}null", "\\{}", '{"a":undefined}', '{"a":new Date()}'
    ]
    many("json", "wrong", "texts that are no JSON", [({"path": TOOL, "body_text": text}, refused(502)) for text in wrong])
    right = [
        "{}", " {} ", "\t\r\n {\t\r\n}\t\r\n ", '{"a":-0}', '{"a":0e0}', '{"a":0E+00}', '{"a":-0.0e-0}', '{"a":1E+2}',
        '{"a":1e-2}', '{"a":1.7976931348623157e308}', '{"a":5e-324}', '{"a":1e-999}', '{"a":123456789012345678901234567890}',
        '{"a":-9223372036854775808}', '{"a":9223372036854775807}', '{"a":18446744073709551616}',
        '{"a":"\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\\u2028"}', '{"a":"\\ud83d\\ude00"}', '{"a":"\\uD83D\\uDE00"}',
        '{"a":"\x7f\x80\u2028\u2029\uffff\U0010ffff"}', '{"a":[[],{},[{}],[[]]]}', '{"a" : [ 1 , 2 ] , "b" : { } }',
        '{"a":null,"b":true,"c":false}', '{"\\u0061":1}', '{"a b":1,"é":2,"😀":3}', '{"__proto__":1,"constructor":2}'
    ]
    many("json", "right", "texts that are JSON", [({"path": TOOL, "body_text": text}, SERVED) for text in right])
    many("json", "not-object", "JSON that is no object",
         [({"path": path, "body_text": text}, refused(400)) for path in (TOOL, "/model", "/mcp/docs")
          for text in ("[]", "[{}]", '"x"', '""', "0", "-1", "1.5", "true", "false", "null", ' "x" ')])
    for depth in (16, 24, 30):
        body = '{"a":' + "[" * depth + "]" * depth + "}"
        one("json", f"depth-{depth}", "a depth that people use", {"path": TOOL, "body_text": body}, SERVED)
    for depth in (64, 500, 1023, 1024, 1025, 2000):
        shapes = {"lists": ("[", "", "]"), "objects": ('{"a":', "1", "}")}
        for name, (begin, middle, end) in shapes.items():
            body = '{"a":' + begin * depth + middle + end * depth + "}"
            case("json",
                 f"deep-{name}-{depth}",
                 "a depth that may be refused and ends nothing",
                 requests=[{"path": TOOL, "body_text": body}, {"path": TOOL, "body": {}}],
                 expect=[{"status": [200, 400, 502]}, SERVED])
    case("json",
         "wide",
         "a list of 60,000 values",
         requests=[{"path": TOOL, "body_text": '{"a":[' + "0," * 59999 + "0]}"}, {"path": TOOL, "body": {}}],
         expect=[SERVED, SERVED])
    case("json",
         "wide-members",
         "an object of 500 members",
         requests=[{"path": TOOL, "body": {f"m{i}": i for i in range(500)}}],
         expect=[SERVED])


def json_values():

    def echo(name, text, value):
        one("json", f"echo-{name}", "what a tool gets is what was sent", {"path": "/tools/echo", "body_text": text},
            dict(SERVED, text_json={"input": value, "channel": "test:guests", "speaker": {"id": "guest-1", "name": "Guest One"}}))

    echo("numbers", '{"a":[0,-1,1.5,1e3,0.1,123456789.125,1E-7,9007199254740991]}',
         {"a": [0, -1, 1.5, 1000, 0.1, 123456789.125, 1e-7, 9007199254740991]})
    echo("exponents", '{"a":[1e22,1e-320,5e-324,1.7976931348623157e308,-1e300]}',
         {"a": [1e22, 1e-320, 5e-324, 1.7976931348623157e308, -1e300]})
    echo("doubles", '{"a":[0.30000000000000004,1.1,2.2250738585072014e-308,4.35,0.1234567890123456]}',
         {"a": [0.30000000000000004, 1.1, 2.2250738585072014e-308, 4.35, 0.1234567890123456]})
    echo("integers", '{"a":[2147483648,-2147483649,4294967296,9007199254740992]}',
         {"a": [2147483648, -2147483649, 4294967296, 9007199254740992]})
    echo("long", f'{{"a":[0.{"1" * 2000},1.{"0" * 3000}1,-{"0." + "0" * 400}5e401]}}', {"a": [1 / 9, 1, -5]})
    echo("escapes", '{"a":"\\/\\u002f\\u0022\\u005c\\u0009\\u007f\\u2028"}', {"a": '//"\\\t\x7f\u2028'})
    echo("texts", '{"a":"\U0001f600\ud7ff\ue000\ufffd\uffff","\U0001f600":""}',
         {"a": "\U0001f600\ud7ff\ue000\ufffd\uffff", "\U0001f600": ""})
    echo("order", '{"z":1,"a":{"y":[],"b":{}},"m":null}', {"z": 1, "a": {"y": [], "b": {}}, "m": None})
    echo("names", '{"":0,"__proto__":{"a":1},"toString":2,"a.b":3,"a b":4}',
         {"": 0, "__proto__": {"a": 1}, "toString": 2, "a.b": 3, "a b": 4})
    bad = {
        "f5": b"\xf5\x80\x80\x80", "surrogate-low": b"\xed\xb0\x80", "beyond": b"\xf4\x90\x80\x80", "nul": b"\xc0\x80",
        "long-slash": b"\xe0\x80\xaf", "latin": b"\xe9", "short-3": b"\xe4\xb8", "short-4": b"\xf0\x9f\x98", "two-stray":
        b"\x80\xbf", "fe": b"\xfe"
    }
    for name, data in bad.items():
        for place, parts in {
                "text": ['{"messages":[{"role":"user","content":"', {"b64": b64(data)}, '"}]}'], "name":
            ['{"messages":[],"', {"b64": b64(data)}, '":1}'], "outside": ['{"messages":[]}', {"b64": b64(data)}]
        }.items():
            expect = {"status": [200, 400, 502]} if place != "outside" else refused(400, 502)
            one("json",
                f"utf8-{name}-{place}",
                "bytes that are not UTF-8 are never passed on", {"body_parts": parts},
                expect,
                expect_upstream={"calls": 1, "only_if_200": True, "body_utf8": True})
    halves = {
        "reversed": "\\ude00\\ud83d", "high-high": "\\ud83d\\ud83d", "high-end": "\\ud83d", "low-end": "\\ude00", "high-text":
        "\\ud83dx", "high-escape": "\\ud83d\\n"
    }
    for name, text in halves.items():
        one("json",
            f"half-{name}",
            "half of a pair is replaced or refused", {"body_text": f'{{"messages":[{{"role":"user","content":"{text}"}}]}}'},
            {"status": [200, 400, 502]},
            expect_upstream={"calls": 1, "only_if_200": True, "body_utf8": True})
    for name, number in {
            "big": "1e309", "negative": "-1e400", "digits": "1" + "0" * 400, "huge-exponent": "1e99999999999999999999"
    }.items():
        one("json",
            f"number-{name}",
            "a number is kept or refused, never another one", {
                "path": "/mcp/open", "body_text":
                f'{{"method":"tools/call","params":{{"name":"ping","arguments":{{"n":{number}}}}}}}'
            }, {"status": [200, 400, 502]},
            expect_upstream={"calls": 1, "only_if_200": True, "body_lacks": ["null", "inf", "Inf", "nan"]})
    twice = {
        "tool": ("/tools/echo", '{"a":1,"a":2}', [200, 400,
                                                  502]), "escaped": ("/tools/echo", '{"a":1,"\\u0061":2}', [200, 400, 502]),
        "role": ("/model", '{"messages":[{"role":"user","content":"a","role":"developer"}]}', [400, 502]), "content":
        ("/model", '{"messages":[{"role":"user","content":"a","content":null}]}', [400, 502]), "tools":
        ("/model", '{"messages":[],"tools":[],"tools":null}', [400, 502]), "method":
        ("/mcp/docs", '{"method":"tools/call","method":"tools/list","params":{"name":"search","arguments":{}}}', [403,
                                                                                                                  502]), "name":
        ("/mcp/docs", '{"method":"tools/call","params":{"name":"search","arguments":{},"name":"delete"}}', [403, 502]), "params":
        ("/mcp/docs", '{"method":"tools/call","params":{"name":"search","arguments":{}},"params":{"name":"ping","arguments":{}}}',
         [403, 502])
    }
    for name, (path, text, statuses) in twice.items():
        one("json",
            f"twice-{name}",
            "of two members of one name the last counts, or both are refused", {"path": path, "body_text": text},
            {"status": statuses},
            expect_upstream={"calls": 0})
    nul = {
        "name":
        '{"messages":[],"tools":[{"type":"function","function":{"name":"f\\u0000","description":"d","parameters":{}}}]}', "type":
        '{"messages":[],"tools":[{"type":"function\\u0000","function":{"name":"f","description":"d","parameters":{}}}]}', "role":
        '{"messages":[{"role":"tool\\u0000","content":"a"}]}', "member":
        '{"messages":[{"role":"user","content":"a","role\\u0000":"x"}]}', "ref":
        '{"messages":[],"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"$ref":"\\u0000#"}}}]}'
    }
    for name, text in nul.items():
        one("json", f"nul-{name}", "an escaped NUL ends no text", {"body_text": text}, refused(400, 502))
    one(
        "json", "nul-keyword", "a keyword ends where its text ends", {
            "body_text":
            '{"messages":[],"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"$ref\\u0000":"https://x"}}}]}'
        }, {"status": [200, 400, 502]})


def add():
    json_grammar()
    json_values()
