# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""Wire contract 2.7: what comes back from an endpoint, and keys that do."""

import base64
import gzip
import urllib.parse
import zlib

from build import KEY, MCP_KEY, SERVED, b64, case, mcp, one, refused, user

MODEL = {"path": "/model", "body": {"messages": [user()]}}
DOCS = {"path": "/mcp/docs", "body": mcp()}
ROUTES = {"model": MODEL, "docs": DOCS}
AGAIN = (429, 502, 503, 504)
FAILED = refused(502)


def slow_if(condition):
    """Cases in which tries are waited for."""
    return {"slow": True} if condition else {}


def statuses():
    for route, request in ROUTES.items():
        for status in (200, 201, 202, 203, 206, 207, 208, 218, 250):
            one("upstream",
                f"{route}-{status}",
                "any 2xx counts",
                request,
                SERVED,
                upstream={"status": status},
                expect_upstream={"calls": 1})
        others = [
            300, 304, 305, 306, 400, 401, 402, 403, 404, 405, 406, 407, 408, 410, 411, 412, 413, 414, 415, 416, 417, 418, 421,
            422, 423, 424, 425, 426, 428, 431, 498, 499, 500, 501, 505, 507, 508, 510, 511, 520, 529, 530, 598, 600, 999
        ]
        for status in others + list(AGAIN):
            one("upstream",
                f"{route}-{status}",
                f"status {status} is a failure",
                request,
                FAILED,
                upstream={"status": status, "body_text": '{"error":{"message":"upstream detail 4711"}}'},
                expect_upstream={"calls": [1, 2, 3, 4] if status in AGAIN else 1},
                **slow_if(status in AGAIN and (route, status) != ("model", 503)))
        for status in (301, 302, 303, 307, 308):
            one("upstream",
                f"{route}-redirect-{status}",
                "no redirect is followed",
                request,
                FAILED,
                upstream={"redirect": status},
                expect_upstream={"calls": 1, "routes": {"other": 0}})
    for name, value, n in (("zero", "0", [2, 3, 4]), ("one", "1", [2, 3, 4]), ("long", "120", 1), ("day", "86400", 1),
                           ("huge", "99999999999999999999", 1), ("empty", "", [1, 2, 3, 4]), ("word", "soon", [1, 2, 3, 4]),
                           ("negative", "-5", [1, 2, 3, 4]), ("fraction", "1.5", [1, 2, 3, 4]), ("blanks", " 1 ", [2, 3, 4]),
                           ("past", "Sun, 06 Nov 1994 08:49:37 GMT",
                            [2, 3, 4]), ("past-850", "Sunday, 06-Nov-94 08:49:37 GMT",
                                         [2, 3, 4]), ("past-asctime", "Sun Nov  6 08:49:37 1994", [2, 3, 4]),
                           ("future", "Fri, 01 Jan 2100 00:00:00 GMT", 1), ("future-asctime", "Fri Jan  1 00:00:00 2100", 1)):
        one("upstream",
            f"retry-after-{name}",
            f"Retry-After: {value}",
            MODEL,
            FAILED,
            upstream={"status": 429, "headers": {"retry-after": value}},
            expect_upstream={"calls": n},
            **slow_if(n != 1 and name != "past-850"))
    one("upstream",
        "retry-after-400",
        "no other 4xx is tried again, whatever it says",
        MODEL,
        FAILED,
        upstream={"status": 400, "headers": {"retry-after": "0"}},
        expect_upstream={"calls": 1})
    one("upstream",
        "retry-after-500",
        "nor a 500",
        MODEL,
        FAILED,
        upstream={"status": 500, "headers": {"retry-after": "0"}},
        expect_upstream={"calls": 1})


