#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""Runs the cases beside it, inside a machine: a TAP line each as it ends, and the count as the last line.

    run.py [--with DIR] [NAME…]      those of a second directory too; only tests whose name holds one of these

A test that fails while polkit stands still (support.polkit_stood_still) is run once more at the end, and that run counts.
"""

import os
import sys
import time
import unittest

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, HERE)

import support  # noqa: E402  pylint: disable=wrong-import-position


class Lines(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.passed = 0
        self.bad = 0
        self.skips = 0
        self.again = []  # to be run once more; None: it is the second time

    def startTest(self, test):
        super().startTest(test)
        self.began, self.began_at = time.monotonic(), time.time()
        self.broken = None

    def stopTest(self, test):
        super().stopTest(test)
        word = "ok" if self.broken is None else "not ok"
        if self.broken is None:
            self.passed += 1
        elif self.again is not None and support.polkit_stood_still(self.began_at):
            self.again.append(test)
            word = "# polkit stood still, to be run again"
        else:
            self.bad += 1
        print(f"{word} - {test.id()} ({time.monotonic() - self.began:.1f} s)")
        if self.broken:
            print("".join(f"#   {line}\n" for line in self.broken.splitlines()), end="")
        sys.stdout.flush()

    def note(self, test, error):
        text = self._exc_info_to_string(error, test)
        if getattr(test, "_testMethodName", None) or hasattr(test, "test_case"):
            self.broken = (self.broken or "") + text
        else:
            # setUpClass and the like: there is no test to count it for.
            self.bad += 1
            print(f"not ok - {test}\n" + "".join(f"#   {line}\n" for line in text.splitlines()), end="", flush=True)

    def addError(self, test, err):
        self.note(test, err)

    def addFailure(self, test, err):
        self.note(test, err)

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self.note(subtest, err)

    def addSkip(self, test, reason):
        self.skips += 1
        self.broken = f"skipped: {reason}"


def each(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from each(test)
        else:
            yield test


def main():
    wanted = sys.argv[1:]
    found = [unittest.defaultTestLoader.discover(HERE)]
    if wanted[:1] == ["--with"]:
        found.append(unittest.TestLoader().discover(wanted[1]))
        wanted = wanted[2:]
    chosen = unittest.TestSuite(test for suite in found for test in each(suite) if not wanted or any(word in test.id() for word in wanted))
    result = Lines()
    chosen.run(result)
    # With a result of its own: in the first one the last class is set up still, and would be torn down once more.
    second = Lines()
    second.again = None
    unittest.TestSuite(result.again).run(second)
    passed, bad = result.passed + second.passed, result.bad + second.bad
    print(f"{passed} passed, {bad} failed")
    sys.exit(bad > 0 or passed == 0)


if __name__ == "__main__":
    main()
