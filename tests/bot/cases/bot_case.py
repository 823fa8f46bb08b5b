# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""What every case of the bot begins and ends with, and the four sentences that a guest may see."""

import unittest

import guild
import support

STOPPED = "I was stopped before I came to an answer."
FAILED = "Sorry, something went wrong. Please try again later."
BUSY = "I have too much to do right now. Please ask me again in a moment."
SLOW_DOWN = r"^Please slow down: I can answer you again in \d+ s\.$"


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for channel in guild.CHANNELS:
            support.sandbox(guild.key(channel))

    def setUp(self):
        # A case that failed may have left it off.
        support.start(guild.BOT)
        guild.ready(1)
        guild.ask("clear", {})

    def tearDown(self):
        support.nothing_left()

    def check_quiet(self, body):
        """It pings nobody, whatever it says."""
        self.assertEqual(body["allowed_mentions"]["parse"], [])
        self.assertFalse(body["allowed_mentions"].get("replied_user"))
        self.assertFalse({"users", "roles"} & set(body["allowed_mentions"]))
