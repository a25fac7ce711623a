# SPDX-License-Identifier: Apache-2.0
"""What the tests have in common: one browser, one simulator, and checks that are counted."""

import atexit
import os
import tempfile
import unittest

from browser import Browser
from stage import Relay, Simulator

shared = {}
counted = {"ran": 0, "failed": 0}
figures = []


def browser():
    if "browser" not in shared:
        shared["browser"] = Browser()
        atexit.register(shared["browser"].quit)
    return shared["browser"]


def simulator():
    """A fast one: how slow a campaign is, is its app's pace."""
    if "simulator" not in shared:
        shared["simulator"] = Simulator(tempfile.mkdtemp(prefix="page-apns-"), "--dead-share", "3%", "--bad-share", "1%")
        atexit.register(shared["simulator"].stop)
    return shared["simulator"]


class PageCase(unittest.TestCase):
    """A class has its own relay, and each test begins with a clean browser."""

    apps = {"com.example.app": "$apns"}
    configuration = ""
    listen = ""

    @classmethod
    def make_relay(cls):
        return Relay(simulator(), cls.apps, cls.configuration, cls.listen)

    @classmethod
    def setUpClass(cls):
        cls.relay = cls.make_relay()
        # Also where what follows fails.
        cls.addClassCleanup(cls.relay.clear)
        cls.everything = cls.relay.token("everything")
        cls.prepare()

    @classmethod
    def prepare(cls):
        """What its tests find."""

    def setUp(self):
        self.browser = browser()
        self.browser.clean()
        self.faults = []

    def check(self, isTrue, what):
        """One check. The test goes on, so that one run tells all that is wrong."""
        counted["ran"] += 1
        if not isTrue:
            counted["failed"] += 1
            self.faults.append(what)
            print(f"FAILED: {self.id()}: {what}", flush=True)
        return isTrue

    def same(self, found, expected, what):
        return self.check(found == expected, f"{what}: found {found!r}, expected {expected!r}")

    def shows(self, text, seconds=15):
        if self.browser.says(text, seconds):
            return self.check(True, "")
        return self.check(False, f"the page does not say {text!r}, but: {self.browser.text[:1500]!r}")

    def hides(self, text):
        return self.check(text not in self.browser.text, f"the page says {text!r}")

    def tearDown(self):
        if self.faults and not os.environ.get("PAGE_QUIET"):
            self.browser.picture(f"failed-{self.id()}")
        if self.faults:
            self.fail(f"{len(self.faults)} checks failed")


def figure(text):
    """Something measured; all are printed at the end."""
    figures.append(text)
