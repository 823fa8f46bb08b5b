# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""The worker in its real container: workspaces that a guest made hostile, histories that grow too long, budgets, members that
the operator lets through, and workers of other making."""

import contextlib
import glob
import io
import json
import os
import pathlib
import pwd
import shutil
import socket
import subprocess
import tarfile
import tempfile
import unittest

import support

EXAMPLE = pathlib.Path(support.HERE, "..", "examples", "worker-python", "worker.py")
SET_ASIDE = "626e5356537496e11525758903295c8b"
COMPACTION = "c8b3ed93fd12d23d66294fe17656fcdb"
COMPACTION_FALLBACK = "3eb4fad42df92397dc0f452f3b19a149"
STORES = ("memory.json", "history.json")
NEW = (".memory.json.new", ".history.json.new")
OUTSIDE = pathlib.Path("/var/lib/roundtable-sandbox/outside")
NOTE = '[[script:call memory_set {"scope":"channel","key":"k","text":"a note"}]]'


def entries(message_id, channel):
    """Journal entries of that kind about the channel."""
    lines = support.run("journalctl", "-b", "-o", "json", "--no-pager", f"MESSAGE_ID={message_id}", f"SANDBOX_CHANNEL={channel}")
    return [json.loads(line) for line in lines.splitlines()]


def fresh(channel):
    """An empty workspace of a sandboxed channel, made by a turn; its path."""
    support.sandbox(channel)
    place = support.workspace(channel)
    if not place.exists():
        support.run_turn(channel, "[[script:plain]] hello")
    for left in place.iterdir():
        if left.is_dir() and not left.is_symlink():
            shutil.rmtree(left)
        else:
            left.unlink()
    return place


def give(path):
    """As if the worker had made it."""
    worker = pwd.getpwnam("sandbox-worker")
    os.chown(path, worker.pw_uid, worker.pw_gid, follow_symlinks=False)


def directory(path):
    path.mkdir()
    (path / "full").write_text("x", encoding="utf-8")


def listening(path):
    with socket.socket(socket.AF_UNIX) as sock:
        os.chdir(path.parent)  # the whole path is too long for an address
        sock.bind(path.name)
        os.chdir("/")


def sparse(path):
    with open(path, "wb") as file:
        os.truncate(file.fileno(), 1 << 40)


def secret(path):
    path.write_text("[]", encoding="utf-8")
    path.chmod(0)


KINDS = {
    "link to a file of the host": lambda path: path.symlink_to(OUTSIDE),
    "link upward": lambda path: path.symlink_to("../../outside"),
    "link into the container": lambda path: path.symlink_to("/proc/self/mem"),
    "link to itself": lambda path: path.symlink_to(path.name),
    "link to nothing": lambda path: path.symlink_to("/tmp/planted"),
    "directory": directory,
    "fifo": os.mkfifo,
    "socket": listening,
    "sparse": sparse,
    "huge": lambda path: path.write_bytes(b"[" * (9 << 20)),
    "deep": lambda path: path.write_bytes(b"[" * 100000),
    "garbage": lambda path: path.write_bytes(bytes(range(256))),
    "empty": lambda path: path.write_bytes(b""),
    "unreadable": secret,
}


class HostileWorkspace(unittest.TestCase):
    def setUp(self):
        OUTSIDE.write_text("[]", encoding="utf-8")
        OUTSIDE.chmod(0o666)
        self.addCleanup(OUTSIDE.unlink)

    def tearDown(self):
        support.nothing_left()

    def test_whatever_is_planted_at_the_stores_is_set_aside_and_told(self):
        channel = "test:planted"
        for kind, plant in KINDS.items():
            with self.subTest(kind=kind):
                place = fresh(channel)
                for name in STORES + NEW:
                    plant(place / name)
                    give(place / name)
                before = len(entries(SET_ASIDE, channel))
                self.assertEqual(support.run_turn(channel, NOTE, timeout=30)[0], True)
                self.assertEqual([len(glob.glob(f"{place}/{name}.corrupt-*")) for name in STORES], [1, 1])
                told = entries(SET_ASIDE, channel)[before:]
                self.assertEqual(sorted(entry["SANDBOX_FILE"] for entry in told), sorted(STORES))
                for name in STORES:
                    self.assertTrue((place / name).is_file() and not (place / name).is_symlink())
                    self.assertEqual((place / name).stat().st_mode & 0o777, 0o600)
                self.assertEqual(len(json.loads((place / "history.json").read_text(encoding="utf-8"))), 2)
                self.assertIn("a note", (place / "memory.json").read_text(encoding="utf-8"))
                self.assertEqual(OUTSIDE.read_text(encoding="utf-8"), "[]")
                self.assertFalse(os.path.exists("/tmp/planted"))
        # And the channel's memory works on.
        self.assertEqual(support.run_turn(channel, "[[script:history]]"), (True, "2"))

    def test_what_is_planted_at_the_new_names_only_is_passed_by(self):
        for kind in ("link to a file of the host", "directory", "fifo"):
            with self.subTest(kind=kind):
                place = fresh("test:new-names")
                for name in NEW:
                    KINDS[kind](place / name)
                    give(place / name)
                self.assertTrue(support.run_turn("test:new-names", NOTE, timeout=30)[0])
                self.assertEqual(glob.glob(f"{place}/*.corrupt-*"), [])
                self.assertEqual(OUTSIDE.read_text(encoding="utf-8"), "[]")

    def test_what_is_set_aside_does_not_pile_up(self):
        place = fresh("test:pile")
        for number in range(40):
            (place / f"history.json.corrupt-20200101T0000{number:02}Z").write_text("x", encoding="utf-8")
        (place / "history.json").write_text("x", encoding="utf-8")
        self.assertTrue(support.run_turn("test:pile", "[[script:plain]] hello")[0])
        left = sorted(path.name for path in place.glob("history.json.corrupt-*"))
        self.assertLessEqual(len(left), 8)
        self.assertNotIn("20200101", left[-1])

    def test_a_full_workspace_is_named_and_heals(self):
        for limit in ("size=256k", "nr_inodes=4"):
            with self.subTest(limit=limit):
                place = fresh("test:full")
                owner = place.stat()
                support.run("mount", "-t", "tmpfs", "-o", f"{limit},mode=0770,uid={owner.st_uid},gid={owner.st_gid}",
                            "none", str(place))
                try:
                    fill(place)
                    with self.assertRaises(support.Failed) as failed:
                        support.run_turn("test:full", NOTE, timeout=30)
                    self.assertEqual(failed.exception.name, support.ERROR + "DiskFull")
                    for path in place.glob("fill*"):
                        path.unlink()
                    self.assertTrue(support.run_turn("test:full", NOTE)[0])
                finally:
                    support.nothing_left()
                    support.run("umount", str(place))


def fill(place):
    number = 0
    with contextlib.suppress(OSError):
        while True:
            (place / f"fill{number}").write_bytes(b"x" * 65536 if number < 3 else b"")
            number += 1
            if number > 3:
                with open(place / "fill0", "ab", buffering=0) as file:
                    while True:
                        file.write(b"x" * 4096)


COMPACTOR = """#!/usr/bin/env python3
import json, sys
identity, given = sys.stdin.readline(), json.loads(sys.stdin.read())
with open("/run/compactor.json", "w") as file:
    json.dump(given, file)
