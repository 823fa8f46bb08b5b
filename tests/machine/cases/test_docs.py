# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""The commands that the documentation shows do what it says: each is taken out of the page and run."""

import pathlib
import re
import subprocess
import unittest

import support

CHANNEL = "discord:1234"
HERE = pathlib.Path(__file__).resolve().parent
README = HERE.parent / "README.md"
OPERATIONS = pathlib.Path("/usr/share/doc/roundtable-sandbox/operations.md")
# What needs a source tree (the machine was installed by it), or a file system of its own (the vm suite does that).
ELSEWHERE = re.compile(r"^(meson |\./|truncate |mkfs|mount |git |tests/deps )")


def section(path, title):
    """A section's indented lines, each a command; long ones are joined."""
    text = path.read_text(encoding="utf-8")
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    if found is None:
        raise AssertionError(f"{path} has no section \"{title}\"")
    lines = re.findall(r"^ {4,}(\S.*)$", found.group(1).replace("\\\n", " "), re.MULTILINE)
    return [line for line in lines if not ELSEWHERE.match(line)]


def run(command, seconds=90):
    """As a person would at root's shell; a status other than 0 fails the test."""
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", timeout=seconds, check=False, cwd="/root")
    if done.returncode != 0:
        raise AssertionError(f"{command}: status {done.returncode}: {done.stdout}")
    return done.stdout


class Docs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        support.sandbox(CHANNEL)
        support.run_turn(CHANNEL, "[[script:plain]]")
        cls.turn = support.run("sandboxctl", "log", "--json", CHANNEL).split('"turn":"')[-1].split('"')[0]

    def tearDown(self):
        support.nothing_left()

    def each(self, commands, at_least):
        self.assertGreaterEqual(len(commands), at_least)
        for command in commands:
            with self.subTest(command=command):
                run(command.replace("0123456789abcdef", self.turn))

    def test_operations_is_it_well(self):
        self.each(section(OPERATIONS, "Is it well?"), 3)

    def test_operations_what_happened(self):
        commands = section(OPERATIONS, "What happened?")
        self.each(commands, 5)
        self.assertIn(self.turn, run(commands[1].replace("0123456789abcdef", self.turn)))

    def test_operations_upgrade(self):
        self.each(section(OPERATIONS, "After an upgrade"), 5)

    def test_operations_backup(self):
        self.each(section(OPERATIONS, "Backup"), 3)
        listed = run("tar -tzf sandbox-backup.tgz")
        self.assertIn("var/lib/roundtable-sandbox/channels.json", listed)
        self.assertIn("etc/roundtable-sandbox/keys/model", listed)

    def test_operations_stuck(self):
        for command in section(OPERATIONS, "Something is stuck"):
            with self.subTest(command=command):
                if "TURN" not in command:
                    run(command)
                    continue
                with support.held_turn(CHANNEL) as turn:
                    run(command.replace("TURN", support.call("ListTurns", "")[0][0]))
                    with self.assertRaises(support.Failed) as caught:
                        turn.reply()
                self.assertEqual(caught.exception.name, support.ERROR + "Cancelled")

    def test_readme_busctl(self):
        command = [line for line in section(README, "Call it from a bot") if line.startswith("busctl ")][0]
        self.assertRegex(run(command), r'^bs true ".*\d\d:\d\d')

    def test_readme_python(self):
        program = re.search(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL).group(1)
        done = subprocess.run(["runuser", "-u", "bot", "--", "python3", "-c", program], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, text=True, timeout=60, check=True)
        self.assertRegex(done.stdout, r"\d\d:\d\d")

    def test_readme_c(self):
        # Taken out of the page and compiled where the project is built: no machine has a compiler.
        self.assertRegex(support.run("runuser", "-u", "bot", "--", str(HERE.parent / "probes" / "readme-call")), r"\d\d:\d\d")

    def test_man_pages(self):
        """The commands of the pages' examples; IDs stand for a turn's."""
        for page, title, at_least in (("sandboxctl.1", "EXAMPLES", 5), ("sandboxd.8", "JOURNAL", 2)):
            text = (HERE.parent / "man" / f"{page}.rst").read_text(encoding="utf-8").replace("\\\n", " ")
            part = re.search(rf"^{title}\n=+\n(.*?)(?=^[A-Z ]+\n=+\n)", text, re.MULTILINE | re.DOTALL).group(1)
            commands = re.findall(r"^ {4}((?:sandboxctl|journalctl|busctl) .*)$", part, re.MULTILINE)
            self.each([re.sub(r"=ID$|3e1f0c5a9b7d48e2", lambda id: ("=" if id[0][0] == "=" else "") + self.turn, command)
                       for command in commands], at_least)

    def test_readme_operate(self):
        for command in section(README, "Operate it"):
            with self.subTest(command=command):
                # It goes on until it is interrupted.
                run(command.replace("sandboxctl turns --watch", "timeout -s INT 1 sandboxctl turns --watch || [ $? = 124 ]"))
