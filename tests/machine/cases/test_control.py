# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""Turn control on real systemd and Docker: outcomes and queues over a restart, message-ids, queued modes, cancelling."""

import glob
import os
import time
import unittest

import support
import test_failures

# Message-ids are remembered for an hour: another run in the same machine is not to meet this one's.
CHANNEL = "test:control-" + os.urandom(4).hex()
RECORDS = "/var/lib/roundtable-sandbox/turns"


class Control(unittest.TestCase):
    def setUp(self):
        support.sandbox(CHANNEL)

    def test_a_message_id_is_one_turn_over_a_restart(self):
        first = support.run_turn(CHANNEL, "hello", **{"message-id": "once"})
        self.assertEqual(support.run_turn(CHANNEL, "hello", **{"message-id": "once"}), first)
        support.restart("sandboxd.service")
        self.assertEqual(support.run_turn(CHANNEL, "hello", **{"message-id": "once"}), first)
        self.assertEqual(len([line for line in support.journal("SANDBOX_CHANNEL=" + CHANNEL).splitlines()
                              if line.endswith("was accepted")]), 1)
        for record in glob.glob(RECORDS + "/*"):
            self.assertEqual(os.stat(record).st_mode & 0o7777, 0o600)

    def check_restart(self, end):
        with support.held_turn(CHANNEL, **{"message-id": end + "-running"}) as running:
            waiting = support.start_turn(CHANNEL, "hello", **{"message-id": end + "-waiting"})
            support.eventually("two turns", lambda: len(support.call("ListTurns", "", user="root")) == 2)
            support.run("systemctl", end, "sandboxd.service", *(["-s", "KILL"] if end == "kill" else []))
            for one, name in (running, "Restarted"), (waiting, "ShuttingDown"):
                with self.assertRaises(support.Failed) as caught:
                    one.reply()
                self.assertIn(caught.exception.name, (support.ERROR + name, "org.freedesktop.DBus.Error.NoReply"))
        support.eventually("sandboxd is back", lambda: support.run("systemctl", "is-active", "sandboxd.service",
                                                                   check=False).strip() == "active")
        with self.assertRaises(support.Failed) as caught:
            support.run_turn(CHANNEL, "hello", **{"message-id": end + "-running"})
        self.assertEqual(caught.exception.name, support.ERROR + "Restarted")
        self.assertTrue(support.run_turn(CHANNEL, "hello", **{"message-id": end + "-waiting"})[0])
        support.nothing_left()

    def test_restart_ends_what_runs_and_keeps_what_waits(self):
        self.check_restart("restart")

    def test_so_does_sigkill(self):
        self.check_restart("kill")

    def test_off_is_queued(self):
        with support.held_turn(CHANNEL) as running:
            off = support.Call("SetChannelMode", "ss", CHANNEL, "off", user="root")
            behind = None
            try:
                support.eventually("the change waits",
                                   lambda: support.call("GetStatus", "", user="root")["changes-queued"] == 1)
                behind = support.start_turn(CHANNEL, "too late")
                support.eventually("the turn waits", lambda: len(support.call("ListTurns", "", user="root")) == 2)
                self.assertFalse(off.finished())
            finally:
                support.model("release")
            self.assertTrue(running.reply()[0])
        off.reply()
        with self.assertRaises(support.Failed) as caught:
            behind.reply()
        self.assertEqual(caught.exception.name, support.ERROR + "ModeOff")
        support.nothing_left()

    def test_a_message_replaces_the_one_before(self):
        with support.held_turn(CHANNEL) as running:
            anew = support.start_turn(CHANNEL, "hello", replace=True)
            with self.assertRaises(support.Failed) as caught:
                running.reply()
            self.assertEqual(caught.exception.name, support.ERROR + "Cancelled")
            self.assertTrue(anew.reply()[0])
        support.nothing_left()

    def test_the_limit_of_processes_is_named(self):
        # The first shell lives on behind the one that reaches the limit, as a worker would.
        forks = "read line; (while :; do sleep 1000 & done); i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done; exit 1"
        with test_failures.image_replaced(forks):
            with self.assertRaises(support.Failed) as caught:
                support.run_turn(CHANNEL, "hello")
        self.assertEqual(caught.exception.name, support.ERROR + "WorkerProcessLimit")
        support.nothing_left()

    def test_cancel_is_done_within_two_seconds(self):
        with support.held_turn(CHANNEL) as running:
            turn = support.call("ListTurns", "", user="root")[0][0]
            began = time.monotonic()
            support.call("CancelTurn", "s", turn, user="root")
            with self.assertRaises(support.Failed) as caught:
                running.reply()
            self.assertEqual(caught.exception.name, support.ERROR + "Cancelled")
            support.nothing_left(2)
            self.assertLess(time.monotonic() - began, 3)


if __name__ == "__main__":
    unittest.main()
