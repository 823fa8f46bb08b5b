# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""Prepared turns: for a channel in use the next turn's sandbox waits; it is used once, by that channel, or thrown away."""

import contextlib
import json
import os
import pathlib
import signal
import socket
import unittest

import support

STARTED = "3b7c822994f45243729a4e000d0bfd4e"
DROPPED = "dc218432175457fa4a298c8dcd886a68"
DROP_IN = pathlib.Path("/etc/roundtable-sandbox/sandboxd.conf.d/91-prepared.conf")
CALL = (b"POST /model HTTP/1.1\r\nHost: broker\r\nAuthorization: Bearer sandbox-dummy-key\r\n"
        b"Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")


def waiting():
    return int(support.run("busctl", "get-property", "org.roundtable.Sandbox1", "/org/roundtable/Sandbox1",
                           "org.roundtable.Sandbox1.Manager", "TurnsPrepared").split()[1])


def wait_for(count, seconds=20):
    """Until so many wait, and nothing beside them is there."""
    def there():
        return waiting() == count and len(support.containers()) == count and len(support.processes("sandbox-broker")) == count \
            and len(directories()) == count and len(support.scopes()) == 2 * count

    support.eventually(f"{count} prepared turns wait, and nothing else is there", there, seconds)


def directories():
    return list(pathlib.Path("/run/roundtable-sandbox").glob("turn-*"))


def entries(message_id, **fields):
    out = support.run("journalctl", "-b", "-o", "json", "--no-pager", f"MESSAGE_ID={message_id}",
                      *(f"{name}={value}" for name, value in fields.items()))
    return [json.loads(line) for line in out.splitlines() if line.startswith("{")]


def was_prepared(channel):
    """Whether the channel's last turn found its sandbox made."""
    return entries(STARTED, SANDBOX_CHANNEL=channel)[-1]["SANDBOX_PREPARED"] == "yes"


def whys(channel):
    return [entry["SANDBOX_REASON"] for entry in entries(DROPPED, SANDBOX_CHANNEL=channel)]


def inspected(template):
    """A word of each container that is there; one that goes meanwhile has none."""
    there = support.containers()
    return set(support.run("docker", "inspect", "-f", template, *there, check=False).split()) if there else set()


def labels():
    """The ids by which the containers are named."""
    return inspected('{{index .Config.Labels "org.roundtable.sandbox.turn"}}')


def container_pid():
    return int(support.run("docker", "inspect", "-f", "{{.State.Pid}}", support.containers()[0]))


@contextlib.contextmanager
def options(text):
    """Read again, not restarted: what waits has to notice."""
    DROP_IN.write_text("[Turns]\n" + text, encoding="utf-8")
    try:
        support.run("systemctl", "reload", "sandboxd.service")
        yield
    finally:
        DROP_IN.unlink()
        support.run("systemctl", "reload", "sandboxd.service")


class Prepared(unittest.TestCase):
    channel = "test:prepared"

    @classmethod
    def setUpClass(cls):
        cls.service = support.configured("[Turns]\nPreparedTurns=4\n")
        cls.service.__enter__()
        support.sandbox(cls.channel)

    @classmethod
    def tearDownClass(cls):
        cls.service.__exit__(None, None, None)
        support.nothing_left()

    def turn(self, text="[[script:plain]] hello", channel=None, **options_):
        ok, reply = support.run_turn(channel or self.channel, text, timeout=30, **options_)
        self.assertTrue(ok, reply)
        return reply

    def prepare(self):
        self.turn()
        wait_for(1)

    def tearDown(self):
        # What waits for this channel goes with its mode; each case begins with none.
        support.sandbox(self.channel, "off")
        wait_for(0)
        support.sandbox(self.channel)


