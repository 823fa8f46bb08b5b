#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""The real sandbox-broker under a fake sandboxd and a fake egress: what it says, in which order, and what it survives.

    test-process.py PROGRAM
"""

import json
import os
import socket
import struct
import sys
import time
import unittest

import fake_sandboxd as fake
from fake_sandboxd import Broker, read_all, status

PROGRAM = os.path.abspath(sys.argv.pop(1))
CALL = b'{"messages":[]}'
GOOD = b'{"ok":true,"text":"hello"}'


def request(path="/model", body=CALL, fields=b""):
    return (b"POST %s HTTP/1.1\r\nhost: broker\r\ncontent-length: %d\r\n%s\r\n" % (path.encode(), len(body), fields)) + body


def ask(broker, data):
    with broker.connect() as sock:
        sock.sendall(data)
        return read_all(sock)


def output(stream, data):
    return struct.pack(">BxxxI", stream, len(data)) + data


def proc_status(pid):
    with open("/proc/%d/status" % pid, encoding="ascii") as handle:
        return dict(line.rstrip("\n").split(":\t", 1) for line in handle if ":\t" in line)


class Gate(unittest.TestCase):
    def test_nothing_is_accepted_before_ready(self):
        with Broker(PROGRAM) as broker, broker.connect() as early:
            early.sendall(request())
            early.settimeout(0.3)
            self.assertRaises(TimeoutError, early.recv, 1)
            broker.configure()
            early.settimeout(20)
            self.assertEqual(status(read_all(early)), 410)

    def test_locked_down_once_ready(self):
        with Broker(PROGRAM) as broker:
            broker.configure()
            got = proc_status(broker.process.pid)
            self.assertEqual(got["Seccomp"], "2")
            self.assertEqual(got["NoNewPrivs"], "1")
            fds = os.listdir("/proc/%d/fd" % broker.process.pid)
            targets = sorted(os.readlink("/proc/%d/fd/%s" % (broker.process.pid, fd)) for fd in fds)
            self.assertEqual(targets[:3], ["/dev/null"] * 3)
            self.assertEqual(len([t for t in targets if t.startswith("socket:")]), 2)
            with open("/proc/%d/limits" % broker.process.pid, encoding="ascii") as handle:
                limits = handle.read()
            self.assertRegex(limits, r"Max core file size +0 +0 ")
            self.assertRegex(limits, r"Max file size +0 +0 ")

    def test_before_start_and_after_end_is_410(self):
        with Broker(PROGRAM) as broker:
            broker.configure()
            self.assertEqual(status(ask(broker, request())), 410)
            self.assertEqual(status(ask(broker, request("/none"))), 404)
            broker.start()
            broker.stream.close()
            self.assertEqual(broker.next(fake.REPLY, fake.NO_REPLY)[0], fake.NO_REPLY)
            self.assertEqual(status(ask(broker, request())), 410)

    def test_ends_with_the_control_socket(self):
        for prepare in (lambda b: b, Broker.configure, lambda b: b.configure().start()):
            with Broker(PROGRAM) as broker:
                prepare(broker)
                broker.control.close()
                self.assertEqual(broker.process.wait(5), 0)

    def test_frames_that_are_not_due_end_it(self):
        frames = [(fake.START, b""), (fake.TOOL_RESULT, b"\0\0\0\0\0"), (fake.READY, b""), (0x7777, b"")]
        for kind, payload in frames:
            with Broker(PROGRAM) as broker:
                fake.send_frame(broker.control, kind, 0, payload)
                self.assertEqual(broker.process.wait(5), 1, hex(kind))
        with Broker(PROGRAM) as broker:
            broker.configure()
            fake.send_frame(broker.control, fake.CONFIG, 0, fake.config())
            self.assertEqual(broker.process.wait(5), 1)

    def test_needs_its_sockets(self):
        import subprocess
        for arguments in ([], ["--control-fd=0"], ["--listen-fd=0", "--control-fd=0"]):
            got = subprocess.run([PROGRAM, *arguments], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
            self.assertEqual(got.returncode, 1)
            self.assertIn(b"sandbox-broker: No ", got.stderr)


class Calls(unittest.TestCase):
    def setUp(self):
        self.broker = Broker(PROGRAM, budget=4, tools=("clock", "slow")).configure().start()
        self.addCleanup(self.broker.__exit__)

    def test_model_call_and_its_answer(self):
        with self.broker.connect() as sock:
            sock.sendall(request())
            kind, number, payload = fake.read_frame(self.broker.grant)
            self.assertEqual((kind, payload), (fake.MODEL_CALL, fake.text(b"[]") + b"\0"))
            fake.send_frame(self.broker.grant, fake.ANSWER, number + 7, fake.answer(b'"stale"'))
            fake.send_frame(self.broker.grant, fake.ANSWER, number, fake.answer(b'{"a":1}', prompt=5, completion=6))
            got = read_all(sock)
        self.assertTrue(got.startswith(b"HTTP/1.1 200 OK\r\n"))
        self.assertTrue(got.endswith(b"\r\n\r\n" + b'{"a":1}'))
        entry = fake.audit(self.broker.next(fake.AUDIT)[2])
        self.assertEqual((entry["route"], entry["status"], entry["prompt_tokens"], entry["completion_tokens"]), (1, 200, 5, 6))

    def test_a_failed_answer_is_502(self):
        with self.broker.connect() as sock:
            sock.sendall(request())
            number = fake.read_frame(self.broker.grant)[1]
            fake.send_frame(self.broker.grant, fake.ANSWER, number, fake.answer(failure=8, status=400))
            got = read_all(sock)
        self.assertEqual(status(got), 502)
        entry = fake.audit(self.broker.next(fake.AUDIT)[2])
        self.assertEqual((entry["status"], entry["failure"], entry["upstream_status"]), (502, 8, 400))

    def test_egress_gone_is_502_and_tools_go_on(self):
        with self.broker.connect() as sock:
            sock.sendall(request())
            fake.read_frame(self.broker.grant)
            self.broker.grant.close()
            self.assertEqual(status(read_all(sock)), 502)
        self.assertEqual(status(ask(self.broker, request())), 502)
        with self.broker.connect() as sock:
            sock.sendall(request("/tools/clock", b"{}"))
            number = self.broker.next(fake.TOOL_CALL)[1]
            fake.send_frame(self.broker.control, fake.TOOL_RESULT, number, b"\0" + fake.text("now"))
            self.assertTrue(read_all(sock).endswith(b'{"text":"now"}'))

    def test_caller_gone_cancels_a_model_call(self):
        with self.broker.connect() as sock:
            sock.sendall(request())
            number = fake.read_frame(self.broker.grant)[1]
        self.assertEqual(fake.read_frame(self.broker.grant), (fake.CALL_CANCEL, number, b""))
        with self.broker.connect() as sock:
            sock.sendall(request())
            self.assertEqual(fake.read_frame(self.broker.grant)[0], fake.MODEL_CALL)

    def test_half_closed_caller_gets_its_answer(self):
        with self.broker.connect() as sock:
            sock.sendall(request())
            sock.shutdown(socket.SHUT_WR)
            number = fake.read_frame(self.broker.grant)[1]
            time.sleep(0.05)
            fake.send_frame(self.broker.grant, fake.ANSWER, number, fake.answer(b"1"))
            self.assertEqual(status(read_all(sock)), 200)

    def test_tool_slot_is_free_once_the_tool_has_stopped(self):
        with self.broker.connect() as sock:
            sock.sendall(request("/tools/slow", b"{}"))
            number = self.broker.next(fake.TOOL_CALL)[1]
        self.assertEqual(self.broker.next(fake.TOOL_CANCEL)[1], number)
        self.assertEqual(status(ask(self.broker, request("/tools/clock", b"{}"))), 429)
        fake.send_frame(self.broker.control, fake.TOOL_RESULT, number, b"\x11" + fake.text(""))
        with self.broker.connect() as sock:
            sock.sendall(request("/tools/clock", b"{}"))
            self.assertEqual(self.broker.next(fake.TOOL_CALL)[2], fake.text("clock") + fake.text(b"{}"))

    def test_end_fails_the_call_in_flight(self):
        with self.broker.connect() as sock:
            sock.sendall(request())
            fake.read_frame(self.broker.grant)
            self.broker.stream.close()
            self.assertEqual(status(read_all(sock)), 502)
        self.assertEqual(fake.read_frame(self.broker.grant)[0], fake.CALL_CANCEL)
        self.assertRaises(EOFError, fake.read_frame, self.broker.grant)

    def test_budget_of_the_turn(self):
        for _ in range(4):
            self.assertEqual(status(ask(self.broker, request(body=b"{"))), 502)
        self.assertEqual(status(ask(self.broker, request())), 429)
        self.assertEqual(status(ask(self.broker, request("/none"))), 404)

    def test_audit_is_bounded(self):
        for _ in range(250):
            self.assertEqual(status(ask(self.broker, request("/none"))), 404)
        self.assertEqual(status(ask(self.broker, request(body=b"{"))), 502)
        self.assertEqual(status(ask(self.broker, request("/none"))), 404)
        self.broker.stream.close()
        entries = [fake.audit(self.broker.next(fake.AUDIT)[2]) for _ in range(202)]
        self.assertEqual([(entry["status"], entry["omitted"]) for entry in entries], [(404, 0)] * 200 + [(502, 50), (404, 0)],
                         "a call is told, however much was refused before it")

    def test_refusals_before_the_start_are_no_turns(self):
        with Broker(PROGRAM) as broker:
            broker.configure()
            for _ in range(250):
                self.assertEqual(status(ask(broker, request())), 410)
            broker.start()
            self.assertEqual(status(ask(broker, request("/none"))), 404)
            entry = fake.audit(broker.next(fake.AUDIT)[2])
            self.assertEqual((entry["status"], entry["omitted"]), (404, 0))

    def test_dripping_and_silent_peers_do_not_hold_others_up(self):
        idle = [self.broker.connect() for _ in range(13)]
        for sock in idle:
            sock.sendall(b"POST /mo")
        begun = time.monotonic()
        self.assertEqual(status(ask(self.broker, request("/none"))), 404)
        self.assertLess(time.monotonic() - begun, 2)
        for sock in idle:
            sock.close()

    def test_a_flood_behind_the_head_does_not_eat_the_answer(self):
        flood = b"x" * (1024 * 1024)
        with self.broker.connect() as sock:
            sock.sendall(request("/none", b"")[:-2] + b"\r\n" + flood)
            self.assertEqual(status(read_all(sock)), 404)


class Replies(unittest.TestCase):
    def run_output(self, data, newline=False, close=True):
        with Broker(PROGRAM, newline=newline) as broker:
            broker.configure().start()
            broker.stream.sendall(data)
            if close:
                broker.stream.shutdown(socket.SHUT_WR)
            kind, _, payload = broker.next(fake.REPLY, fake.NO_REPLY)
            return kind, payload

    def test_reply_at_the_end(self):
        kind, payload = self.run_output(output(2, b"log") + output(1, GOOD[:5]) + output(1, GOOD[5:]))
        self.assertEqual((kind, payload), (fake.REPLY, b"\1" + fake.text("hello") + bytes(8)))

    def test_own_reply_at_the_newline(self):
        kind, _ = self.run_output(output(1, GOOD + b"\n"), newline=True, close=False)
        self.assertEqual(kind, fake.REPLY)

    def test_no_reply(self):
        rows = [(b"", 18), (output(2, b"oops"), 18), (output(1, b"oops"), 21), (b"HTTP/1.1 200 OK\r\n", 21),
                (output(1, b" " * (2 * 1024 * 1024 + 1)), 22), (output(2, b" " * (128 * 1024 + 1)), 22)]
        for data, failure in rows:
            self.assertEqual(self.run_output(data), (fake.NO_REPLY, bytes([failure])))

    def test_keeps_draining_behind_the_outcome(self):
        with Broker(PROGRAM, newline=True) as broker:
            broker.configure().start()
            broker.stream.sendall(output(1, GOOD + b"\n"))
            self.assertEqual(broker.next(fake.REPLY, fake.NO_REPLY)[0], fake.REPLY)
            flood = output(1, b"x" * 65528)
            for _ in range(96):
                broker.stream.sendall(flood)
            self.assertEqual(status(ask(broker, request("/none"))), 404)
            broker.stream.close()

    def test_one_outcome_only(self):
        with Broker(PROGRAM, newline=True) as broker:
            broker.configure().start()
            broker.stream.sendall(output(1, (GOOD + b"\n") * 3))
            broker.stream.close()
            self.assertEqual(broker.next(fake.REPLY, fake.NO_REPLY)[0], fake.REPLY)
            self.assertEqual(status(ask(broker, request())), 410)
            kind, _, _ = broker.next(fake.AUDIT)
            self.assertEqual(kind, fake.AUDIT)

    def test_json_of_a_thousand_kinds_does_not_end_it(self):
        bodies = [b"[" * 100000, b'{"a":' * 30000, json.dumps([1.5] * 30000).encode(), b"1e400", b'"\\u0000"', b"\xff",
                  json.dumps({str(i): i for i in range(20000)}).encode(), b"9" * 400, b'{"a":1,"a":2}']
        with Broker(PROGRAM, budget=1000) as broker:
            broker.configure().start()
            for body in bodies:
                for path in ("/model", "/mcp/docs"):
                    self.assertIn(status(ask(broker, request(path, body))), (400, 403, 502))
            self.assertIsNone(broker.process.poll())


class Tap(unittest.TextTestResult):
    """One TAP line a test."""

    number = 0

    def line(self, good, test, note=""):
        Tap.number += 1
        print("%s %d - %s%s" % ("ok" if good else "not ok", Tap.number, test.id().split(".", 1)[-1], note), flush=True)

    def addSuccess(self, test):
        super().addSuccess(test)
        self.line(True, test)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.line(False, test)

    def addError(self, test, err):
        super().addError(test, err)
        self.line(False, test)


if __name__ == "__main__":
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])
    print("1..%d" % suite.countTestCases(), flush=True)
    runner = unittest.TextTestRunner(stream=sys.stderr, resultclass=Tap, verbosity=0)
    sys.exit(0 if runner.run(suite).wasSuccessful() else 1)