print("SHORT: " + str(len(given["messages"])))
"""
SOCKET = """[Socket]
ListenStream=/run/sandbox-tools/shorten.sock
SocketUser=root
SocketGroup=sandboxd
SocketMode=0660
Accept=yes
"""
SERVICE = """[Service]
ExecStart=/run/compactor
StandardInput=socket
StandardOutput=socket
"""


class LongHistory(unittest.TestCase):
    """What falls off a history is summarised: by the operator's tool, else by the model, else not at all."""

    CHANNEL = "test:long"
    UNITS = pathlib.Path("/run/systemd/system")
    DECLARED = pathlib.Path("/etc/roundtable-sandbox/tools.d/shorten.json")

    def setUp(self):
        self.place = fresh(self.CHANNEL)
        tool = pathlib.Path("/run/compactor")
        tool.write_text(COMPACTOR, encoding="utf-8")
        tool.chmod(0o755)
        (self.UNITS / "sandbox-tool-shorten.socket").write_text(SOCKET, encoding="utf-8")
        (self.UNITS / "sandbox-tool-shorten@.service").write_text(SERVICE, encoding="utf-8")
        self.DECLARED.parent.mkdir(exist_ok=True)
        self.DECLARED.write_text(json.dumps({"name": "shorten", "description": "Shortens.", "kind": "compactor",
                                             "parameters": {"type": "object"}}), encoding="utf-8")
        support.run("systemctl", "daemon-reload")
        support.start("sandbox-tool-shorten.socket")
        self.addCleanup(self.remove)

    def remove(self):
        self.DECLARED.unlink(missing_ok=True)
        support.run("systemctl", "stop", "sandbox-tool-shorten.socket")
        for path in self.UNITS.glob("sandbox-tool-shorten*"):
            path.unlink()
        support.run("systemctl", "daemon-reload")

    def turn(self, spoken, text="[[script:history]]"):
        """A turn whose channel has 20 messages with those words; the reply, and the journal's entries about it."""
        history = [{"role": "user" if i % 2 == 0 else "assistant", "content": f"{spoken} {i}"} for i in range(20)]
        path = self.place / "history.json"
        path.write_text(json.dumps(history), encoding="utf-8")
        give(path)
        before = [len(entries(kind, self.CHANNEL)) for kind in (COMPACTION, COMPACTION_FALLBACK)]
        with support.configured("[Turns]\nCompaction=yes\n"):
            reply = support.run_turn(self.CHANNEL, text)
        after = [entries(kind, self.CHANNEL) for kind in (COMPACTION, COMPACTION_FALLBACK)]
        support.nothing_left()
        return reply, after[0][before[0]:], after[1][before[1]:]

    def history(self):
        return json.loads((self.place / "history.json").read_text(encoding="utf-8"))

    def test_by_the_operators_tool(self):
        reply, done, fallen = self.turn("word")
        self.assertEqual(reply, (True, "9"))  # the summary and the eight that stay
        self.assertEqual([(entry["SANDBOX_COMPACTION"], entry["SANDBOX_REASON"]) for entry in done], [("tool", "none")])
        self.assertGreater(int(done[0]["SANDBOX_TOKENS_BEFORE"]), 10)
        self.assertEqual(fallen, [])
        self.assertTrue(self.history()[0]["content"].endswith("SHORT: 12"))
        request = [json.loads(line) for line in support.model("log").splitlines()][-1]["body"]
        self.assertNotIn("shorten", json.dumps(request["tools"]))
        given = json.loads(pathlib.Path("/run/compactor.json").read_text(encoding="utf-8"))
        self.assertIsNone(given["previous_summary"])
        self.assertEqual((len(given["messages"]), len(given["kept"])), (12, 8))

    def test_by_the_model_where_the_tool_fails(self):
        support.run("systemctl", "stop", "sandbox-tool-shorten.socket")
        reply, done, fallen = self.turn("[[script:plain]]")
        self.assertEqual(reply, (True, "9"))
        self.assertEqual(done, [])
        self.assertEqual([(entry["SANDBOX_COMPACTION"], entry["SANDBOX_REASON"]) for entry in fallen],
                         [("model", "compactor-failed")])
        self.assertIn("You said", self.history()[0]["content"])

    def test_not_at_all_where_the_model_fails_too(self):
        support.run("systemctl", "stop", "sandbox-tool-shorten.socket")
        reply, done, fallen = self.turn("[[script:blank]]")
        self.assertEqual(reply, (True, "20"))
        self.assertEqual(done, [])
        self.assertEqual([(entry["SANDBOX_COMPACTION"], entry["SANDBOX_REASON"]) for entry in fallen],
                         [("dropped", "model-invalid")])
        self.assertEqual(len(self.history()), 20)

    def test_by_the_model_where_there_is_no_tool(self):
        self.DECLARED.unlink()
        reply, done, fallen = self.turn("[[script:plain]]")
        self.assertEqual(reply, (True, "9"))
        self.assertEqual([(entry["SANDBOX_COMPACTION"], entry["SANDBOX_REASON"]) for entry in done],
                         [("model", "no-compactor")])
        self.assertEqual(fallen, [])


