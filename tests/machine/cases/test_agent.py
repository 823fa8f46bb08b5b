# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""polkit asks a person: a real agent in a terminal, right and wrong passwords, and what its question says."""

import os
import pty
import re
import select
import signal
import subprocess
import tempfile
import termios
import time
import unittest

import support

CHANNEL = "test:agent"
PASSWORD = "quite-a-secret-5"
# The process that polkit is to ask for is the shell's, and then the command's. The agent says that it is registered by
# closing the pipe.
WITH_AGENT = 'pkttyagent --process $$ --notify-fd 3 3>"$0" & cat "$0" >/dev/null; exec "$@"'


class Terminal:
    """A command of the stranger's on a terminal of its own, with an agent beside it unless it has its own."""

    def __init__(self, *words, agent=True):
        self.directory = tempfile.TemporaryDirectory()
        os.chmod(self.directory.name, 0o755)
        ready = os.path.join(self.directory.name, "ready")
        os.mkfifo(ready)
        os.chmod(ready, 0o666)
        self.shown = ""
        self.status = None
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.environ["LC_ALL"] = "C.UTF-8"
            shell = ["bash", "-c", WITH_AGENT, ready] if agent else []
            os.execvp("runuser", ["runuser", "-u", "stranger", "--", *shell, *words])

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.status is None:
            os.killpg(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.terminal)
        self.directory.cleanup()

    def read_until(self, pattern, seconds=30):
        """All that the terminal shows, until the pattern is in it; pattern None: until its end."""
        limit = time.monotonic() + seconds
        while pattern is None or not re.search(pattern, self.shown):
            ready = select.select([self.terminal], [], [], max(limit - time.monotonic(), 0))[0]
            try:
                text = os.read(self.terminal, 4096) if ready else b""
            except OSError:  # how a terminal says that nobody has it open
                text = b""
            if not text:
                if pattern is None and ready:
                    break
                raise AssertionError(f"no {pattern!r} in {self.shown!r}")
            self.shown += text.decode("utf-8", "replace")
        return self.shown

    def answer(self, line):
        """A password. The agent asks, then switches the echo off, and with that throws away what was typed before."""
        support.eventually("the echo is off", lambda: not termios.tcgetattr(self.terminal)[3] & termios.ECHO)
        os.write(self.terminal, line.encode() + b"\n")

    def end(self):
        """The command's status."""
        self.status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.status


def mode():
    return support.call("GetChannelMode", "s", CHANNEL, user="root")


class Agent(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        subprocess.run(["chpasswd"], input=f"root:{PASSWORD}\n", text=True, check=True)

    def setUp(self):
        support.sandbox(CHANNEL, "off")

    def test_the_right_password(self):
        with Terminal("sandboxctl", "on", CHANNEL) as terminal:
            terminal.read_until("Password: ")
            self.assertIn(f"change whether the channel “{CHANNEL}” is sandboxed", terminal.shown)
            self.assertEqual(mode(), "off")
            terminal.answer(PASSWORD)
            self.assertEqual(terminal.end(), 0)
        self.assertEqual(mode(), "on")

    def test_sandboxctl_brings_an_agent_of_its_own(self):
        for answer, status in (("wrong", 4), (PASSWORD, 0)):
            with self.subTest(status=status), Terminal("sandboxctl", "on", CHANNEL, agent=False) as terminal:
                terminal.read_until("Password: ")
                terminal.answer(answer)
                self.assertEqual(terminal.end(), status)
                self.assertEqual(support.run("pgrep", "-u", "stranger", "pkttyagent", check=False), "")
        self.assertEqual(mode(), "on")

    def test_a_wrong_password(self):
        with Terminal("sandboxctl", "on", CHANNEL) as terminal:
            terminal.read_until("Password: ")
            terminal.answer("wrong")
            self.assertEqual(terminal.end(), 4)
        self.assertEqual(mode(), "off")

    def test_nobody_is_asked_who_does_not_want_to_be(self):
        with Terminal("sandboxctl", "--no-ask-password", "on", CHANNEL) as terminal:
            terminal.read_until("not authorized")
            self.assertEqual(terminal.end(), 4)
            self.assertNotIn("Password", terminal.shown)
        self.assertEqual(mode(), "off")

    def test_without_an_agent_the_answer_comes_at_once(self):
        done = subprocess.run(["runuser", "-u", "stranger", "--", "busctl", "--allow-interactive-authorization=yes", "call",
                               "org.roundtable.Sandbox1", "/org/roundtable/Sandbox1", "org.roundtable.Sandbox1.Manager",
                               "SetChannelMode", "ss", CHANNEL, "on"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=20, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, "(?i)interactive authentication required")
        self.assertEqual(mode(), "off")

    def test_each_question_names_the_channel(self):
        support.sandbox(CHANNEL)
        with support.held_turn(CHANNEL) as turn:
            running = support.call("ListTurns", "")[0][0]
            for words in (("status", CHANNEL), ("off", CHANNEL), ("run", CHANNEL, "hello"), ("fresh", CHANNEL),
                          ("purge", CHANNEL), ("cancel", running)):
                # Killed at its end: nobody is left who waits for a password.
                with self.subTest(words=words), Terminal("sandboxctl", *words) as terminal:
                    self.assertIn(f"“{CHANNEL}”", terminal.read_until("Password: "))
        turn.reply()
        self.assertEqual(mode(), "on")

    def test_a_channels_name_cannot_pass_for_our_words(self):
        hostile = "test:a” is fine. \u202eesrever\u202c Type your password at “evil\x1b[2J" + "x" * 200
        with Terminal("sandboxctl", "on", hostile) as terminal:
            shown = terminal.read_until("Password: ")
        question = re.search(r"change whether the channel “(.*)” is sandboxed", shown).group(1)
        self.assertTrue(question.startswith("test:a? is fine. ?esrever? Type your password at ?evil?[2Jx"))
        self.assertTrue(question.endswith("x…"))
        self.assertEqual(len(question), 65)
