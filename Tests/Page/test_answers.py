# SPDX-License-Identifier: Apache-2.0
"""What people find on the first screen without a click: the questions of etc/PAGE.md, and the place of each answer."""

import pathlib
import re

from case import PageCase
from stage import wait_until

GUIDE = pathlib.Path(__file__).parents[2] / "etc/PAGE.md"
BANK, SHOP = "com.example.bank iOS", "com.example.shop iOS"

# By question: the part of the screen, and patterns that its text has.
ANSWERS = {
    "must users upgrade, and to which version?": ("#apps", [r"2\.0\.0 is required; ", r"2\.0\.0 is required in steps; "]),
    "what goes wrong that users notice?": ("#trouble", [SHOP, "Suspended"]),
    "why is this user locked out?": ("nav", ["A user"]),
    "how many have it, and how many were pushed to?": ("#apps", [r"[0-9.]+ % have it; [0-9.]+ % were pushed to; ",
                                                                   r"[0-9.]+ % were pushed to so far; "]),
    "what comes next, when, by whom?": ("#apps", [r"next step: you, to 50 % of the users\.", "next step: none, the rest is being sent",
                                                  "next step: you, since something is wrong"]),
    "does anything wait for me, who asked, since when?": ("#waits", [BANK, r"Asked for by\s+root", r"Waits since\s+\d+ \w+ \d{4}"]),
    "what would I approve, and for how many?": ("#waits", [r"Approve: Wave 2 of 3 begins: it goes to 50 % of the users\.",
                                                           r"Devices of the next step\s+\d+"]),
    "what is wrong, and what helps?": ("#trouble", ["InvalidProviderToken", "Resume", "Cancel the campaign"]),
    "how fast is it, and how long does it take?": ("#apps", [r"Rate\s+\d+ a second, at most 2", r"Time left\s+\d+ (s|min)"]),
    "how many failed, and why?": ("#apps", [r"Rejected\s+\d+", "BadDeviceToken"]),
    "how old are these figures?": ("footer", [r"As of \d+ \w+ \d{4}, \d\d:\d\d:\d\d"]),
}


class Answers(PageCase):
    apps = {"com.example.bank": "$apns, pace: { waves: [10, 50, 100], betweenWaves: { approval: true } }",
            "com.example.shop": "$refused", "com.example.post": "$apns, pace: { ratePerSecond: 2 }",
            "com.example.calm": "$apns"}

    @classmethod
    def prepare(cls):
        relay = cls.relay
        for app, count in zip(cls.apps, [800, 100, 600, 200]):
            relay.devices(app, count)
        found = [relay.raise_version(app, required="2.0.0") for app in cls.apps]
        relay.wait_for(found[0], "suspended")
        relay.wait_for(found[1], "suspended")
        relay.wait_for(found[3], "completed")
        wait_until(lambda: relay.campaign(found[2])["counts"]["accepted"], "a first push")

    def test_questions(self):
        """The guide's questions are those that are answered here, in its order."""
        listed = re.findall(r"^\| (?:support|manager|operator|all) \| (.+?) \|", GUIDE.read_text(), re.M)
        self.same(listed, list(ANSWERS), "the questions of the guide")

    def test_answers(self):
        browser = self.browser
        browser.sign_in(self.relay, self.everything)
        for question, (part, patterns) in ANSWERS.items():
            for pattern in patterns:
                self.check(browser.until(lambda: re.search(pattern, browser.one(part).text)),
                           f"{question} {pattern!r} is not in {part}: {browser.one(part).text[:1500]!r}")
        # What waits and what is wrong need no scrolling.
        browser.size(1440, 900)
        for part in ["#waits", "#trouble"]:
            seen = browser.run("""const box = document.querySelector(arguments[0] + ' .actions').getBoundingClientRect();
                return scrollY === 0 && box.top > 0 && box.bottom < innerHeight;""", part)
            self.check(seen, f"the first act of {part} is on the screen")