class Use(Prepared):
    channel = "test:prepared-use"

    def test_the_second_turn_is_prepared_and_each_is_used_once(self):
        self.prepare()
        self.assertFalse(was_prepared(self.channel))
        used = set()
        for _ in range(3):
            there = labels()
            self.assertEqual(len(there), 1)
            self.assertFalse(there & used)
            self.turn()
            self.assertTrue(was_prepared(self.channel))
            self.assertEqual(entries(STARTED, SANDBOX_CHANNEL=self.channel)[-1]["SANDBOX_ID"], next(iter(there)))
            used |= there
            wait_for(1)
        self.assertEqual(support.call("GetStatus", "", user="root")["turns-prepared"], 1)

    def test_it_is_not_used_by_another_channel(self):
        self.prepare()
        support.sandbox("test:prepared-other")
        self.turn(channel="test:prepared-other")
        self.assertFalse(was_prepared("test:prepared-other"))
        support.sandbox("test:prepared-other", "off")
        wait_for(1)

    def test_speakers_do_not_mix(self):
        self.prepare()
        for name, number in (("Ada", "1001"), ("Bob", "1002"), ("Cleo", "1003")):
            ok, reply = support.call("RunTurn", "ssssa{sv}", self.channel, number, name, f"[[script:plain]] I am {name}", {})
            self.assertTrue(ok)
            self.assertIn(f"I am {name}", reply)
            self.assertTrue(was_prepared(self.channel) or name == "Ada")
            wait_for(1)
        requests = [json.loads(line) for line in support.model("log").splitlines()][-3:]
        for request, name in zip(requests, ("Ada", "Bob", "Cleo")):
            last = json.dumps(request["body"]["messages"][-1])
            self.assertIn(name, last)
            self.assertFalse([other for other in ("Ada", "Bob", "Cleo") if other != name and other in last])

    def test_nothing_can_be_called_while_it_waits(self):
        self.prepare()
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer:
            peer.settimeout(10)
            peer.connect(str(directories()[0] / "broker.sock"))
            peer.sendall(CALL)
            self.assertTrue(peer.recv(4096).startswith(b"HTTP/1.1 410 "))
        # And the broker goes on waiting.
        self.turn()
        self.assertTrue(was_prepared(self.channel))

    def test_cancelling_a_prepared_turn(self):
        self.prepare()
        with support.held_turn(self.channel) as turn:
            support.call("CancelTurn", "s", support.call("ListTurns", "")[0][0])
            with self.assertRaises(support.Failed) as caught:
                turn.reply(10)
        self.assertEqual(caught.exception.name, support.ERROR + "Cancelled")
        self.assertTrue(was_prepared(self.channel))
        wait_for(1)

    def test_the_deadline_counts_from_the_turn(self):
        with options("Deadline=3s\n"):
            self.prepare()
            with support.held_turn(self.channel) as turn:
                with self.assertRaises(support.Failed) as caught:
                    turn.reply(10)
            self.assertEqual(caught.exception.name, support.ERROR + "DeadlineExceeded")
            self.assertTrue(was_prepared(self.channel))

    def test_a_worker_that_stands_still_ends_at_the_deadline(self):
        with options("Deadline=2s\n"):
            self.prepare()
            os.kill(container_pid(), signal.SIGSTOP)
            with self.assertRaises(support.Failed) as caught:
                support.run_turn(self.channel, "[[script:plain]] hello", timeout=20)
            self.assertEqual(caught.exception.name, support.ERROR + "DeadlineExceeded")


class Death(Prepared):
    channel = "test:prepared-death"

    def goes_on(self):
        """The next turn has a reply, whatever it found, and one waits again."""
        self.turn()
        wait_for(1)

    def test_the_container_is_killed(self):
        self.prepare()
        before = labels()
        os.kill(container_pid(), signal.SIGKILL)
        support.eventually("another one waits", lambda: waiting() == 1 and not labels() & before, 20)
        wait_for(1)
        self.assertIn("worker-ended", whys(self.channel))
        self.turn()
        self.assertTrue(was_prepared(self.channel))
        wait_for(1)

    def test_the_broker_is_killed(self):
        self.prepare()
        before = labels()
        os.kill(support.processes("sandbox-broker")[0], signal.SIGKILL)
        support.eventually("another one waits", lambda: waiting() == 1 and not labels() & before, 20)
        self.assertIn("broker-ended", whys(self.channel))
        self.goes_on()

    def test_a_turn_right_behind_a_kill_has_its_reply(self):
        for program in ("worker", "broker"):
            self.prepare()
            pid = container_pid() if program == "worker" else support.processes("sandbox-broker")[0]
            with self.subTest(program=program):
                os.kill(pid, signal.SIGKILL)
                self.goes_on()

    def test_the_container_is_removed(self):
        self.prepare()
        support.run("docker", "rm", "-f", support.containers()[0])
        self.goes_on()

    def test_dockerd_is_killed(self):
        self.prepare()
        os.kill(support.main_pid("docker.service"), signal.SIGKILL)
        support.eventually("it is noticed", lambda: waiting() == 0)
        support.start("docker.socket", "docker.service")
        support.eventually("Docker is back", lambda: support.call("GetStatus", "", user="root")["docker"] == "ok", 20)
        self.goes_on()

    def test_docker_is_away_for_longer(self):
        self.prepare()
        support.run("systemctl", "stop", "docker.socket", "docker.service")
        try:
            support.eventually("it is noticed", lambda: waiting() == 0)
            support.eventually("no process is left", lambda: not support.processes("sandbox-broker"))
        finally:
            support.start("docker.socket", "docker.service")
        support.eventually("it is made again without any turn", lambda: waiting() == 1, 40)
        self.goes_on()

    def test_the_workspace_is_another(self):
        self.prepare()
        workspace = support.workspace(self.channel)
        aside = workspace.with_name("aside-of-a-case")
        workspace.rename(aside)
        try:
            self.turn()
            self.assertFalse(was_prepared(self.channel))
            self.assertIn("not-fit", whys(self.channel))
        finally:
            support.run("rm", "-rf", str(aside))

    def test_sandboxd_is_killed(self):
        self.prepare()
        os.kill(support.main_pid("sandboxd.service"), signal.SIGKILL)
        support.eventually("it is back", lambda: support.run("systemctl", "is-active", "sandboxd.service", check=False).strip() == "active")
        support.nothing_left()
        self.goes_on()

    def test_it_is_swept_by_hand_where_sandboxd_cannot(self):
        """What a dead sandboxd leaves is found by the same names as a turn's."""
        self.prepare()
        listed = support.run("sandboxctl", "cleanup", "--dry-run")
        name = next(iter(labels()))
        self.assertIn(name, listed)


