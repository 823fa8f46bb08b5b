# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""A real sandbox-egress with a configuration of the test's own, raw frames to it, and endpoints that do what they are told."""

import http.server
import json
import os
import pathlib
import pwd
import select
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import threading

WAIT = 20  # seconds until something that must come counts as missing

ANNOUNCE, SERVICE, CHARGE, SCAN, RELOAD = 0x0301, 0x0302, 0x0303, 0x0304, 0x0305
MODEL_CALL, MCP_CALL, CALL_CANCEL = 0x0311, 0x0312, 0x0313
GRANTED, CHARGED, SCANNED, RELOADED, ANSWER = 0x0401, 0x0402, 0x0403, 0x0404, 0x0411

# wire/failure.h
NONE, KEY_MISSING, REFUSED, UNREACHABLE, BAD_ANSWER, TIMEOUT, RATE_LIMITED = 0, 7, 8, 9, 10, 11, 12
ADDRESS_REFUSED, REFLECTED, BUDGET_SPENT, DEADLINE, CANCELLED, RULES = 13, 14, 15, 16, 17, 31

KEY = "host-secret-4f9c2a7e/+="
MCP_KEY = "mcp-secret-77"


def text(value):
    data = value.encode() if isinstance(value, str) else value
    return struct.pack(">I", len(data)) + data


def texts(values):
    return struct.pack(">I", len(values)) + b"".join(map(text, values))


class Closed(Exception):
    """The egress ended the connection."""


class Peer:
    """A connection to the egress, with whatever frames a test likes."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(WAIT)
        self.socket.connect(path)

    def raw(self, data):
        self.socket.sendall(data)

    def send(self, kind, number=0, payload=b""):
        self.raw(b"SBX1" + struct.pack(">HHII", kind, 0, number, len(payload)) + payload)

    def _read(self, count):
        data = b""
        while len(data) < count:
            try:
                piece = self.socket.recv(count - len(data))
            except ConnectionResetError:
                piece = b""
            if not piece:
                raise Closed
            data += piece
        return data

    def receive(self):
        """Kind, id and payload of the next frame."""
        head = self._read(16)
        assert head[:4] == b"SBX1", head
        kind, _, number, length = struct.unpack(">HHII", head[4:])
        return kind, number, self._read(length)

    def announce(self, turn="t1", deadline=60000, budget=48, servers=(), expect=NONE):
        self.send(
            ANNOUNCE,
            1,
            text(turn) + text("chat:1") + text("guest") + struct.pack(">II", deadline, budget) + texts(list(servers)),
        )
        kind, _, payload = self.receive()
        assert (kind, payload) == (GRANTED, bytes([expect])), (kind, payload)
        return self

    def model(self, messages=(), tools=None, number=7):
        payload = text(json.dumps(list(messages)) if not isinstance(messages, (str, bytes)) else messages)
        payload += b"\0" if tools is None else b"\1" + text(tools if isinstance(tools, str) else json.dumps(tools))
        self.send(MODEL_CALL, number, payload)

    def mcp(self, server, tool, arguments=None, number=7):
        arguments = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
        self.send(MCP_CALL, number, text(server) + text(tool) + text(arguments))

    def answer(self):
        kind, number, payload = self.receive()
        assert kind == ANSWER, hex(kind)
        failure, status, retry, prompt, completion = struct.unpack(">BHIII", payload[:15])
        result = {"failure": failure, "status": status, "retry": retry, "usage": (prompt, completion), "id": number}
        if failure == NONE:
            result["json"] = json.loads(payload[19:])
        return result

    def charge(self, turn):
        self.send(CHARGE, 3, text(turn))
        kind, _, payload = self.receive()
        assert kind == CHARGED
        return payload[0]

    def scan(self, data):
        self.send(SCAN, 4, data if isinstance(data, bytes) else data.encode())
        kind, _, payload = self.receive()
        assert kind == SCANNED
        return payload[0]

    def reload(self):
        self.send(RELOAD, 5)
        kind, _, payload = self.receive()
        assert kind == RELOADED
        return payload[0] == 1, payload[5:].decode()

    def is_closed(self):
        """Whether the egress ends the connection, having sent nothing more."""
        try:
            self.receive()
        except Closed:
            return True
        return False

    def close(self):
        self.socket.close()


class Endpoint:
    """An HTTP server on loopback. act(handler, body) answers each request; the default echoes a chat completion."""

    def __init__(self, certificate=None):
        outer = self
        self.requests = []
        self.arrived = threading.Semaphore(0)
        self.act = lambda handler, body: handler.reply({"choices": [{"message": {"role": "assistant", "content": "ok"}}]})

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def reply(self, value, status=200, headers=(), raw=None):
                data = raw if raw is not None else json.dumps(value).encode()
                self.send_response(status)
                for name, content in headers:
                    self.send_header(name, content)
                if not any(name.lower() == "content-type" for name, _ in headers):
                    self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                outer.requests.append({"path": self.path, "headers": dict(self.headers), "body": json.loads(body)})
                outer.arrived.release()
                try:
                    outer.act(self, json.loads(body))
                except (BrokenPipeError, ConnectionResetError, ssl.SSLError):
                    self.close_connection = True

        class Server(http.server.ThreadingHTTPServer):
            def handle_error(self, *_):
                pass  # a caller that goes away in the middle is what many tests are about

        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def wait(self):
        assert self.arrived.acquire(timeout=WAIT), "no request came"

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Egress:
    """The program under test, in a root of its own. conf, tools and servers are files to be; keys are written as given."""

    def __init__(self, program, conf, servers=(), keys=(), client=None, environment=()):
        self.program = program
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="sbx-egress-"))
        self.conf_dir = self.root / "usr/lib/roundtable-sandbox"
        (self.conf_dir / "mcp.d").mkdir(parents=True)
        self.write_conf(conf.replace("@root@", str(self.root)))
        for server in servers:
            content = json.dumps(server).replace("@root@", str(self.root))
            (self.conf_dir / "mcp.d" / f"{server['name']}.json").write_text(content)
        (self.root / "keys").mkdir()
        for name, value in dict(keys).items():
            self.write_key(name, value)
        self.path = str(self.root / "egress.sock")
        self.client = client or pwd.getpwuid(os.getuid()).pw_name
        self.environment = dict(environment)
        self.errors = open(self.root / "stderr", "w+")
        self._start()

    def _start(self):
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(self.path)
        listener.listen(64)
        fd = listener.fileno()
        environment = dict(os.environ, LISTEN_FDS="1", **self.environment)
        environment.pop("JOURNAL_STREAM", None)
        self.process = subprocess.Popen(
            ["/bin/sh", "-c", 'LISTEN_PID=$$ exec "$@"', "sh", self.program, f"--config-root={self.root}",
             f"--client-user={self.client}"],
            env=environment, stderr=self.errors, stdin=subprocess.DEVNULL,
            preexec_fn=lambda: os.dup2(fd, 3), close_fds=False,
        )
        listener.close()

    def write_conf(self, content):
        (self.conf_dir / "sandboxd.conf").write_text(content)

    def write_key(self, name, value):
        """As a careful writer does it: a new file in the old one's place."""
        path = self.root / "keys" / name
        with open(f"{path}.new", "w") as out:
            out.write(value)
        os.chmod(f"{path}.new", 0o400)
        os.rename(f"{path}.new", path)

    def peer(self):
        return Peer(self.path)

    def service(self):
        peer = self.peer()
        peer.send(SERVICE)
        return peer

    def log(self):
        return (self.root / "stderr").read_text()

    def stop(self):
        """Ends the program and returns its status."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(timeout=WAIT)
        self.errors.close()
        shutil.rmtree(self.root, ignore_errors=True)
        return status


def model_conf(port, more="", scheme="http", host="127.0.0.1"):
    return f"""[Model]
