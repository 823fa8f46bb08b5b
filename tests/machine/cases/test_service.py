# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""The service as systemd and the bus see it."""

import glob
import json
import re
import unittest
import xml.etree.ElementTree as ET

import support

INTERFACES = "/usr/share/dbus-1/interfaces/org.roundtable.Sandbox1*.xml"


def members(interface):
    """{(kind, name): [(direction, type, name), …]}"""
    found = {}
    for child in interface:
        if child.tag in ("method", "signal"):
            default = "in" if child.tag == "method" else "out"
            found[child.tag, child.get("name")] = [
                (argument.get("direction", default), argument.get("type"), argument.get("name"))
                for argument in child.findall("arg")]
        elif child.tag == "property":
            found["property", child.get("name")] = [(child.get("access"), child.get("type"), None)]
    return found


class Service(unittest.TestCase):
    def test_introspection_is_the_published_contract(self):
        live = ET.fromstring(introspect())
        published = {}
        for path in glob.glob(INTERFACES):
            for interface in ET.parse(path).getroot().iter("interface"):
                published[interface.get("name")] = members(interface)
        name = "org.roundtable.Sandbox1.Manager"
        self.assertIn(name, published)
        served = {interface.get("name"): members(interface) for interface in live.iter("interface")}
        self.assertEqual(served[name], published[name])
        for argument in (each for listed in served[name].values() for each in listed if listed):
            self.assertTrue(argument[1])

    def test_modes_survive_a_restart(self):
        support.sandbox("test:kept")
        support.restart("sandboxd.service")
        self.assertEqual(support.call("GetChannelMode", "s", "test:kept"), "on")
        support.sandbox("test:kept", "off")
        support.run("systemctl", "kill", "-s", "KILL", "sandboxd.service")
        support.eventually("sandboxd is back", lambda: support.run("systemctl", "is-active", "sandboxd.service",
                                                                   check=False).strip() == "active")
        self.assertEqual(support.call("GetChannelMode", "s", "test:kept"), "off")

    def test_the_bus_starts_it(self):
        support.run("systemctl", "stop", "sandboxd.service")
        self.assertEqual(support.call("GetChannelMode", "s", "test:unknown"), "off")

    def test_exposure(self):
        for unit, limit in (("sandboxd.service", 0.5), ("sandbox-egress.service", 1.2)):
            with self.subTest(unit=unit):
                text = support.run("systemd-analyze", "security", "--no-pager", unit)
                figure = float(re.search(r"exposure level for [^:]*: ([0-9.]+)", text).group(1))
                self.assertLessEqual(figure, limit)

    def test_units_are_sound(self):
        units = glob.glob("/usr/lib/systemd/system/sandbox*")
        self.assertTrue(units)
        out = support.run("systemd-analyze", "verify", "--man=no", *[unit for unit in units if "@" not in unit])
        self.assertEqual(out, "")

    def test_a_bad_configuration_is_refused_by_name(self):
        path = "/etc/roundtable-sandbox/sandboxd.conf.d/99-bad.conf"
        with open(path, "w", encoding="utf-8") as file:
            file.write("[Turns]\nDeadline=never\n")
        try:
            done = support.run("sh", "-c", "/usr/libexec/roundtable-sandbox/sandboxd --check 2>&1; echo status $?")
        finally:
            support.run("rm", path)
        self.assertNotIn("status 0", done)
        for word in (path, "Turns", "Deadline", "never"):
            self.assertIn(word, done)


def introspect():
    answer = json.loads(support.run("busctl", "call", "--json=short", "org.roundtable.Sandbox1", "/org/roundtable/Sandbox1",
                                    "org.freedesktop.DBus.Introspectable", "Introspect"))
    return answer["data"][0]
