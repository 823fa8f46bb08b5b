# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""Wire contract 2.1 and 2.2: the listener, framing, and what is refused in which order."""

from build import HEAD, KEY, SERVED, DUMMY, case, many, mcp, one, raw, refused, user

MODEL = {"path": "/model", "body": {"messages": []}}
CLOCK = {"path": "/tools/clock", "body": {}}
DOCS = {"path": "/mcp/docs", "body": mcp()}
ROUTES = {"model": MODEL, "tool": CLOCK, "mcp": DOCS}
NO_ROUTE = refused(404)
BAD = refused(400, "closed")
BAD_HEAD = refused(400, 403, "closed")


def methods():
    for route, request in ROUTES.items():
        names = ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "SEARCH", "REPORT", "MKCOL"]
        many("methods",
             route,
             f"methods other than POST on the {route} route", [(dict(request, method=name), NO_ROUTE) for name in names],
             expect_upstream={"calls": 0})
    for name in ["post", "POSt", "POST_", "XPOST", "P-OST", "CONNECT"]:
        one("methods", f"token-{name}", "a method is compared byte for byte", dict(MODEL, method=name),
            refused(400, 404, 405, 501, "closed"))
    for name in ["PO(ST", "POST\x00", "P\xd6ST", '"POST"']:
        one("methods", f"bytes-{name.encode('latin-1').hex()}", "what no method is made of", dict(MODEL, method=name),
            refused(400, 404, 501, "closed"))


def paths():
    plain = [
        "/", "//", "/model/", "/modelx", "/xmodel", "/model;x", "/model.", "/model,x", "/model:80", "/model%0a", "/model%0d%0a",
        "/%6dodel", "/mode%6c", "/%2fmodel", "/model%5c", "/model%3f", "/model%23", "/model%25", "/model%", "/model%zz",
        "/model&a", "/model=", "/model~", "/model*", "/model'", "/model/model", "/model/tools/clock", "/mcp/docs/search",
        "/tools/", "/tools/clock/", "/tools/clockx", "/tools/cloc", "/tools/xclock", "/tools/clock%20", "/tools/%63lock",
        "/tools/clock%0a", "/tools/CLOCK", "/tools/model", "/tools/clock,echo", "/tools/clock;v=1", "/tools/*", "/tools/open",
        "/tool/clock", "/tools.clock", "/mcp/docs/", "/mcp/docsx", "/mcp/doc", "/mcp/Docs", "/mcp/DOCS", "/mcp/clock",
        "/mcp/%64ocs", "/mcp/0", "/mcp/docs%2fsearch", "/MCP/docs", "/mcps/docs", "/health", "/metrics", "/.well-known/x",
        "/v1/messages", "/v1/models", "/broker/model"
    ]
    many("paths",
         "none",
         "paths that are no route", [({"path": path, "body": {}}, NO_ROUTE) for path in plain],
         expect_upstream={"calls": 0})
    dots = [
        "/./model", "/model/..", "/model/../model", "/tools/./clock", "/tools/../tools/clock", "/tools/../model", "/mcp/./docs",
        "/mcp/../model", "/mcp/x/../docs", "/tools/clock/..", "/%2e%2e/model", "/x/%2E./model", "/..%2fmodel",
        "/x/..%2f..%2fmodel", "/\\model", "/tools\\clock", "/mcp\\docs", "/model\\", "/tools/x\\..\\clock", "/tools/clock\\",
        "/x/..;/model"
    ]
    many("paths",
         "dots",
         "dot segments and backslashes are looked at as they are",
         [({"path": path, "body": {"messages": []}}, refused(400, 404)) for path in dots],
         expect_upstream={"calls": 0})
    queries = [
        f"{path}{end}" for path in ("/model", "/tools/clock", "/mcp/docs", "/none")
        for end in ("?", "#", "?a", "?a=b&c", "#a", "?#", "#?")
    ]
    many("paths",
         "query",
         "a query or a fragment, empty ones too, is refused",
         [({"path": path, "body": mcp() if "mcp" in path else {"messages": []}}, refused(400, 404)) for path in queries],
         expect_upstream={"calls": 0})
    forms = [
        "*", "broker", "broker:80", "http://broker", "http://broker/tools/clock", "HTTP://broker/model", "//broker/tools/clock/",
        "unix:/model", "model?", "%2fmodel", ".", "./model", "../model", "\\model", "tools/clock"
    ]
    many("paths",
         "form",
         "a target in another form than a path is refused",
         [({"path": path, "body": {"messages": []}}, refused(400, 404)) for path in forms],
         expect_upstream={"calls": 0})
    for byte in (0x02, 0x0B, 0x0C, 0x0D, 0x1F, 0x7F, 0x80, 0xA0, 0xE9, 0xFF):
        one("paths", f"byte-{byte:02x}", "a byte that no target may hold",
            {"path": f"/model{chr(byte)}", "body": {"messages": []}}, refused(400, 404, "closed"))