class Options(unittest.TestCase):
    CHANNEL = "test:options"

    def setUp(self):
        support.sandbox(self.CHANNEL)

    def tearDown(self):
        support.nothing_left()

    def requests(self, text):
        """The model's requests of a turn, and its reply."""
        before = len(support.model("log").splitlines())
        reply = support.run_turn(self.CHANNEL, text)
        return [json.loads(line)["body"] for line in support.model("log").splitlines()[before:]], reply

    def test_a_budget_ends_with_the_graceful_text(self):
        with support.configured("[Turns]\nCalls=3\n"):
            asked, reply = self.requests("[[script:loop]]")
        self.assertEqual((len(asked), reply[0]), (3, False))

    def test_the_last_call_is_kept_for_the_model(self):
        with support.configured("[Turns]\nCalls=2\n"):
            asked, reply = self.requests("[[script:call host_clock {}]]")
        self.assertEqual((len(asked), reply[0]), (2, True))

    def test_members_go_back_where_the_operator_says_so_and_no_others(self):
        _, (_, _) = self.requests("[[script:plain]] once, so that the service is up")
        for names in ("", "reasoning_content extra_content"):
            with self.subTest(names=names), support.configured(f"[Model]\nKeptMembers={names}\n"):
                support.restart("sandbox-egress.service")
                asked, reply = self.requests("[[script:kept]]")
                self.assertEqual(reply, (True, "done"))
                answer = asked[1]["messages"][-2]
                wanted = {"role", "content", "tool_calls"}
                self.assertEqual(set(answer), wanted | ({"reasoning_content"} if names else set()))
                wanted = {"id", "type", "function"}
                self.assertEqual(set(answer["tool_calls"][0]), wanted | ({"extra_content"} if names else set()))
        support.restart("sandbox-egress.service")