URL={scheme}://{host}:{port}/v1/chat/completions
Name=test-model
KeyFile=@root@/keys/model
{'PlainHTTP=yes' if scheme == 'http' else ''}
{more}
"""


def mcp_server(name, port, tools, **more):
    return dict(
        {
            "name": name,
            "url": f"http://127.0.0.1:{port}/mcp",
            "plain_http": True,
            "tools": [{"name": tool, "description": tool, "parameters": {"type": "object"}} for tool in tools],
        },
        **more,
    )


def refused_port():
    """A port on which nobody listens, held until the caller closes it."""
    holder = socket.socket()
    holder.bind(("127.0.0.1", 0))
    return holder, holder.getsockname()[1]


def readable(connection, seconds):
    return bool(select.select([connection], [], [], seconds)[0])


def make_certificates(directory):
    """A certificate authority, and a certificate for localhost by it. Returns (authority, (certificate, key))."""
    base = pathlib.Path(directory)
    run = lambda *words: subprocess.run(["openssl", *words], check=True, capture_output=True)  # noqa: E731
    run("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=test authority",
        "-keyout", f"{base}/ca.key", "-out", f"{base}/ca.pem")
    run("req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost",
        "-keyout", f"{base}/server.key", "-out", f"{base}/server.csr")
    (base / "ext").write_text("subjectAltName=DNS:localhost\n")
    run("x509", "-req", "-in", f"{base}/server.csr", "-CA", f"{base}/ca.pem", "-CAkey", f"{base}/ca.key",
        "-CAcreateserial", "-days", "2", "-extfile", f"{base}/ext", "-out", f"{base}/server.pem")
    return f"{base}/ca.pem", (f"{base}/server.pem", f"{base}/server.key")


def run_tap(tests, program):
    """Runs each test function with the program's path; says so by the Test Anything Protocol."""
    only = sys.argv[2:]
    tests = [test for test in tests if not only or test.__name__ in only]
    print(f"1..{len(tests)}")
    failed = 0
    for number, test in enumerate(tests, 1):
        try:
            test(program)
            print(f"ok {number} {test.__name__}", flush=True)
        except Exception as error:  # noqa: BLE001
            import traceback

            failed += 1
            print(f"not ok {number} {test.__name__}: {error!r}", flush=True)
            for line in traceback.format_exc().splitlines():
                print(f"# {line}")
    return 1 if failed else 0
