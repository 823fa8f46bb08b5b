# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""The bot as a service: how it is shut in, where its token is, and what it says of a wrong configuration. The minimal bots."""

import pathlib
import re
import unittest

import guild
import support
from bot_case import Case

CHANNEL = guild.CHANNELS[5]
CONFIGURATION = pathlib.Path("/etc/sandbox-discord-bot/sandbox-discord-bot.conf")
TOKEN_FILE = pathlib.Path("/etc/sandbox-discord-bot/token")
TOKEN = "token.for.tests"


class Service(Case):
    def test_how_exposed_it_is(self):
        text = support.run("systemd-analyze", "security", "--no-pager", guild.BOT)
        figure = re.search(r"exposure level for \S+: ([\d.]+)", text).group(1)
        self.assertLessEqual(float(figure), 1.5)

    def test_who_it_is(self):
        fields = support.status(support.main_pid(guild.BOT))
        uid = int(support.run("id", "-u", "sandbox-bot"))
        self.assertEqual(set(fields["Uid"].split()), {str(uid)})
        self.assertEqual(fields["CapEff"], "0" * 16)
        self.assertEqual(fields["NoNewPrivs"], "1")
        groups = support.run("id", "-nG", "sandbox-bot").split()
        self.assertEqual(sorted(groups), ["sandbox-bot", "sandbox-bot-owners"])

    def test_where_its_token_is_not(self):
        self.assertEqual(TOKEN_FILE.stat().st_mode & 0o777, 0o400)
        process = pathlib.Path(f"/proc/{support.main_pid(guild.BOT)}")
        for file in "environ", "cmdline":
            self.assertNotIn(TOKEN.encode(), (process / file).read_bytes())
        self.assertNotIn(TOKEN, support.run("systemctl", "show", guild.BOT))
        self.assertNotIn(TOKEN, support.journal("-u", guild.BOT))

    def test_what_its_journal_does_not_tell(self):
        guild.say(CHANNEL, "[[script:plain]] pineapple")
        guild.answer(CHANNEL)
        guild.say(CHANNEL, "[[script:status 400]] pineapple")
        guild.answers(CHANNEL, 2)
        journal = support.journal("-u", guild.BOT)
        for word in "pineapple", "Ada", "You said":
            self.assertNotIn(word, journal)

    def check_refusal(self, expected):
        support.run("systemctl", "restart", guild.BOT, check=False)
        support.eventually("it has ended", lambda: support.run("systemctl", "is-failed", guild.BOT, check=False).strip() == "failed", 30)
        self.assertEqual(support.run("systemctl", "show", "-P", "ExecMainStatus", guild.BOT).strip(), "78")
        self.assertIn(expected, support.journal("-u", guild.BOT, "-n", "10"))

    def test_a_wrong_configuration(self):
        text = CONFIGURATION.read_text(encoding="utf-8")
        CONFIGURATION.write_text(text + "Owner=1\n", encoding="utf-8")
        try:
            self.check_refusal("there is no option Owner")
        finally:
            CONFIGURATION.write_text(text, encoding="utf-8")
            guild.restart_bot()

    def test_a_token_that_discord_refuses(self):
        TOKEN_FILE.write_text("another.token.altogether\n", encoding="utf-8")
        try:
            self.check_refusal("token")
        finally:
            TOKEN_FILE.write_text(TOKEN + "\n", encoding="utf-8")
            guild.restart_bot()

    def test_an_intent_that_is_not_switched_on(self):
        guild.ask("gateway", {"refuse": 4014})
        try:
            self.check_refusal('its intent "Message Content" is not switched on')
        finally:
            guild.restart_bot()


class Minimal(Case):
    def check(self, *program):
        def deliver(channel, text):
            return support.run("runuser", "-u", "bot", "--", *program, channel, "42", "Ada", text)

        self.assertEqual(deliver(guild.key(guild.OPEN), "hello"), "verdict: pass\n")
        answer = deliver(guild.key(CHANNEL), "[[script:plain]] hello")
        self.assertTrue(answer.startswith("verdict: turn\n"), answer)
        self.assertIn("outcome: replied\n", answer)
        self.assertIn("guest-text: You said: [[script:plain]] hello\n", answer)
        failed = deliver(guild.key(CHANNEL), "[[script:status 400]]")
        self.assertIn("outcome: failed\n", failed)
        self.assertIn("reason: model-refused\n", failed)
        with self.assertRaisesRegex(AssertionError, support.ERROR + "InvalidChannel"):
            deliver("no key", "hello")

    def test_python(self):
        self.check("python3", "/usr/share/doc/roundtable-sandbox/examples/minimal/deliver.py")

    def test_c(self):
        self.check("/opt/roundtable-bot/minimal-deliver")

    def test_the_first_call_in_node(self):
        """README.md's, as it stands there; C, Python and busctl are tried where no Node is."""
        readme = pathlib.Path("/opt/roundtable-tests/README.md").read_text(encoding="utf-8")
        program = pathlib.Path("/opt/roundtable-bot/library/readme.mjs")
        program.write_text(re.search(r"```js\n(.*?)```", readme, re.DOTALL).group(1), encoding="utf-8")
        program.chmod(0o644)
        support.sandbox("discord:1234")
        said = support.run("runuser", "-u", "bot", "--", "/opt/roundtable-bot/node", str(program))
        self.assertRegex(said, r"\d\d:\d\d")


if __name__ == "__main__":
    unittest.main()
