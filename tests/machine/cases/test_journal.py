# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""The journal: what an operator can filter by and have explained is there, and no guest's word is."""

import json
import unittest

import support

CHANNEL = "test:journal"
UNITS = ("-u", "sandboxd.service", "-u", "sandbox-egress.service", "-u", "sandboxd-cleanup.service")
FINISHED = "b1fc4e67be3649bb3d1630953ba1c36f"
CALL = "0ac9577d8527dfcc22fae740566eb6cd"


def entries(*matches):
    return [json.loads(line) for line in support.journal("-o", "json", *matches).splitlines()]


class Journal(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        support.sandbox(CHANNEL)

    def test_no_word_of_a_guest_a_tool_or_the_model(self):
        # As root: runuser would log its own command line, which holds the text.
        for text in ("[[script:plain]] marker-in-the-message",
                     '[[script:call host_clock {"zone":"marker-in-the-input"}]]',
                     '[[script:call memory_set {"scope":"channel","key":"k","text":"marker-in-the-note"}]]',
                     '[[script:call no_such_tool {"a":"marker-in-a-refused-call"}]]'):
            support.run_turn(CHANNEL, text, user="root")
        with self.assertRaises(support.Failed):
            support.run_turn(CHANNEL, "[[script:status 400]] marker-in-a-failed-turn", user="root")
        support.nothing_left()
        support.run("journalctl", "--sync")
        text = support.run("journalctl", "-b", "-o", "export", "--no-pager")
        self.assertIn(CHANNEL, text)
        self.assertEqual([line[:200] for line in text.splitlines() if "marker-in" in line], [])

    def test_a_turn_can_be_found_by_its_fields(self):
        support.run_turn(CHANNEL, "What time is it?")
        support.run("journalctl", "--sync")
        last = entries(f"MESSAGE_ID={FINISHED}", f"SANDBOX_CHANNEL={CHANNEL}")[-1]
        self.assertEqual(last["SANDBOX_OUTCOME"], "replied")
        for field in ("QUEUED_MSEC", "PREPARING_MSEC", "RUNNING_MSEC", "TOTAL_MSEC", "CALLS", "CALLS_REFUSED",
                      "REQUEST_BYTES", "ANSWER_BYTES", "PROMPT_TOKENS", "ANSWER_TOKENS"):
            with self.subTest(field=field):
                self.assertRegex(last["SANDBOX_" + field], r"^\d+$")
        self.assertGreater(int(last["SANDBOX_REQUEST_BYTES"]), 0)
        self.assertGreater(int(last["SANDBOX_PREPARING_MSEC"]), 0)
        of_turn = entries(f"SANDBOX_TURN={last['SANDBOX_TURN']}")
        calls = [entry for entry in of_turn if entry.get("MESSAGE_ID") == CALL]
        # The model, the clock, the model again.
        self.assertGreaterEqual(len(calls), 3)

    def test_every_entry_has_an_explanation(self):
        seen = {entry["MESSAGE_ID"] for entry in entries(*UNITS) if "SANDBOX_TURN" in entry and "MESSAGE_ID" in entry}
        self.assertIn(FINISHED, seen)
        explained = {line.split()[0] for line in support.run("journalctl", "--list-catalog", "--no-pager").splitlines() if line}
        self.assertEqual(seen - explained, set())
        self.assertIn("Documentation: man:sandboxd(8)", support.journal("-x", "-o", "short", f"MESSAGE_ID={FINISHED}"))