def request_lines():
    versions = [
        "HTTP/0.9", "HTTP/2", "HTTP/2.0", "HTTP/3.0", "HTTP/1.3", "HTTP/1.10", "HTTP/01.1", "HTTP/1.01", "HTTP/1.1x", "HTTP/1",
        "HTTP/1.", "HTTP/.1", "HTTP/-1.1", "HTTP/1,1", "HTTP 1.1", "HTTPS/1.1", "ICY/1.1", "HTTP/1.1\t", "HTTP/11.1", "Http/1.1"
    ]
    for version in versions:
        one("framing", f"version-{version.encode().hex()}", f"version {version!r} is refused",
            raw(f"POST /model {version}\r\n{HEAD}"), refused(400, 404, 505, "closed"))
    one("framing", "version-10", "HTTP/1.0 may be served or refused", raw(f"POST /model HTTP/1.0\r\n{HEAD}"),
        {"status": [200, 400, 505, "closed"]})
    lines = {
        "two-blanks": "POST  /model HTTP/1.1", "two-blanks-behind": "POST /model  HTTP/1.1", "lead-blank":
        " POST /model HTTP/1.1", "lead-tab": "\tPOST /model HTTP/1.1", "tab-between": "POST /model\tHTTP/1.1", "end-blank":
        "POST /model HTTP/1.1 ", "end-word": "POST /model HTTP/1.1 x", "no-method": "/model HTTP/1.1", "only-method": "POST",
        "method-blank": "POST ", "no-target": "POST HTTP/1.1", "nul": "POST /model HTTP/1.1\x00", "cr": "POST /model HTTP/1.1\r",
        "vt": "POST\x0b/model\x0bHTTP/1.1", "answer": "HTTP/1.1 200 OK", "colon": "POST: /model HTTP/1.1", "field": "host: broker"
    }
    for name, line in lines.items():
        one("framing", f"line-{name}", "a request line that is malformed", raw(f"{line}\r\n{HEAD}"), refused(400, 404, "closed"))
    head = f"POST /model HTTP/1.1\r\n{HEAD}\r\ncontent-length: 15\r\n\r\n"
    rows = head.split("\r\n")[:-2]
    for i in range(len(rows) + 1):
        mixed = "".join(row + ("\n" if k == i else "\r\n") for k, row in enumerate(rows + [""]))
        one("framing", f"lf-{i}", "one line that ends with a line feed alone",
            {"raw_parts": [mixed + '{"messages":[]}'], "half_close": True}, BAD)
    one("framing", "cr-only", "lines that end with a carriage return alone",
        {"raw_parts": [head.replace("\r\n", "\r") + '{"messages":[]}'], "half_close": True}, BAD)
    one("framing", "lead-lf", "a bare line feed before the request",
        {"raw_parts": ["\n" + head + '{"messages":[]}'], "half_close": True}, {"status": [200, 400, "closed"]})
    tls = "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"
    one("framing", "tls", "a TLS greeting", {"raw_parts": [tls], "half_close": True}, refused(400, "closed"))
    one("framing", "head-only", "a head that ends with the stream", {"raw_parts": [head[:-4]], "half_close": True},
        refused(400, 408, "closed"))


