# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""What an operator does at the terminal: sandboxctl against the real bus, journal, Docker and polkit."""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import support
from test_failures import image_replaced, moved_away, stopped

CHANNEL = "test:ctl"
RULES = pathlib.Path("/usr/share/polkit-1/rules.d/50-roundtable-sandbox.rules")


def ctl(*words, status=0, env=None):
    done = subprocess.run(["sandboxctl", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=60, check=False, env={**os.environ, **(env or {})})
    if done.returncode != status:
        raise AssertionError(f"sandboxctl {' '.join(words)}: status {done.returncode}: {done.stderr}{done.stdout}")
    return done.stdout


def drop_in(text):
    return support.configured(text)


@contextlib.contextmanager
def changed(path, **values):
    """A file with another owner or mode, or empty."""
    before = path.stat()
    text = path.read_bytes()
    if "mode" in values:
        path.chmod(values["mode"])
    if "owner" in values:
        shutil.chown(path, values["owner"])
    if "content" in values:
        path.write_bytes(values["content"])
    try:
        yield
    finally:
        path.write_bytes(text)
        os.chown(path, before.st_uid, before.st_gid)
        path.chmod(before.st_mode & 0o7777)


@contextlib.contextmanager
def without_group(user, group):
    support.run("gpasswd", "-d", user, group)
    try:
        yield
    finally:
        support.run("usermod", "-a", "-G", group, user)


@contextlib.contextmanager
def disabled(unit):
    support.run("systemctl", "disable", "--quiet", unit)
    try:
        yield
    finally:
        support.run("systemctl", "enable", "--quiet", unit)


@contextlib.contextmanager
def refused_by_polkit():
    with moved_away(RULES):
        support.restart("polkit.service")
        yield
    support.restart("polkit.service")


class Check(unittest.TestCase):
    """Each thing that is put wrong is found, and its fix is named."""

    def found(self, *options):
        return {(each["check"], each["result"]): each["fix"]
                for each in json.loads(ctl("check", "--no-turn", "--json", *options, status=1))}

    def finds(self, check, fix):
        found = self.found()
        self.assertIn((check, "FAILED"), found)
        self.assertIn(fix, found[check, "FAILED"])

    def test_a_good_installation(self):
        text = ctl("check")
        self.assertNotIn("FAILED", text)
        self.assertRegex(text, r"ok +turn +a guest's turn was answered")
        self.assertEqual(support.call("GetChannelMode", "s", "sandboxctl:check"), "off")
        self.assertFalse(support.workspace("sandboxctl:check").exists())
        support.nothing_left()

    def test_docker_stopped(self):
        with stopped("docker.socket", "docker.service"):
            self.finds("docker", "systemctl enable --now docker")

    def test_image_missing(self):
        with image_replaced():
            self.finds("image", "sandboxctl image build")

    def test_key_missing(self):
        with moved_away(support.KEY_FILE):
            self.finds("key", "install -o sandbox-egress -m 0400")

    def test_key_open_to_others(self):
        with changed(support.KEY_FILE, mode=0o444):
            self.finds("key", "install -o sandbox-egress -m 0400")

    def test_key_of_another_user(self):
        with changed(support.KEY_FILE, owner="sandboxd"):
            self.finds("key", "install -o sandbox-egress -m 0400")

    def test_key_empty(self):
        with changed(support.KEY_FILE, content=b""):
            self.finds("key", "install -o sandbox-egress -m 0400")

    def test_endpoint_down(self):
        with stopped("scripted-model.service"):
            self.finds("endpoint", "URL=")

    def test_configuration_wrong(self):
        path = pathlib.Path("/etc/roundtable-sandbox/sandboxd.conf.d/99-bad.conf")
        path.write_text("[Turns]\nDeadline=never\n", encoding="utf-8")
        try:
            self.finds("config", "correct it")
        finally:
            path.unlink()

    def test_disk_low(self):
        with drop_in("[Turns]\nMinFree=1T\n"):
            self.finds("disk", "MinFree=")

    def test_tool_without_socket(self):
        with stopped("sandbox-tool-clock.socket"):
            self.finds("tools", "systemctl enable --now sandbox-tool-clock.socket")

    def test_egress_without_socket(self):
        with stopped("sandbox-egress.socket"):
            self.finds("egress", "systemctl restart sandbox-egress.socket")

    def test_daemon_not_in_dockers_group(self):
        with without_group("sandboxd", "docker"):
            self.finds("users", "systemd-sysusers")

    def test_cleanup_not_enabled(self):
        with disabled("sandboxd-cleanup.service"):
            self.finds("units", "systemctl enable sandboxd-cleanup.service")

    def test_daemon_masked(self):
        support.run("systemctl", "stop", "sandboxd.service")
        support.run("systemctl", "mask", "--runtime", "sandboxd.service")
        try:
            self.finds("sandboxd", "systemctl unmask sandboxd")
        finally:
            support.run("systemctl", "unmask", "--runtime", "sandboxd.service")
            support.start("sandboxd.service")

    def test_rules_missing(self):
        with refused_by_polkit():
            self.finds("polkit", "50-roundtable-sandbox.rules")

    def test_no_turn_where_something_failed(self):
        with stopped("sandbox-tool-clock.socket"):
            self.assertRegex(ctl("check", status=1), r"not made +turn")


class Terminal(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        support.sandbox(CHANNEL)

    def test_log_of_a_channel_and_of_a_turn(self):
        text = ctl("run", CHANNEL, "[[script:plain]] marked-by-the-case")
        self.assertTrue(text)
        entries = [json.loads(line) for line in ctl("log", "--json", CHANNEL).splitlines()]
        turns = {entry["turn"] for entry in entries if "turn" in entry}
        self.assertTrue(turns)
        self.assertEqual({entry.get("channel", CHANNEL) for entry in entries}, {CHANNEL})
        last = entries[-1]["turn"]
        of_turn = [json.loads(line) for line in ctl("log", "--json", last).splitlines()]
        self.assertEqual({entry["turn"] for entry in of_turn}, {last})
        self.assertTrue([entry for entry in of_turn if entry.get("outcome")])
        self.assertEqual(len(ctl("log", "-n", "2").splitlines()), 2)
        self.assertNotIn("marked-by-the-case", ctl("log"))

    def test_log_shows_only_what_our_services_said(self):
        subprocess.run(["systemd-cat", "-t", "sandboxd", "echo", "not from the daemon"], check=True)
        self.assertNotIn("not from the daemon", ctl("log"))

    def test_log_follows(self):
        with subprocess.Popen(["sandboxctl", "log", "--follow", "-n", "1", "--json", CHANNEL], stdout=subprocess.PIPE,
                              text=True) as process:
            try:
                process.stdout.readline()
                ctl("run", CHANNEL, "[[script:plain]]")
                seen = ""
                while "outcome" not in seen:
                    seen = process.stdout.readline()
                    self.assertTrue(seen)
            finally:
                process.kill()

    def test_tools(self):
        rows = json.loads(ctl("tools", "--json"))
        self.assertIn(("clock", "/run/sandbox-tools/clock.sock", "ok"), [(row["tool"], row["by"], row["state"]) for row in rows])
        with stopped("sandbox-tool-clock.socket"):
            self.assertIn("no socket", ctl("tools", status=1))

    def test_watch_shows_a_turn_come_and_go(self):
        support.eventually("no turn is left", lambda: not support.call("ListTurns", ""))
        with subprocess.Popen(["sandboxctl", "turns", "--watch", "--json"], stdout=subprocess.PIPE, text=True) as process:
            try:
                self.assertEqual(json.loads(process.stdout.readline()), [])
                with support.held_turn(CHANNEL) as turn:
                    shown = json.loads(process.stdout.readline())
                    self.assertEqual([each["channel"] for each in shown], [CHANNEL])
                turn.reply()
                while shown:
                    shown = json.loads(process.stdout.readline())
            finally:
                process.kill()
        support.nothing_left()

    def test_another_host_by_ssh(self):
        """The remote end is a program named ssh that does what sshd would: run the bridge, as root."""
        with tempfile.TemporaryDirectory() as directory:
            fake = pathlib.Path(directory, "ssh")
            fake.write_text(f'#!/bin/sh\necho "$@" >{directory}/words\nexec systemd-stdio-bridge\n', encoding="utf-8")
            fake.chmod(0o755)
            path = {"PATH": f"{directory}:{os.environ['PATH']}"}
            self.assertIn(CHANNEL, ctl("-H", "ada@example", "status", CHANNEL, env=path))
            self.assertIn("ada@example", pathlib.Path(directory, "words").read_text(encoding="utf-8"))
        self.assertIn("on", ctl("status", CHANNEL))

    def test_the_private_socket(self):
        socket = "--socket=/run/sandboxd.sock"
        self.assertIn("on", ctl(socket, "status", CHANNEL))
        self.assertTrue(ctl(socket, "run", CHANNEL, "[[script:plain]]"))
        ctl("--socket=/no/such/socket", "turns", status=3)
        ctl(socket, "-H", "example", "turns", status=2)

    def test_status_and_turns_say_what_a_turn_waits_for(self):
        with support.held_turn(CHANNEL) as turn:
            waiting = support.start_turn(CHANNEL, "[[script:plain]]")
            listed = support.eventually("two turns", lambda: [each for each in [json.loads(ctl("turns", "--json"))]
                                                              if len(each) == 2])[0]
            self.assertEqual([(each["state"], each["waits_for"]) for each in listed],
                             [("running", "worker"), ("queued", "turn")])
            self.assertLessEqual(listed[0]["accepted_usec"], listed[0]["state_since_usec"])
            self.assertEqual([each["turn"] for each in json.loads(ctl("status", "--json"))["turns"]],
                             [each["turn"] for each in listed])
            self.assertRegex(ctl("status"), rf"{listed[0]['turn']} +{CHANNEL} +running +\d+\.\ds +worker ")
            self.assertIn({"channel": CHANNEL, "running": 1, "queued": 1}, json.loads(ctl("channels", "--json")))
        turn.reply()
        waiting.reply()
        support.nothing_left()
        self.assertRegex(ctl("channels"), rf"(?m)^CHANNEL +RUNNING +QUEUED$(.|\n)*^{CHANNEL} +0 +0$")

    def test_stats(self):
        before = json.loads(ctl("stats", "--json", CHANNEL))
        ctl("run", CHANNEL, "What time is it?")
        support.nothing_left()
        after = json.loads(ctl("stats", "--json", CHANNEL))
        self.assertEqual(after["outcomes"]["replied"] - before["outcomes"]["replied"], 1)
        # The model, the clock, the model again.
        self.assertGreaterEqual(after["calls"] - before["calls"], 3)
        self.assertGreater(after["prompt-tokens"] + after["answer-tokens"],
                           before["prompt-tokens"] + before["answer-tokens"])
        for phase in ("preparing", "running", "finishing"):
            self.assertGreater(after["phases"][phase]["sum-msec"], before["phases"][phase]["sum-msec"])
        self.assertIn(CHANNEL, json.loads(ctl("stats", "--json"))["channels"])
        self.assertRegex(ctl("stats"), r"(?m)^turns replied +\d+$")

    def test_fresh_lets_a_channel_forget(self):
        history = support.workspace(CHANNEL) / "history.json"
        ctl("run", CHANNEL, "[[script:plain]] remember-this")
        support.nothing_left()
        self.assertIn("remember-this", history.read_text(encoding="utf-8"))
        ctl("fresh", CHANNEL)
        ctl("run", CHANNEL, "[[script:plain]]")
        support.nothing_left()
        self.assertNotIn("remember-this", history.read_text(encoding="utf-8"))

    def test_reload_says_what_is_wrong(self):
        ctl("reload")
        path = pathlib.Path("/etc/roundtable-sandbox/sandboxd.conf.d/99-bad.conf")
        path.write_text("[Turns]\nDeadline=never\n", encoding="utf-8")
        try:
            done = subprocess.run(["sandboxctl", "reload"], stderr=subprocess.PIPE, text=True, check=False, timeout=60)
            self.assertEqual(done.returncode, 1)
            self.assertIn("Deadline", done.stderr)
        finally:
            path.unlink()
        ctl("reload")

    def test_log_by_time(self):
        ctl("run", CHANNEL, "[[script:plain]]")
        support.run("journalctl", "--sync")
        self.assertTrue(ctl("log", "--since=-1h", CHANNEL))
        self.assertEqual(ctl("log", "--since=+1h"), "")
        self.assertEqual(ctl("log", "--until=2001-01-01"), "")
        self.assertEqual(len(ctl("log", "-S", "-1h", "-n", "1").splitlines()), 1)
        middle = json.loads(ctl("log", "--json", "-n", "2").splitlines()[0])["time_usec"] // 1_000_000
        for line in ctl("log", "--json", f"--until=@{middle}").splitlines():
            self.assertLessEqual(json.loads(line)["time_usec"], middle * 1_000_000)
        ctl("log", "--since=soon", status=2)
        ctl("log", "--until=now", "--follow", status=2)
        ctl("log", "nothing", status=2)

    def test_each_verb_that_shows_something_speaks_json(self):
        for words in (("status",), ("status", CHANNEL), ("channels",), ("turns",), ("stats",), ("stats", CHANNEL), ("tools",),
                      ("run", CHANNEL, "[[script:plain]]"), ("check", "--no-turn")):
            with self.subTest(words=words):
                done = {mode: subprocess.run(["sandboxctl", f"--json={mode}", "--no-pager", *words], stdin=subprocess.DEVNULL,
                                             capture_output=True, text=True, timeout=60, check=False).stdout
                        for mode in ("short", "pretty")}
                self.assertEqual(len(done["short"].splitlines()), 1)
                if words != ("turns",):  # none are there
                    self.assertGreater(len(done["pretty"].splitlines()), 1)
                self.assertEqual(type(json.loads(done["short"])), type(json.loads(done["pretty"])))
        for words in (("log", "-n", "5"), ("turns",), ("channels",), ("stats",), ("check", "--no-turn")):
            self.assertNotIn("\033", ctl(*words))
        self.assertFalse(ctl("--no-legend", "channels").startswith("CHANNEL"))
        self.assertEqual(ctl("--no-legend", "turns"), "")

    def test_colours_are_for_terminals(self):
        for variables, wanted in (((), True), (("NO_COLOR=1",), False), (("TERM=dumb",), False)):
            with self.subTest(variables=variables):
                shown = support.run("env", "TERM=xterm", *variables, "script", "-qec", "sandboxctl check --no-turn", "/dev/null")
                self.assertEqual("\033[3" in shown, wanted)

    def test_the_private_socket_goes_by_groups(self):
        done = {}
        for user, group, words in (("peer-bot", "sandbox-bots", ("run", CHANNEL, "[[script:plain]]")),
                                   ("peer-operator", "sandbox-operators", ("turns",)),
                                   ("peer-stranger", "nogroup", ("turns",)),
                                   ("peer-bot", "sandbox-bots", ("turns",))):
            support.run("useradd", "--system", "--no-user-group", "--gid", "nogroup", "--groups", group, user, check=False)
            done[user, words[0]] = subprocess.run(["runuser", "-u", user, "--", "sandboxctl", "--socket=/run/sandboxd.sock", *words],
                                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual({who: each.returncode for who, each in done.items()},
                         {("peer-bot", "run"): 0, ("peer-operator", "turns"): 0, ("peer-stranger", "turns"): 4,
                          ("peer-bot", "turns"): 4})
        self.assertIn("sandbox-operators", done["peer-stranger", "turns"].stderr)

    def test_files_of_another_host_are_not_guessed(self):
        for verb in ("log", "tools", "check"):
            ctl("-H", "example", verb, status=2)

    def test_completion_knows_channels(self):
        script = ('. /usr/share/bash-completion/completions/sandboxctl; COMP_WORDS=(sandboxctl off test:c); COMP_CWORD=2; '
                  'COMP_LINE="sandboxctl off test:c"; COMP_POINT=${#COMP_LINE} COMP_WORDBREAKS=" "; _sandboxctl; '
                  'printf "%s\\n" "${COMPREPLY[@]}"')
        self.assertIn(CHANNEL, support.run("bash", "-c", script).splitlines())

    def test_completion_knows_running_turns(self):
        with support.held_turn(CHANNEL) as turn:
            script = ('. /usr/share/bash-completion/completions/sandboxctl; COMP_WORDS=(sandboxctl cancel ""); COMP_CWORD=2; '
                      'COMP_LINE="sandboxctl cancel "; COMP_POINT=${#COMP_LINE}; _sandboxctl; echo "${COMPREPLY[*]}"')
            listed = support.call("ListTurns", "")
            self.assertEqual(support.run("bash", "-c", script).split(), [each[0] for each in listed])
        turn.reply()
