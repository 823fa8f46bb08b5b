# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""Each thing that can be missing or break gives its named error within its bound, and leaves nothing."""

import contextlib
import io
import os
import signal
import tarfile
import unittest

import support

CHANNEL = "test:failures"


@contextlib.contextmanager
def stopped(*units):
    support.run("systemctl", "stop", *units)
    try:
        yield
    finally:
        support.start(*units)


@contextlib.contextmanager
def moved_away(path):
    aside = path.with_name(path.name + ".aside")
    path.rename(aside)
    try:
        yield
    finally:
        aside.rename(path)


@contextlib.contextmanager
def image_replaced(entrypoint=None):
    """The worker's image gone, or one of busybox with that command in its place."""
    support.run("docker", "tag", support.IMAGE, "kept:latest")
    support.run("docker", "rmi", "-f", support.IMAGE)
    try:
        if entrypoint:
            with tarfile.open("/tmp/other.tar", "w") as tar:
                tar.add("/bin/busybox", "bin/busybox")
                link = tarfile.TarInfo("bin/sh")
                link.type, link.linkname = tarfile.SYMTYPE, "busybox"
                tar.addfile(link)
                for name in ("workspace", "broker", "tmp"):
                    directory = tarfile.TarInfo(name)
                    directory.type, directory.mode = tarfile.DIRTYPE, 0o755
                    tar.addfile(directory, io.BytesIO())
            change = 'ENTRYPOINT ["/bin/sh", "-c", "' + entrypoint.replace('\\', '\\\\').replace('"', '\\"') + '"]'
            support.run("docker", "import", "--change", change, "/tmp/other.tar", support.IMAGE)
        yield
    finally:
        support.run("docker", "rmi", "-f", support.IMAGE, check=False)
        support.run("docker", "tag", "kept:latest", support.IMAGE)
        support.run("docker", "rmi", "kept:latest")


class Failures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        support.sandbox(CHANNEL)

    def fails_with(self, name, text="[[script:plain]]", docker=True, timeout=30, **options):
        with self.assertRaises(support.Failed) as caught:
            support.run_turn(CHANNEL, text, timeout=timeout, **options)
        self.assertEqual(caught.exception.name, support.ERROR + name, caught.exception.text)
        self.assertTrue(caught.exception.text)
        support.nothing_left(docker=docker)

    def works_again(self):
        self.assertEqual(support.run_turn(CHANNEL, "[[script:plain]]")[0], True)
        support.nothing_left()

    def test_model_down(self):
        with stopped("scripted-model.service"):
            self.fails_with("ModelUnreachable", timeout=90)
        self.works_again()

    def test_model_refuses(self):
        self.fails_with("ModelRefused", "[[script:status 400]]")

    def test_model_redirects(self):
        self.fails_with("ModelRefused", "[[script:redirect]]")
        self.assertNotIn("/redirected", support.model("log"))

    def test_model_answers_garbage(self):
        self.fails_with("ModelAnswer", "[[script:garbage]]")

    def test_model_reflects_the_key(self):
        self.fails_with("KeyReflected", "[[script:echo-key]]")

    def test_key_missing(self):
        with moved_away(support.KEY_FILE):
            self.fails_with("KeyMissing")
        self.works_again()

    def test_image_missing(self):
        with image_replaced():
            self.fails_with("ImageMissing")
        self.works_again()

    def test_docker_stopped(self):
        with stopped("docker.socket", "docker.service"):
            self.fails_with("DockerDown", docker=False)
        self.works_again()

    def test_worker_killed(self):
        with support.held_turn(CHANNEL) as turn:
            container = support.containers()[0]
            os.kill(int(support.run("docker", "inspect", "-f", "{{.State.Pid}}", container)), signal.SIGKILL)
            with self.assertRaises(support.Failed) as caught:
                turn.reply(10)
        self.assertEqual(caught.exception.name, support.ERROR + "WorkerKilled")
        support.nothing_left()

    def test_broker_killed(self):
        with support.held_turn(CHANNEL) as turn:
            os.kill(support.processes("sandbox-broker")[0], signal.SIGKILL)
            with self.assertRaises(support.Failed) as caught:
                turn.reply(10)
        self.assertEqual(caught.exception.name, support.ERROR + "BrokerFailed")
        support.nothing_left()

    def test_deadline(self):
        with support.configured("[Turns]\nDeadline=2s\n"):
            self.fails_with("DeadlineExceeded", "[[script:hold]]", timeout=10)
        support.model("release")

    def test_reply_invalid(self):
        with image_replaced("cat >/dev/null; echo not json"):
            self.fails_with("ReplyInvalid")
        self.works_again()

    def test_reply_too_large(self):
        with image_replaced("cat >/dev/null; yes | head -c 4000000"):
            self.fails_with("ReplyTooLarge")

    def test_cancel_by_its_owner(self):
        with support.held_turn(CHANNEL) as turn:
            listed = support.call("ListTurns", "")
            self.assertEqual(len(listed), 1)
            support.call("CancelTurn", "s", listed[0][0])
            with self.assertRaises(support.Failed) as caught:
                turn.reply(10)
        self.assertEqual(caught.exception.name, support.ERROR + "Cancelled")
        support.nothing_left()
