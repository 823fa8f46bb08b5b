# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""What only a whole machine shows: Debian's own kernel, cgroup v2 alone, AppArmor."""

import os
import pathlib
import time
import unittest

import support
import test_failures

CHANNEL = "test:vm"


class Vm(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        support.sandbox(CHANNEL)

    def tearDown(self):
        support.nothing_left(30)

    def test_is_what_it_claims_to_be(self):
        self.assertEqual(support.run("stat", "-f", "-c", "%T", "/sys/fs/cgroup").strip(), "cgroup2fs")
        self.assertEqual(pathlib.Path("/sys/module/apparmor/parameters/enabled").read_text().strip(), "Y")
        self.assertIn("cloud-amd64", os.uname().release)

    def test_worker_is_confined_and_its_limits_are_the_groups(self):
        with support.held_turn(CHANNEL) as turn:
            worker = int(support.run("docker", "inspect", "-f", "{{.State.Pid}}", support.containers()[0]))
            self.assertEqual(pathlib.Path(f"/proc/{worker}/attr/current").read_text().strip(), "docker-default (enforce)")
            path = pathlib.Path(f"/proc/{worker}/cgroup").read_text().strip()
            self.assertRegex(path, r"^0::/sandboxd\.slice/sandboxd-turn\.slice/docker-[0-9a-f]{64}\.scope")
            group = pathlib.Path("/sys/fs/cgroup" + path[len("0::"):])
            self.assertEqual((group / "memory.max").read_text().strip(), str(512 << 20))
            self.assertEqual((group / "memory.swap.max").read_text().strip(), "0")
            self.assertEqual((group / "pids.max").read_text().strip(), "64")
            self.assertEqual((group / "cpu.max").read_text().split(), ["100000", "100000"])
        self.assertEqual(turn.reply(60), [True, "let go"])

    def test_a_file_system_for_the_workspaces(self):
        """As doc/operations.md says."""
        page = pathlib.Path("/usr/share/doc/roundtable-sandbox/operations.md").read_text(encoding="utf-8")
        part = page.split("## A bound on what guests store")[1].split("## ")[0]
        commands = [line.strip() for line in part.splitlines() if line.startswith("    ")]
        self.assertGreaterEqual(len(commands), 7)
        try:
            for command in commands:
                support.run("sh", "-c", command)
            support.sandbox(CHANNEL)
            self.assertEqual(support.run_turn(CHANNEL, "[[script:plain]]")[0], True)
            options = support.run("findmnt", "-n", "-o", "OPTIONS", "--target", str(support.workspace(CHANNEL)))
            self.assertIn("nosuid", options)
            support.nothing_left(30)
        finally:
            support.run("systemctl", "stop", "sandboxd.service")
            support.run("umount", "/var/lib/roundtable-sandbox/workspaces")
            support.run("systemctl", "start", "sandboxd.service")

    def test_landlock_keeps_files_from_the_egress(self):
        said = support.run("/opt/roundtable-tests/probes/attack-egress-lockdown",
                           "/usr/libexec/roundtable-sandbox/sandbox-egress", "--need-landlock")
        self.assertIn("ok 1 /egress/lockdown/read-passwd", said)
        self.assertNotIn("no Landlock", support.journal("_SYSTEMD_UNIT=sandbox-egress.service"))

    def test_out_of_memory_has_its_name(self):
        with test_failures.image_replaced("exec /bin/busybox dd if=/dev/zero of=/dev/null bs=700M count=1"):
            with self.assertRaises(support.Failed) as caught:
                support.run_turn(CHANNEL, "anything")
        self.assertEqual(caught.exception.name, support.ERROR + "WorkerOutOfMemory", caught.exception.text)

    def test_cancel(self):
        with support.held_turn(CHANNEL) as turn:
            began = time.monotonic()
            support.call("CancelTurn", "s", support.call("ListTurns", "")[0][0])
            with self.assertRaises(support.Failed) as caught:
                turn.reply(30)
            self.assertEqual(caught.exception.name, support.ERROR + "Cancelled")
            # The machine is emulated: its seconds are worth less.
            self.assertLess(time.monotonic() - began, 15)

    def test_a_killed_daemon_leaves_nothing(self):
        with support.held_turn(CHANNEL) as turn:
            support.run("systemctl", "kill", "-s", "KILL", "--kill-who=main", "sandboxd.service")
            with self.assertRaises(support.Failed):
                turn.reply(30)
            support.nothing_left(30)
        self.assertEqual(support.call("GetChannelMode", "s", CHANNEL), "on")
        self.assertEqual(support.run_turn(CHANNEL, "[[script:plain]]")[0], True)