def lengths():
    wrong = [
        "-15", "-0", "", "15;", "15 15", "15\t15", "15,15", "15, 3", ",15", "1e1", "0xF", "0b1111", "0o17", "1_5", "15a", "a15",
        "'15'", "+0", "00x0f", "\xb9\xb5", "15.", ".15", "Infinity", "NaN", "null", "15\x0b", "15\xa0"
    ]
    for value in wrong:
        one("framing", f"length-{value.encode('latin-1').hex() or 'empty'}", f"Content-Length {value!r} is refused",
            raw(f"POST /model HTTP/1.1\r\n{HEAD}", length=value), BAD)
    for value in (2**31 + 15, 2**32 + 15, 2**63 + 15, 2**64 + 15, 10**30):
        one("framing", f"length-{value}", "a length that wraps around in some type is too large",
            raw(f"POST /model HTTP/1.1\r\n{HEAD}", length=value), refused(400, 413, 502, "closed"))
    one("framing", "length-tab", "blanks around a length may be taken off",
        raw(f"POST /model HTTP/1.1\r\n{HEAD}", length="\t15\t", half_close=False), {"status": [200, 400]})
    one("framing", "length-long", "a stream that ends before the body does", raw(f"POST /model HTTP/1.1\r\n{HEAD}", length=16),
        refused(400, 408, 502, "closed"))
    twice = {
        "15-16": (15, 16), "16-15": (16, 15), "15-0": (15, 0), "3-15": (3, 15), "15-empty": (15, ""), "empty-15": ("", 15),
        "15-x": (15, "x")
    }
    for name, (first, second) in twice.items():
        one("framing", f"lengths-{name}", "two lengths that do not say the same",
            raw(f"POST /model HTTP/1.1\r\n{HEAD}\r\ncontent-length: {first}", length=second), BAD)
    one("framing", "lengths-same", "two equal lengths",
        raw(f"POST /model HTTP/1.1\r\n{HEAD}\r\ncontent-length: 15", half_close=False), {"status": [200, 400]})
    one("framing", "lengths-case", "two lengths under names of different case",
        raw(f"POST /model HTTP/1.1\r\n{HEAD}\r\nCONTENT-LENGTH: 3"), BAD)


def encodings():
    chunks = 'f\r\n{"messages":[]}\r\n0\r\n\r\n'
    for value in [
            "chunked", "Chunked", "gzip, chunked", "chunked, identity", "identity", "gzip", "xchunked", "", "chunked;q=1",
            "chunked,", "chunked, chunked"
    ]:
        name = value.encode().hex() or "empty"
        one("framing", f"te-{name}", f"Transfer-Encoding {value!r} alone is no header of the list",
            {"raw_parts": [f"POST /model HTTP/1.1\r\n{HEAD}\r\ntransfer-encoding: {value}\r\n\r\n{chunks}"], "half_close": True},
            refused(403) if value == "chunked" else refused(400, 403, "closed"))
        one("framing", f"te-length-{name}", f"Transfer-Encoding {value!r} together with a length",
            raw(f"POST /model HTTP/1.1\r\n{HEAD}\r\nTransfer-Encoding: {value}", body=chunks), refused(400, 403, "closed"))
    one("framing", "te-get", "the method is looked at before the headers",
        {"method": "GET", "path": "/model", "body": {}, "chunked": True}, refused(400, 404))
    one("framing", "te-expect", "a body that is waited for", dict(MODEL, headers={"expect": "100-continue"}), refused(403))
    one("framing", "te-h2c", "an upgrade", dict(MODEL, headers={"upgrade": "h2c", "http2-settings": "AAMAAABk"}), refused(403))


