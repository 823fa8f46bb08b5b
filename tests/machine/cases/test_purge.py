# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""What is stored of a channel goes when somebody says so, whatever a guest's worker left there, and only then."""

import os
import pathlib
import pwd
import unittest

import support

CHANNEL = "test:purge"
WORKSPACES = pathlib.Path("/var/lib/roundtable-sandbox/workspaces")


def set_aside():
    return [name for name in os.listdir(WORKSPACES) if ".purge-" in name]


class Purge(unittest.TestCase):
    def setUp(self):
        support.sandbox(CHANNEL)
        self.assertTrue(support.run_turn(CHANNEL, "What time is it?")[0])
        self.workspace = support.workspace(CHANNEL)
        self.assertTrue((self.workspace / "memory.json").exists())

    def plant(self):
        """As the worker's user: closed directories, a deep one, a link out, a set-user-id file."""
        uid = pwd.getpwnam("sandbox-worker").pw_uid
        script = ('mkdir -p deep/a/b/c closed/inner; echo x >closed/inner/file; ln -s /etc/passwd link; cp /bin/true suid;'
                  " chmod 4755 suid; chmod 0 closed/inner closed")
        # It could not go there by name: the state directory is closed to it.
        support.run("env", "-C", str(self.workspace), "setpriv", f"--reuid={uid}",
                    f"--regid={pwd.getpwnam('sandbox-worker').pw_gid}", "--clear-groups", "sh", "-ec", script)

    def test_everything_goes_and_the_channel_goes_on(self):
        self.plant()
        support.run("sandboxctl", "purge", CHANNEL)
        self.assertFalse(self.workspace.exists())
        self.assertEqual(set_aside(), [])
        self.assertTrue(pathlib.Path("/etc/passwd").exists())
        support.nothing_left()
        self.assertEqual(support.call("GetChannelMode", "s", CHANNEL), "on")
        self.assertEqual(support.run_turn(CHANNEL, "[[script:history]]"), (True, "0"))

    def test_a_running_turn_is_cancelled(self):
        with support.held_turn(CHANNEL) as turn:
            support.run("sandboxctl", "purge", CHANNEL)
            with self.assertRaises(support.Failed) as caught:
                turn.reply(10)
        self.assertEqual(caught.exception.name, support.ERROR + "Cancelled")
        support.nothing_left()

    def test_without_docker_it_is_done_later(self):
        support.run("systemctl", "stop", "docker.socket", "docker.service")
        try:
            with self.assertRaises(support.Failed) as caught:
                support.call("PurgeChannel", "s", CHANNEL, user="root")
            self.assertEqual(caught.exception.name, support.ERROR + "CleanupFailed")
            self.assertFalse(self.workspace.exists())
        finally:
            support.start("docker.socket", "docker.service")
        support.restart("sandboxd.service")
        support.eventually("the start has deleted it", lambda: not set_aside(), 20)

    def test_a_channel_without_anything(self):
        support.run("sandboxctl", "purge", "test:never-seen")