def bodies():
    values = {
        "true": True, "false": False, "zero": 0, "minus": -1.5, "text": "x", "empty-text": "", "list": [], "nested":
        [[{"a": [None]}]], "error": {"error": {"message": "x", "code":
                                               7}}, "unicode": {"é": "丁😀\x7f\u2028"}, "exponent": [1e21, 1e-7, 5e-324]
    }
    for route, request in ROUTES.items():
        for name, value in values.items():
            one("upstream",
                f"{route}-value-{name}",
                "any JSON value is passed on",
                request,
                dict(SERVED, json=value),
                upstream={"body": value},
                expect_upstream={"calls": 1})
    texts = {
        "blank": " ", "words": "upstream says no", "half": '{"a":"b', "two": "{}\n{}", "comma": '{"a":1,}', "nan": "[NaN]",
        "infinity": "[-Infinity]", "hash": "# x\n{}", "xml": "<?xml?><a/>", "nul": "{}\x00", "bare": "{a:1}", "tab": '{"a":"\t"}',
        "jsonp": "f({})", "lead-zero": "[01]", "html": "<!doctype html>", "sse-done": "data: [DONE]\n\n", "form": "a=1&b=2",
        "escape": '"\\x41"', "prefix": ")]}'\n{}"
    }
    for name, text in texts.items():
        one("upstream",
            f"text-{name}",
            "an answer that is no JSON",
            MODEL,
            FAILED,
            upstream={"body_text": text},
            expect_upstream={"calls": 1})
    lenient = {
        "bom": b"\xef\xbb\xbf[]", "utf16": '{"a":1}'.encode("utf-16"), "latin": b'{"a":"\xe9"}', "surrogate":
        b'{"a":"\xed\xa0\x80"}', "half": b'{"a":"\\ud800"}', "big": b'{"a":1e400}', "nul": b'{"a":"\\u0000"}'
    }
    for name, data in lenient.items():
        case("upstream",
             f"odd-{name}",
             "read or refused, and the broker goes on",
             requests=[MODEL, {"path": "/tools/clock", "body": {}}],
             expect=[{"status": [200, 502]}, SERVED],
             upstream={"body_b64": b64(data)},
             expect_upstream={"calls": 1})
    one("upstream",
        "odd-blanks",
        "blanks before and behind",
        MODEL,
        dict(SERVED, json={"a": 1}),
        upstream={"body_text": '\n\n\n   {"a":1}\r\n'},
        expect_upstream={"calls": 1})
    one("upstream",
        "odd-type",
        "the type that an answer says does not count",
        MODEL,
        dict(SERVED, json={"a": 1}),
        upstream={"body_text": '{"a":1}', "headers": {"content-language": "x"}},
        expect_upstream={"calls": 1})
    twice = {
        "flat": ('{"a":1,"a":2}', {"a": 2}), "inner": ('{"a":{"b":1},"a":{"c":2}}', {"a": {"c": 2}}), "escaped":
        ('{"a":1,"\\u0061":[]}', {"a": []})
    }
    for name, (text, value) in twice.items():
        one("upstream",
            f"twice-{name}",
            "of two members of one name the last counts",
            MODEL,
            dict(SERVED, json=value),
            upstream={"body_text": text},
            expect_upstream={"calls": 1})


def sizes():
    whole = b'"' + b"x" * 1048574 + b'"'
    for name, more in {
            "plain": {}, "chunked": {"chunked": True}, "gzip": {"gzip": True}, "chunked-gzip": {"gzip": True, "chunked": True}
    }.items():
        one("upstream",
            f"size-{name}",
            "1 MiB after decoding",
            MODEL,
            dict(SERVED, body_len=1048576),
            upstream={"huge_bytes": len(whole), **more},
            expect_upstream={"calls": 1})
        one("upstream",
            f"size-over-{name}",
            "one byte more",
            MODEL,
            FAILED,
            upstream={"huge_bytes": len(whole) + 1, **more},
            expect_upstream={"calls": 1})
    one("upstream",
        "size-blanks",
        "blanks count",
        MODEL,
        FAILED,
        upstream={"body_parts": [{"repeat": " ", "count": 1048575}, "{}"]},
        expect_upstream={"calls": 1})
    one("upstream", "size-10mib", "10 MiB", MODEL, FAILED, upstream={"huge_bytes": 10 * 1048576}, expect_upstream={"calls": 1})
    data = b'{"a":1}'
    for name, body, encoding in (("gzip", gzip.compress(data, mtime=0), "gzip"), ("x-gzip", gzip.compress(data,
                                                                                                          mtime=0), "x-gzip"),
                                 ("deflate", zlib.compress(data), "deflate"), ("none", data, "identity")):
        one("upstream",
            f"encoded-{name}",
            "an answer that is encoded",
            MODEL, {"status": [200, 502] if name != "gzip" else 200},
            upstream={"body_b64": b64(body), "headers": {"content-encoding": encoding}},
            expect_upstream={"calls": 1})
    for name, body, encoding in (("lie", data, "gzip"), ("cut", gzip.compress(data * 400, mtime=0)[:-12], "gzip"),
                                 ("unknown", b"\x01\x02", "zz")):
        one("upstream",
            f"encoded-{name}",
            "an answer that cannot be decoded",
            MODEL,
            FAILED,
            upstream={"body_b64": b64(body), "headers": {"content-encoding": encoding}},
            expect_upstream={"calls": 1})
    for name, how in {
            "early": {"close_early": True}, "before": {"close_before": True}, "early-chunked":
        {"close_early": True, "chunked": True}, "early-large": {"close_early": True, "huge_bytes": 500000}
    }.items():
        for route, request in ROUTES.items():
            one("upstream",
                f"closed-{name}-{route}",
                "a connection that ends too early",
                request,
                FAILED,
                upstream=how,
                expect_upstream={"calls": 1})
    names = [
        "set-cookie", "x-request-id", "authorization", "www-authenticate", "location", "server", "date", "cache-control",
        "x-ratelimit-limit", "retry-after", "etag", "vary", "alt-svc", "access-control-allow-origin"
    ]
    for route, request in ROUTES.items():
        one("upstream",
            f"headers-{route}",
            "no header of an endpoint is passed on",
            request,
            dict(SERVED, headers_absent=[n for n in names if n != "date"]),
            upstream={"headers": {name: "x" for name in names}},
            expect_upstream={"calls": 1})
    for route, request, key in (("model", MODEL, KEY), ("docs", DOCS, MCP_KEY)):
        case("upstream",
             f"request-{route}",
             "what an endpoint gets",
             requests=[dict(request, headers={"user-agent": "guest/1", "accept": "text/x-guest"})],
             expect=[SERVED],
             expect_upstream={
                 "calls": 1, "headers_present": {"content-type": "application/json", "authorization": f"Bearer {key}"},
                 "headers_lack": ["guest", "sandbox-dummy-key"], "headers_absent": ["cookie", "expect", "user-agent"]
             })