def fields():
    for char in '()<>@,;\\"/[]?={} ':
        one("framing", f"name-{ord(char):02x}", f"a field name with {char!r}",
            raw(f"POST /model HTTP/1.1\r\n{HEAD}\r\nuser{char}agent: x"), BAD_HEAD)
    for char in "!#$%&'*+.^_`|~":
        one("framing", f"name-{ord(char):02x}", f"a field name with {char!r} is a name, and not of the list",
            dict(MODEL, headers={f"user{char}agent": "x"}), refused(403))
    for byte in [n for n in range(0x20) if n not in (0x09, )] + [0x7F]:
        one("framing", f"value-{byte:02x}", "a control byte in a value",
            raw(f"POST /model HTTP/1.1\r\n{HEAD}\r\nuser-agent: a{chr(byte)}b"), BAD_HEAD)
    one("framing", "value-tab", "a tab inside a value", dict(MODEL, headers={"user-agent": "a\tb"}), {"status": [200, 400]})
    for name, line in {
            "empty-name": ": x", "no-colon": "user-agent", "blank-line": " ", "only-colon": ":", "tab-colon": "user-agent\t: x",
            "lead-blank": " user-agent: x", "lead-tab": "\tuser-agent: x"
    }.items():
        one("framing", f"field-{name}", "a malformed field", raw(f"POST /model HTTP/1.1\r\n{HEAD}\r\n{line}"), BAD_HEAD)
    for name in ("host: broker", "authorization: " + DUMMY, "content-type: application/json"):
        field = name.split(":")[0]
        for fold in (" x", "\tx", " ", "\t"):
            one("framing", f"fold-{field}-{fold.encode().hex()}", "a line that goes on the one before it",
                raw(f"POST /model HTTP/1.1\r\n{HEAD.replace(name, name + chr(13) + chr(10) + fold)}"), BAD_HEAD)
    for field in ("user-agent", "accept", "accept-encoding", "content-type"):
        one("framing",
            f"long-{field}",
            "a value of 1,000 characters passes",
            dict(MODEL, headers={field: "a" * 1000}),
            SERVED,
            expect_upstream={"calls": 1})
    one("framing", "host-none", "HTTP/1.1 without Host", dict(MODEL, headers={"host": None}), refused(400))
    one("framing", "host-none-tool", "HTTP/1.1 without Host", dict(CLOCK, headers={"host": None}), refused(400))
    one("framing",
        "fields-all",
        "every header of the list at once",
        dict(MODEL, headers={"accept": "*/*", "accept-encoding": "gzip, br", "user-agent": "a"}),
        SERVED,
        expect_upstream={"calls": 1})
    one("framing", "fields-least", "host and length are enough",
        {"raw_parts": ['POST /model HTTP/1.1\r\nhost: broker\r\ncontent-length: 15\r\n\r\n{"messages":[]}']}, SERVED)
    one("framing", "fields-case", "names in any case, values without a blank before them", {
        "raw_parts":
        [f'POST /model HTTP/1.1\r\nHoSt:broker\r\ncOnTeNt-LeNgTh:15\r\nAuthoRIZATION:{DUMMY}\r\n\r\n{{"messages":[]}}']
    }, SERVED)


def headers():
    names = [
        "connection", "x-api-key", "x-a", "openai-organization", "accept-language", "origin", "referer", "cookie2", "via",
        "x-http-method-override", "x-method-override", "trailer", "sec-fetch-mode", "if-none-match", "content-disposition",
        "content-range", "content-length2", "hosts", "host2", "xhost", "authorizatio", "authorizationx", "user_agent",
        "accept_encoding", "accept-encodings", "proxy-authenticate", "www-authenticate", "x-request-id", "server", "set-cookie",
        "location", "max-forwards", "from", "link", "prefer", "priority", "http2-settings"
    ]
    many("headers",
         "unlisted",
         "headers that are not on the list", [(dict(MODEL, headers={name: "x"}), refused(403)) for name in names],
         expect_upstream={"calls": 0})
    many("headers",
         "unlisted-case",
         "the list is compared without case, and ends there",
         [(dict(MODEL, headers={name: "x"}), refused(403)) for name in ("CONNECTION", "Cookie", "X-A", "Proxy-Authorization")],
         expect_upstream={"calls": 0})
    for route, request in ROUTES.items():
        one("headers", f"twice-unlisted-{route}", "a header that is not on the list is refused as such, however often it comes",
            dict(request, headers={"cookie": "a"}, extra_headers=[["cookie", "b"], ["Cookie", "a"]]), refused(403))
    for name in ("content-type", "accept-encoding"):
        one("headers", f"twice-{name}", "a header of the list twice", dict(MODEL,
                                                                           headers={name: "a"},
                                                                           extra_headers=[[name, "b"]]),
            {"status": [200, 400, 403]})
    one("headers", "twice-before-method", "the method is looked at before headers that come twice",
        dict(MODEL, method="GET", extra_headers=[["accept", "a"], ["accept", "b"]]), refused(400, 404))


