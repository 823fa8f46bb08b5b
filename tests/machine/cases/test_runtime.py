# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""Runtime=: workers by another OCI runtime than Docker's default, and one that Docker does not have."""

import contextlib
import glob
import json
import os
import pathlib
import unittest

import support

CHANNEL = "test:runtime"
DAEMON_JSON = pathlib.Path("/etc/docker/daemon.json")


@contextlib.contextmanager
def docker_with(**runtimes):
    """dockerd reads its list of runtimes anew on a reload; containers that run are not disturbed."""
    before = DAEMON_JSON.read_text(encoding="utf-8")
    DAEMON_JSON.write_text(json.dumps(dict(json.loads(before), runtimes=runtimes)), encoding="utf-8")
    try:
        support.run("systemctl", "reload", "docker.service")
        support.eventually("Docker knows them", lambda: set(runtimes) <= known_runtimes())
        yield
    finally:
        DAEMON_JSON.write_text(before, encoding="utf-8")
        support.run("systemctl", "reload", "docker.service")


def known_runtimes():
    return set(json.loads(support.run("docker", "info", "--format", "{{json .Runtimes}}")))


def judged():
    """What `sandboxctl check` says of the runtime, without its trial turn."""
    out = support.run("sandboxctl", "check", "--no-turn", "--json", check=False)
    return next(line for line in json.loads(out) if line["check"] == "runtime")


class Runtime(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        support.sandbox(CHANNEL)

    def test_crun(self):
        with docker_with(crun={"path": "/usr/bin/crun"}), support.configured("[Worker]\nRuntime=crun\n"):
            self.assertEqual((judged()["result"], judged()["text"]), ("ok", "workers run by crun"))
            with support.held_turn(CHANNEL) as turn:
                container, = support.containers()
                shown = json.loads(support.run("docker", "inspect", container))[0]
                self.assertEqual(shown["HostConfig"]["Runtime"], "crun")
                # What a runtime keeps of a container: crun in "status", runc in "state.json".
                kept = [os.path.basename(path) for path in glob.glob(f"/run/docker/runtime-*/moby/{container}/*")]
                self.assertIn("status", kept)
                self.assertNotIn("state.json", kept)
            self.assertTrue(turn.reply()[0])
            # Its notes are kept, by tools of its own: the workspace is mounted as it is by runc.
            ok, text = support.run_turn(CHANNEL, "[[script:clock-and-note]] What time is it?")
            self.assertTrue(ok, text)
            support.nothing_left()
        self.assertTrue(support.run_turn(CHANNEL, "[[script:plain]] and by runc again")[0])

    def test_a_runtime_that_docker_does_not_have(self):
        with support.configured("[Worker]\nRuntime=runsc\n"):
            verdict = judged()
            self.assertEqual(verdict["result"], "FAILED")
            self.assertIn("Docker has no runtime \"runsc\"", verdict["text"])
            self.assertIn("daemon.json", verdict["fix"])
            with self.assertRaises(support.Failed) as caught:
                support.run_turn(CHANNEL, "[[script:plain]] in vain")
            self.assertTrue(caught.exception.name.startswith(support.ERROR), caught.exception)
            support.nothing_left()
        self.assertTrue(support.run_turn(CHANNEL, "[[script:plain]] and by runc again")[0])