class Away(Prepared):
    channel = "test:prepared-away"

    def test_mode_off(self):
        self.prepare()
        support.sandbox(self.channel, "off")
        wait_for(0)
        self.assertEqual(whys(self.channel)[-1], "not-in-use")

    def test_purge(self):
        self.prepare()
        support.run("sandboxctl", "purge", self.channel)
        wait_for(0)
        self.assertEqual(whys(self.channel)[-1], "not-in-use")
        self.assertEqual(self.turn("[[script:history]]"), "0")

    def test_reload(self):
        self.prepare()
        before = labels()
        with options("Calls=7\n"):
            support.eventually("another one waits", lambda: waiting() == 1 and not labels() & before, 20)
            self.assertEqual(whys(self.channel)[-1], "configuration")
            self.turn()
            self.assertTrue(was_prepared(self.channel))
            wait_for(1)
        wait_for(1)

    def test_switched_off_and_on(self):
        self.prepare()
        with options("PreparedTurns=0\n"):
            wait_for(0)
            self.turn()
            self.assertFalse(was_prepared(self.channel))
            support.nothing_left()

    def test_idle(self):
        with options("PreparedIdle=3s\n"):
            self.prepare()
            wait_for(0)
            self.assertEqual(whys(self.channel)[-1], "idle")

    def test_another_image(self):
        """Whoever uses the name gets what it stands for now."""
        self.prepare()
        before = inspected("{{.Image}}")
        support.run("docker", "tag", support.IMAGE, "kept:latest")
        try:
            container = support.run("docker", "create", support.IMAGE).strip()
            support.run("docker", "commit", "--message", "the same in another image", container, support.IMAGE)
            support.run("docker", "rm", container)
            support.eventually("one of the new image waits", lambda: waiting() == 1 and inspected("{{.Image}}") - before, 20)
            self.assertIn("image", whys(self.channel))
            self.turn()
            self.assertTrue(was_prepared(self.channel))
            wait_for(1)
        finally:
            support.run("docker", "tag", "kept:latest", support.IMAGE)
            support.run("docker", "rmi", "kept:latest")

    def test_the_least_recently_used_goes(self):
        channels = [f"test:prepared-{number}" for number in range(5)]
        try:
            for channel in channels:
                support.sandbox(channel)
                self.turn(channel=channel)
            wait_for(4)
            self.assertEqual(whys(channels[0])[-1:], ["others-in-use"])
            for channel in channels[1:]:
                self.turn(channel=channel)
                self.assertTrue(was_prepared(channel), channel)
            wait_for(4)
            self.turn(channel=channels[0])
            self.assertFalse(was_prepared(channels[0]))
            wait_for(4)
        finally:
            for channel in channels:
                support.sandbox(channel, "off")

    def test_a_full_disk_prepares_nothing(self):
        self.prepare()
        with options("MinFree=1T\n"):
            wait_for(0)
        wait_for(1)

    def test_a_stop_takes_them_along(self):
        self.prepare()
        support.run("systemctl", "stop", "sandboxd.service")
        self.assertEqual(support.leftovers(), "")
        support.start("sandboxd.service")


del Prepared  # it has no cases of its own