def credentials():
    values = [
        "", "sandbox-dummy-key", "Bearer", "Bearer  sandbox-dummy-key", "Bearer sandbox-dummy-ke", "Bearer sandbox-dummy-key=",
        "Bearer SANDBOX-DUMMY-KEY", "Bearer sandbox-dummy-key,", ",Bearer sandbox-dummy-key", "Bearer:sandbox-dummy-key",
        "Bearer\tsandbox-dummy-key", 'Bearer "sandbox-dummy-key"', "Token sandbox-dummy-key", "Bearer sandbox-dummy-key x",
        "Bearer " + KEY, "Digest x", "null", "Bearer sandbox-dummy-key;a=b"
    ]
    for route, request in ROUTES.items():
        many("credential",
             f"wrong-{route}",
             "anything but the dummy key is refused",
             [(dict(request, headers={"authorization": value}), refused(403)) for value in values],
             expect_upstream={"calls": 0})
        case("credential",
             f"none-{route}",
             "no credential at all is fine",
             requests=[dict(request, headers={"authorization": None})],
             expect=[SERVED])
    one("credential", "blanks-around", "blanks around a value are no part of it",
        dict(MODEL, headers={"authorization": f"  {DUMMY} \t"}), {"status": [200, 400, 403]})
    for name, values in {
            "empty-second": [DUMMY, ""], "empty-first": ["", DUMMY], "other-case": [DUMMY, "bearer sandbox-dummy-key"], "three":
        [DUMMY, DUMMY, "x"]
    }.items():
        fields = "\r\n".join(f"authorization: {value}" for value in values)
        one("credential", f"twice-{name}", "two credentials that are not the same",
            raw(f"POST /model HTTP/1.1\r\nhost: broker\r\n{fields}", half_close=False), refused(400, 403))


def hosts():
    values = [
        "", "brokers", "broke", "broker.", "broker:0", "broker:80", "broker:x", "[::1]", "::1", "broker,broker", "broker broker",
        "broker/", "broker/model", "BROKER", "bRoker", "xn--broker", "broker\xe9", "0", "unix", "broker;x", "broker?x",
        "broker#x", "a@broker", "/broker"
    ]
    for route, request in ROUTES.items():
        many("host",
             f"wrong-{route}",
             "anything but broker is refused", [(dict(request, headers={"host": value}), refused(400, 403)) for value in values],
             expect_upstream={"calls": 0})
    for name, values in {
            "second": ["broker", "evil"], "first": ["evil", "broker"], "empty": ["broker", ""], "case": ["broker", "BROKER"]
    }.items():
        fields = "\r\n".join(f"host: {value}" for value in values)
        one("host", f"twice-{name}", "two hosts that are not the same", raw(f"POST /model HTTP/1.1\r\n{fields}",
                                                                            half_close=False), refused(400, 403))