def python_files():
    """What the machine's Python is made of, without anything that it can do without here."""
    found = {os.path.realpath("/usr/bin/python3"), "/lib64/ld-linux-x86-64.so.2"}
    library = pathlib.Path(os.path.dirname(os.path.realpath(json.__file__))).parent
    modules = [path for path in library.rglob("*") if path.is_file() and "test" not in path.parts and path.suffix in (".py", ".so")]
    found.update(map(str, modules))
    for program in [os.path.realpath("/usr/bin/python3"), *(str(path) for path in modules if path.suffix == ".so")]:
        for line in support.run("ldd", program, check=False).splitlines():
            words = line.split()
            if "=>" in words and words[2].startswith("/"):
                found.add(words[2])
    zones = pathlib.Path("/usr/share/zoneinfo")
    found.update(map(str, (path for some in ("*", "Europe/*") for path in zones.glob(some) if path.is_file())))
    return sorted(found)


def import_python(tag, program):
    """An image with the machine's Python and one program, as /worker.py: nothing is downloaded."""
    base = pathlib.Path("/tmp/python-image")
    shutil.rmtree(base, ignore_errors=True)
    for name in python_files():
        target = base / name.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(name, target)
        target.chmod(0o755)
    (base / "worker.py").write_text(program, encoding="utf-8")
    for name in ("workspace", "broker", "tmp"):
        (base / name).mkdir()
    python = os.path.realpath("/usr/bin/python3")
    with subprocess.Popen(["tar", "-C", str(base), "-c", "."], stdout=subprocess.PIPE) as tar:
        subprocess.run(["docker", "import", "--change", f'ENTRYPOINT ["{python}", "-B", "-E", "-S", "/worker.py"]', "-", tag],
                       stdin=tar.stdout, check=True, stdout=subprocess.DEVNULL)
    shutil.rmtree(base)


class OtherWorkers(unittest.TestCase):
    CHANNEL = "test:python"
    IMAGE = "worker-python:latest"

    @classmethod
    def setUpClass(cls):
        import_python(cls.IMAGE, EXAMPLE.read_text(encoding="utf-8"))

    def tearDown(self):
        support.nothing_left()

    def test_the_python_example_serves_turns(self):
        fresh(self.CHANNEL)
        with support.configured(f"[Worker]\nImage={self.IMAGE}\n"):
            ok, text = support.run_turn(self.CHANNEL, "[[script:call host_clock {}]]")
            self.assertTrue(ok)
            self.assertRegex(text, r"\d\d:\d\d")
            self.assertEqual(support.run_turn(self.CHANNEL, "[[script:history]]"), (True, "2"))

    def check(self, image):
        """The self-test's status and words."""
        done = subprocess.run(["sandboxctl", "image", "check", image], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=120, check=False)
        self.assertEqual(glob.glob("/run/roundtable-sandbox-check-*"), [])
        return done.returncode, done.stdout

    def test_self_test_passes_good_images(self):
        for image in (self.IMAGE, support.IMAGE):
            with self.subTest(image=image):
                status, words = self.check(image)
                self.assertEqual(status, 0, words)
                self.assertIn("keeps the contract", words)

    def test_self_test_says_which_rule_is_broken(self):
        good = EXAMPLE.read_text(encoding="utf-8")
        reply = 'import sys\nsys.stdin.read()\nprint(%r)\n'
        for program, rule in (
                ("print('{}')", "it waits for its turn"),
                (reply % "hello", "the reply is one JSON object"),
                (reply % '{"ok":true,"text":"x"}', "it asks the model"),
                (good.replace('("host", "broker")', '("host", "localhost")'), "status 403"),
                (good.replace('"messages": messages', '"messages": messages + [{}]'), "status 400"),
                (good.replace('post("/model"', 'post("/model?x"'), "status 404")):
            with self.subTest(rule=rule):
                subprocess.run(["docker", "build", "-q", "-t", "worker-broken", "-"], check=True, stdout=subprocess.DEVNULL,
                               stdin=context(self.IMAGE, program))
                status, words = self.check("worker-broken")
                self.assertEqual(status, 1, words)
                self.assertTrue([line for line in words.splitlines() if line.startswith("BROKEN") and rule in line], words)
        support.run("docker", "rmi", "worker-broken")


def context(image, program):
    """A build context that puts another program into an image; a file to read it from."""
    file = tempfile.TemporaryFile()
    with tarfile.open(fileobj=file, mode="w") as tar:
        for name, text in (("Dockerfile", f"FROM {image}\nCOPY worker.py /worker.py\n"), ("worker.py", program)):
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(text.encode()), 0o644
            tar.addfile(member, io.BytesIO(text.encode()))
    file.seek(0)
    return file


if __name__ == "__main__":
    unittest.main()