def forms(key):
    raw = key.encode()
    return {
        "plain": key, "percent": urllib.parse.quote(key, safe="!*'()-._~"), "base64": base64.b64encode(raw).decode(), "base64url":
        base64.urlsafe_b64encode(raw).decode().rstrip("="), "hex": raw.hex(), "hex-upper": raw.hex().upper()
    }


def reflection():
    for route, request, key in (("model", MODEL, KEY), ("docs", DOCS, MCP_KEY)):
        for form, text in forms(key).items():
            places = {
                "text": text, "inside": {"choices": [{"message": {"content": f"a{text}b"}}]}, "name": {f"x{text}": 1}, "deep":
                [[[[{"a": [{"b": ["", text]}]}]]]], "list": [0, text], "lines": {"a": f"line\n{text}\n"}
            }
            for place, value in places.items():
                one("reflection",
                    f"{route}-{form}-{place}",
                    "a key that comes back",
                    request,
                    FAILED,
                    upstream={"body": value},
                    expect_upstream={"calls": 1})
        escapes = {
            "all": "".join(f"\\u{ord(c):04x}" for c in key), "upper": "".join(f"\\u{ord(c):04X}" for c in key), "some":
            key.replace("e", "\\u0065").replace("/", "\\/")
        }
        for name, text in escapes.items():
            one("reflection",
                f"{route}-escaped-{name}",
                "a key in escapes",
                request,
                FAILED,
                upstream={"body_text": f'{{"a":"x{text}y"}}'},
                expect_upstream={"calls": 1})
        one("reflection",
            f"{route}-gzip",
            "a key in an encoded answer",
            request,
            FAILED,
            upstream={"body": {"a": key}, "gzip": True},
            expect_upstream={"calls": 1})
        one("reflection",
            f"{route}-late",
            "a key at the end of a long answer",
            request,
            FAILED,
            upstream={"body": {"a": "x" * 900000 + key}},
            expect_upstream={"calls": 1})
        one("reflection",
            f"{route}-twice",
            "half a key before a whole one",
            request,
            FAILED,
            upstream={"body": {"a": key[:-1] + key}},
            expect_upstream={"calls": 1})
        raw = key.encode()
        near = {
            "short": key[:-1], "tail": key[1:], "reversed": key[::-1], "case": key.swapcase(), "hex-mixed":
            raw.hex()[:-1] + raw.hex()[-1].upper() + "0" if raw.hex()[-1].isalpha() else raw.hex()[:-1], "gap":
            key[:5] + " " + key[5:], "newline": key[:5] + "\n" + key[5:], "base64-shifted": base64.b64encode(b"x" + raw).decode(),
            "rot": "".join(chr(ord(c) + 1) for c in key)
        }
        for name, text in near.items():
            one("reflection",
                f"{route}-near-{name}",
                "what only looks like a key passes",
                request,
                dict(SERVED, may_hold_secret=True),
                upstream={"body": {"a": text}},
                expect_upstream={"calls": 1})
        one("reflection",
            f"{route}-pieces",
            "pieces of a key pass",
            request,
            dict(SERVED, may_hold_secret=True),
            upstream={"body": [key[:10], key[10:]]},
            expect_upstream={"calls": 1})
    for form, text in forms(KEY).items():
        one("reflection",
            f"tool-{form}",
            "what a tool answers is looked through for every live key", {"path": "/tools/echo", "body": {"a": f"-{text}-"}},
            FAILED,
            expect_upstream={"calls": 0})
        one("reflection",
            f"docs-of-model-{form}",
            "and so is an answer for the keys of other endpoints",
            DOCS,
            FAILED,
            upstream={"body": {"a": text}},
            expect_upstream={"calls": 1})


def add():
    for part in (statuses, bodies, sizes, reflection):
        part()