def pieces():
    whole = f"POST /tools/clock HTTP/1.1\r\n{HEAD}\r\ncontent-length: 2\r\n\r\n{{}}"
    cuts = list(range(1, 32, 4)) + list(range(len(whole) - 30, len(whole)))
    many("pieces", "cut", "a request in two pieces, cut at any place",
         [({"raw_parts": [whole], "send_pause_ms": 15, "send_cut": cut}, dict(SERVED, json={"text": "2026-01-02T03:04:05Z"}))
          for cut in cuts])
    one("pieces", "half-close", "a caller that ends its sending waits for the answer", dict(CLOCK, half_close=True), SERVED)
    one("pieces", "half-close-slow", "so does one whose tool takes long", {"path": "/tools/slow", "body": {}, "half_close": True},
        SERVED)
    get = f"GET /model HTTP/1.1\r\n{HEAD}\r\n\r\n"
    behind = {
        "same": whole, "get": get, "junk": "\x00\x01\x02 junk", "blank": "\r\n\r\n", "part": "POST /tools/clo", "body":
        "x" * 70000
    }
    for name, more in behind.items():
        case("pieces",
             f"behind-{name}",
             "bytes behind the first request are no second one",
             requests=[{"raw_parts": [whole + more], "responses_wait": 2}],
             expect=[dict(SERVED, responses_max=1, closes=True)])
    refused_head = f"POST /model HTTP/1.1\r\n{HEAD}\r\ncookie: a\r\ncontent-length: 0\r\n\r\n"
    case("pieces",
         "behind-refusal",
         "nor behind one that is refused",
         requests=[{"raw_parts": [refused_head + whole], "responses_wait": 2}],
         expect=[dict(refused(403), responses_max=1, closes=True)])
    bad = {"path": "/model", "body_text": "{"}
    answers = {
        "200": (CLOCK, SERVED), "400": ({"path": "/model", "body": {}}, refused(400)), "403":
        (dict(CLOCK, headers={"x": "y"}), refused(403)), "404": ({"path": "/", "body": {}}, NO_ROUTE), "502": (bad, refused(502)),
        "bad-head": (raw("POST", half_close=False), refused(400))
    }
    for name, (request, expect) in answers.items():
        case("pieces",
             f"closes-{name}",
             "each answer ends the connection",
             requests=[request],
             expect=[dict(expect, closes=True)])


# Each breaks the rule of one line of the table in 2.2; the first broken one decides.
BREAKS = [("method", {"method": "PUT"}, 404), ("query", {"path": "/model?a"}, 404), ("header", {"headers": {"cookie": "a"}}, 403),
          ("credential", {"headers": {"authorization": "Bearer x"}}, 403), ("host", {"headers": {"host": "x"}}, 403),
          ("path", {"path": "/none"}, 404), ("json", {"body_text": "{"}, 502),
          ("size", {"body_repeat": {"prefix": "", "char": " ", "count": 262145, "suffix": ""}}, 502), ("object", {"body":
                                                                                                                  []}, 400),
          ("payload", {"body": {"messages": 1}}, 400)]


def broken(*changes):
    """The plain request with these changes; the body's last one counts."""
    request = dict(MODEL)
    fields = {}
    for change in changes:
        if any(name.startswith("body") for name in change):
            request.pop("body", None)
        request.update(change)
        fields.update(change.get("headers", {}))
    return dict(request, headers=fields) if fields else request


def precedence():
    for i, (first, change, status) in enumerate(BREAKS):
        for second, other, _ in BREAKS[i + 1:]:
            both_bodies = any(n.startswith("body") for n in change) and any(n.startswith("body") for n in other)
            both_paths = "path" in change and "path" in other
            if both_bodies or both_paths:
                continue
            ways = [status] + ([400] if first == "query" else []) + (["closed"] if second == "size" and status != 502 else [])
            one("precedence", f"{first}-{second}", f"{first} is looked at before {second}", broken(other, change), refused(*ways))
    spent = [(dict(CLOCK, repeat=48), SERVED)]
    flight = [({"path": "/tools/slow", "body": {}}, SERVED)]
    for i, (name, change, status) in enumerate(BREAKS):
        expect = (refused(*([status, 400] if name == "query" else [status]))
                  if i < 6 else refused(429, "closed") if name == "size" else refused(429))
        spent.append((broken(change), expect))
        flight.append((dict(broken(change), delay_ms=300 + 100 * i), expect))
    for name, pairs, more in (("spent", spent, {}), ("flight", flight, {"mode": "parallel"})):
        case("precedence",
             name,
             f"what is looked at before and behind the {name} budget",
             requests=[p[0] for p in pairs],
             expect=[p[1] for p in pairs],
             fresh=True,
             expect_upstream={"calls": 0},
             **more)


