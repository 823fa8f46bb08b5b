# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""A guest's turn from D-Bus to the reply, what can be seen while it runs, and that nothing stays."""

import json
import os
import re
import unittest

import support

CHANNEL = "test:turn"


class Turn(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        support.sandbox(CHANNEL)

    def tearDown(self):
        support.nothing_left()

    def test_reply_holds_the_clock_tool_and_the_note_stays(self):
        ok, text = support.run_turn(CHANNEL, "What time is it?")
        self.assertTrue(ok)
        self.assertRegex(text, r"\d\d:\d\d")
        memory = json.loads((support.workspace(CHANNEL) / "memory.json").read_text(encoding="utf-8"))
        self.assertIn({"scope": "channel", "key": "last question", "text": "What time is it?"}, memory)

    def test_a_second_turn_knows_the_first(self):
        support.sandbox("test:history")
        self.assertEqual(support.run_turn("test:history", "[[script:history]]"), (True, "0"))
        self.assertEqual(support.run_turn("test:history", "[[script:history]]"), (True, "2"))

    def test_channels_do_not_share_memory(self):
        for channel in ("test:one", "test:two"):
            support.sandbox(channel)
        support.run_turn("test:one", 'a secret of channel one')
        _, text = support.run_turn("test:two", '[[script:call memory_get {"scope":"channel"}]]')
        self.assertNotIn("secret of channel one", text)

    def test_links_of_a_reply_fetch_nothing(self):
        text = "[[script:plain]] ![x](https://a.example/?q=secret) `https://b.example`"
        self.assertIn("! [x] (<https://a.example/?q=secret>) `https://b.example`", support.run_turn(CHANNEL, text)[1])
        self.assertIn("![x](https://a.example/?q=secret)", support.run_turn(CHANNEL, text, defang=False)[1])

    def test_the_model_gets_what_the_egress_pins(self):
        support.run_turn(CHANNEL, "[[script:plain]] look at the request")
        request = [json.loads(line) for line in support.model("log").splitlines()][-1]
        self.assertTrue(request["authorized"])
        self.assertIs(request["body"]["stream"], False)
        self.assertIn("max_tokens", request["body"])
        self.assertEqual(request["body"]["model"], "scripted")


class WhileItRuns(unittest.TestCase):
    """One held turn, looked at from all sides."""

    @classmethod
    def setUpClass(cls):
        support.sandbox(CHANNEL)
        cls.held = support.held_turn(CHANNEL)
        cls.turn = cls.held.__enter__()
        cls.container = support.containers()[0]
        cls.facts = json.loads(support.run("docker", "inspect", cls.container))[0]
        cls.broker = support.processes("sandbox-broker")[0]

    @classmethod
    def tearDownClass(cls):
        cls.held.__exit__(None, None, None)
        reply = cls.turn.reply()
        assert reply == [True, "let go"], reply
        support.nothing_left()

    def test_scopes_are_in_our_slice(self):
        names = support.scopes()
        self.assertIn(f"docker-{self.container}.scope", names)
        self.assertTrue([name for name in names if re.fullmatch(r"sandboxd-turn-.+-broker\.scope", name)], names)
        group = open(f"/proc/{self.broker}/cgroup", encoding="utf-8").read()
        self.assertIn("/sandboxd.slice/sandboxd-turn.slice/sandboxd-turn-", group)

    def test_container_is_isolated_as_the_contract_says(self):
        host, config = self.facts["HostConfig"], self.facts["Config"]
        self.assertEqual(host["NetworkMode"], "none")
        self.assertIs(host["ReadonlyRootfs"], True)
        self.assertIs(host["Privileged"], False)
        self.assertEqual(host["CapDrop"], ["ALL"])
        self.assertFalse(host["CapAdd"])
        self.assertIn("no-new-privileges", host["SecurityOpt"])
        self.assertEqual(host["LogConfig"]["Type"], "none")
        self.assertEqual(host["CgroupParent"], support.SLICE)
        self.assertEqual(host["Memory"], 512 << 20)
        self.assertEqual(host["MemorySwap"], 512 << 20)
        self.assertEqual(host["NanoCpus"], 1000000000)
        self.assertEqual(host["PidsLimit"], 64)
        self.assertEqual([(limit["Name"], limit["Soft"], limit["Hard"]) for limit in host["Ulimits"]], [("nofile", 256, 256)])
        self.assertIs(host["AutoRemove"], False)
        self.assertEqual(host["OomScoreAdj"], 500)
        self.assertEqual(set(host["Tmpfs"]["/tmp"].split(",")),
                         {"rw", "noexec", "nosuid", "nodev", "size=64m", "mode=1777"})
        mounts = {mount["Destination"]: mount for mount in self.facts["Mounts"] if mount["Type"] == "bind"}
        self.assertEqual(set(mounts), {"/broker", "/workspace"})
        self.assertIs(mounts["/broker"]["RW"], False)
        self.assertEqual({mount["Propagation"] for mount in mounts.values()}, {"rprivate"})
        uid = support.run("id", "-u", "sandbox-worker").strip()
        self.assertEqual(config["User"].split(":")[0], uid)
        self.assertIn("HOME=/tmp/home", config["Env"])
        self.assertFalse([name for name in config["Env"] if re.match(r"(?i)[^=]*(key|token|secret)", name)])
        self.assertFalse(config["Tty"])

    def test_worker_has_no_network_and_no_rights(self):
        worker = self.facts["State"]["Pid"]
        status = support.status(worker)
        self.assertEqual(int(status["CapEff"], 16), 0)
        self.assertEqual(int(status["CapBnd"], 16), 0)
        self.assertEqual(status["NoNewPrivs"], "1")
        self.assertEqual(status["Seccomp"], "2")
        self.assertNotIn("0", status["Uid"].split())
        self.assertEqual(interfaces(worker), {"lo"})

    def test_broker_and_daemon_are_locked_down(self):
        for pid in (self.broker, support.main_pid("sandboxd.service")):
            with self.subTest(pid=pid):
                status = support.status(pid)
                self.assertEqual(status["Seccomp"], "2")
                self.assertEqual(status["NoNewPrivs"], "1")
                self.assertEqual([int(status[name], 16) for name in ("CapEff", "CapPrm", "CapBnd", "CapAmb")], [0, 0, 0, 0])
                self.assertEqual(interfaces(pid), {"lo"})

    def test_broker_holds_only_its_own_descriptors(self):
        kinds = {os.readlink(link.path).split(":")[0] for link in os.scandir(f"/proc/{self.broker}/fd")}
        self.assertFalse([kind for kind in kinds if kind.startswith(("/etc", "/var", "/run/roundtable"))], kinds)

    def test_the_key_is_nowhere_but_in_the_egress(self):
        key = support.KEY_FILE.read_text(encoding="utf-8").strip().encode()
        self.assertNotIn(key, json.dumps(self.facts).encode())
        self.assertNotIn(key.decode(), support.run("journalctl", "-b", "-o", "export", "--no-pager"))
        for pid in (int(name) for name in os.listdir("/proc") if name.isdigit()):
            for name in ("environ", "cmdline"):
                try:
                    data = open(f"/proc/{pid}/{name}", "rb").read()
                except OSError:
                    continue
                self.assertNotIn(key, data, f"{name} of {pid}")
        for pid in (self.broker, support.main_pid("sandboxd.service"), self.facts["State"]["Pid"]):
            self.assertFalse(in_memory(pid, key), f"memory of {pid}")
        # The search itself works: this process holds the key.
        self.assertTrue(in_memory(os.getpid(), key))


def interfaces(pid):
    with open(f"/proc/{pid}/net/dev", encoding="utf-8") as file:
        return {line.split(":")[0].strip() for line in file.readlines()[2:]}


def in_memory(pid, needle):
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps, open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        for line in maps:
            span, rights = line.split()[:2]
            if not rights.startswith("r") or line.rstrip().endswith(("[vvar]", "[vsyscall]", "[vvar_vclock]")):
                continue
            start, end = (int(word, 16) for word in span.split("-"))
            if start >= 1 << 63:
                continue
            try:
                memory.seek(start)
                data = memory.read(end - start)
            except (OSError, OverflowError):
                continue
            if needle in data:
                return True
    return False
