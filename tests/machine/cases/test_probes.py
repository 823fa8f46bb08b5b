# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""The client rooms by themselves against the real Engine and the real systemd: what only fakes try elsewhere."""

import os
import unittest

import support

PROBES = "/opt/roundtable-tests/probes"


class Probes(unittest.TestCase):
    """Each probe ends at the first thing that is not right, and says so with its last line otherwise."""

    def probe(self, name, *arguments):
        said = support.run(os.path.join(PROBES, name), *arguments)
        self.assertEqual(said.splitlines()[-1], f"{name}: all as it should be")

    def test_containers_from_creation_to_removal(self):
        support.run(
            "sh", "-ec", "tar --create --directory=/ bin/busybox | docker import"
            " --change 'LABEL org.roundtable.sandbox.worker=probe' --change 'ENTRYPOINT [\"/bin/busybox\",\"sh\",\"-c\"]'"
            " - sbx-probe:latest")
        self.probe("engine-probe")
        self.assertEqual(support.run("docker", "ps", "--all", "--quiet", "--filter", "ancestor=sbx-probe:latest"), "")
        support.run("docker", "image", "rm", "sbx-probe:latest")

    def test_scopes_and_a_restart_of_the_bus(self):
        self.probe("units-probe", "--restart-bus")
        support.eventually("sandboxd is on the bus again", lambda: support.call("GetChannelMode", "s", "test:none") == "off")