def budget():
    rest = [(dict(CLOCK, repeat=48), SERVED), (CLOCK, refused(429)), (MODEL, refused(429)), (DOCS, refused(429))]
    free = {
        "malformed": (raw("POST", half_close=False), BAD), "no-host": (dict(CLOCK, headers={"host": None}), refused(400)),
        "credential": (dict(CLOCK, headers={"authorization": "x"}), refused(403)), "chunked":
        (dict(CLOCK, chunked=True), refused(403)), "fragment": (dict(CLOCK, path="/tools/clock#"), refused(400, 404)), "path":
        (dict(CLOCK, path="/x"), NO_ROUTE), "silent": ({"raw_parts": [""], "half_close": True}, refused(400, 408, "closed"))
    }
    for name, (request, expect) in free.items():
        pairs = [(dict(request, repeat=60), expect)] + rest
        case("budget",
             f"free-{name}",
             "a refusal before the budget costs nothing of it",
             requests=[p[0] for p in pairs],
             expect=[p[1] for p in pairs],
             fresh=True)
    costly = {
        "array": ({"path": "/tools/clock", "body": []}, refused(400)), "empty-body": ({"path": "/tools/clock", "body_text":
                                                                                       ""}, refused(502)), "huge":
        ({"path": "/tools/huge", "body": {}}, refused(502)), "mcp-batch": ({"path": "/mcp/docs", "body": [mcp()]}, refused(400)),
        "mixed-payload": ({"path": "/model", "body": {"messages": [user(None)]}}, refused(400))
    }
    for name, (request, expect) in costly.items():
        case("budget",
             f"spends-{name}",
             "47 refusals behind the budget leave one call",
             requests=[dict(request, repeat=47), CLOCK, CLOCK],
             expect=[expect, SERVED, refused(429)],
             fresh=True)
    case("budget",
         "spends-upstream",
         "calls that the endpoint refuses count",
         upstream={"status": 400},
         requests=[dict(MODEL, repeat=48), CLOCK],
         expect=[refused(502), refused(429)],
         fresh=True)
    slow = {"path": "/tools/slow", "body": {}}
    case("budget",
         "gone-tool",
         "a tool whose caller is gone keeps the slot until it returns",
         mode="parallel",
         requests=[dict(slow, abort_after_ms=200), dict(CLOCK, delay_ms=900)],
         expect=[None, {"status": [200, 429]}],
         then_requests=[dict(CLOCK, delay_ms=2500)],
         then_expect=[SERVED],
         fresh=True)
    case("budget",
         "gone-mcp",
         "an MCP call whose caller is gone frees the slot",
         upstream={"slow_ms": 5000},
         requests=[dict(DOCS, abort_after_ms=300), dict(CLOCK, delay_ms=900)],
         expect=[None, SERVED],
         fresh=True)
    unfinished = {"raw_parts": [f"POST /tools/clock HTTP/1.1\r\n{HEAD}\r\ncontent-length: 100\r\n\r\n{{"]}
    case("budget",
         "flight-body",
         "a call is in flight before its body is read",
         mode="parallel",
         requests=[dict(unfinished, abort_after_ms=1500),
                   dict(CLOCK, delay_ms=500),
                   dict(CLOCK, path="/none", delay_ms=700)],
         expect=[None, refused(429), NO_ROUTE],
         then_requests=[CLOCK],
         then_expect=[SERVED],
         fresh=True)


def listener():
    for n in (8, 16, 17, 40):
        case("listener",
             f"connections-{n}",
             f"{n} idle connections",
             probe="connections",
             open=n,
             max=min(n, 16),
             min=min(n, 15),
             fresh=True)
    case("listener",
         "idle-head",
         "a head that does not come whole",
         probe="idle_deadline",
         send=["POST /tools/clock HTTP/1.1\r\nhost: bro"],
         at_least_ms=8000,
         at_most_ms=13000,
         slow=True,
         fresh=True)
    case("listener",
         "idle-silent",
         "a connection that says nothing",
         probe="idle_deadline",
         send=[],
         at_least_ms=8000,
         at_most_ms=13000,
         slow=True,
         fresh=True)


def add():
    for part in (methods, paths, request_lines, lengths, encodings, fields, headers, credentials, hosts, pieces, precedence,
                 budget, listener):
        part()
