# SPDX-License-Identifier: Apache-2.0
"""A release night of 20,000 devices by two people, typed and clicked, in the order of etc/NIGHT.md, whose places it goes through."""

import csv
import hashlib
import io
import json
import pathlib
import re
import tempfile
import time

from selenium.common.exceptions import StaleElementReferenceException

from browser import Browser, By
from case import PageCase, figure
from proxy import Proxy
from stage import LocalConnection, Relay, Simulator, wait_until

APP = "com.example.app"
COLLEAGUE = "13800138000"
SIZES = {"ios": 14_000, "android": 6_000}
APPROVAL = 'approval: { people: 2, above: "10%" }'
GUIDE = pathlib.Path(__file__).parents[2] / "etc/NIGHT.md"


def telephone(n):
    return f"139{n:08}"


def places():
    """The page's places in the guide's commands, by the heading above them."""
    found, heading = {}, ""
    for line in GUIDE.read_text().splitlines():
        if line.startswith("## "):
            heading = line.removeprefix("## ")
        elif line.startswith("upgrade-relay ") and "    # " in line:
            found.setdefault(heading, []).append(line.split(" # ")[-1].strip())
    return found


class Person:
    """Someone whom a proxy signs in, at a browser of their own."""

    def __init__(self, night, browser, name, groups):
        self.night, self.browser, self.name = night, browser, f"proxy:{name}"
        self.proxy = Proxy(night.relay.port)
        self.proxy.person = {"X-Forwarded-User": name, "X-Forwarded-Groups": groups}
        night.addCleanup(self.proxy.stop)

    def go(self, path="/"):
        self.browser.go(self.proxy.origin + path)

    def click(self, find):
        """What is found may be exchanged at that moment, as the page is live."""
        for _ in range(10):
            try:
                return self.browser.follow(find())
            except StaleElementReferenceException:
                pass
        raise TimeoutError(f"{self.name} cannot click")

    def follow(self, text):
        self.click(lambda: self.browser.link(text))

    def press(self, text, within="//main"):
        """The button of a form, once it is there."""
        xpath = f"{within}//button[normalize-space()='{text}']"
        self.night.check(self.browser.until(lambda: self.browser.driver.find_elements(By.XPATH, xpath)),
                         f"{self.name} finds the button {text}; the page says {self.browser.text[:1500]!r}")
        self.click(lambda: self.browser.driver.find_element(By.XPATH, xpath))

    def type(self, **fields):
        for name, value in fields.items():
            field = self.browser.one(f"main [name={name}]")
            field.clear()
            field.send_keys(value)

    def reads(self, *texts, part="main", seconds=15):
        """Without another click: what is live comes by itself."""
        for text in texts:
            if self.browser.until(lambda: text in self.browser.one(part).text, seconds):
                self.night.check(True, "")
            else:
                self.night.check(False, f"{self.name} does not read {text!r} in {part}, but {self.browser.text[:2500]!r}")

    def matter(self, platform, part="waits"):
        """What stands on the first screen about the app's platform."""
        return f"//section[@id='{part}']//*[contains(@class, 'notice')][contains(., '{APP} {platform}')]"


class Night(PageCase):
    apps = {APP: f"$apns, {APPROVAL}, pace: {{ ratePerSecond: 400, waves: [10, 50, 100], betweenWaves: {{ approval: true }} }}"}
    android = {APP: f"$fcm, {APPROVAL}, pace: {{ ratePerSecond: 100 }}"}
    listen = """page: { identity: { from: ["127.0.0.1"],
        rights: { operators: ["status", "users", "versions", "campaigns"], support: ["users"], "*": ["status"] } } }"""

    @classmethod
    def make_relay(cls):
        cls.folder = tempfile.mkdtemp(prefix="page-night-")
        cls.services = {"ios": Simulator(f"{cls.folder}/apns", "--record", f"{cls.folder}/ios", "--dead-share", "1%"),
                        "android": Simulator(f"{cls.folder}/fcm", "--record", f"{cls.folder}/android", kind="fcm")}
        for service in cls.services.values():
            cls.addClassCleanup(service.stop)
        return Relay(cls.services["ios"], cls.apps, cls.configuration, cls.listen, cls.android, cls.services["android"])

    @classmethod
    def prepare(cls):
        cls.begun = time.monotonic()
        cls.accepted = {"ios": 0, "android": 0}
        with open(f"{cls.folder}/devices.csv", "w") as file:
            file.write("app,platform,token,telephone,version\n")
            for platform, size in SIZES.items():
                for n in range(size):
                    number = COLLEAGUE if n == 0 and platform == "ios" else telephone(n)
                    file.write(f"{APP},{platform},{cls.token(platform, n)},{number},1.9.0\n")
        done = cls.relay.command("devices", "import", f"{cls.folder}/devices.csv")
        if done.returncode:
            raise RuntimeError(done.stdout + done.stderr)

    @staticmethod
    def token(platform, n):
        return hashlib.sha256(f"{platform} {n}".encode()).hexdigest()

    def setUp(self):
        super().setUp()
        browsers = [self.browser]
        for _ in range(2):
            browsers.append(Browser())
            self.addCleanup(browsers[-1].quit)
        self.ada = Person(self, browsers[0], "ada", "operators")
        self.ben = Person(self, browsers[1], "ben", "operators")
        self.sue = Person(self, browsers[2], "sue", "support")
        self.heading = None
        self.walked = {}

    def section(self, heading):
        self.heading = heading
        self.walked[heading] = []

    def step(self, place):
        """A step of the guide: the place that it names."""
        self.walked[self.heading].append(place)

    def campaign(self, platform):
        found = self.relay.control("GET", f"/v1/campaigns?app={APP}")["items"]
        return next(one for one in found if one["platform"] == platform)

    def test_night(self):
        self.before()
        self.begin_with_a_few()
        self.when_it_goes_wrong()
        self.after()
        self.same(self.walked, places(), "the places of the guide that were gone through")
        figure(f"the night of {sum(SIZES.values())} devices took {time.monotonic() - self.begun:.0f} s")

    # Before

    def before(self):
        ada, relay = self.ada, self.relay
        self.section("Before")
        ada.go()
        ada.reads("Nothing waits for a person.", "Nothing is wrong: the relay can do its work.")
        self.step("the app: nothing waits or is blocked")
        ada.follow(f"{APP} iOS")
        ada.reads("In force\n–", "Required\n–")
        self.check("Blocked" not in ada.browser.one("#versions").text, "nothing is blocked")
        self.step("Raise a version: whom it would reach")
        ada.follow("Raise or block a version")
        # A slip of the finger is found before anything happens.
        ada.type(required="20.0.0")
        ada.press("Show whom it would reach")
        ada.reads("20.0.0 is not known: no store offers it, and no device was seen with it.")
        ada.press("Change it")
        ada.type(required="2.0.0", message="Your bank needs the new app.")
        ada.press("Show whom it would reach")
        ada.reads("would be pushed to, of 14,000.")
        ada.reads("Your bank needs the new app.", part=".phone")
        self.same(relay.control("GET", f"/v1/apps/{APP}/ios/version").get("required"), None, "required so far")
        self.step("this phone shows the push")
        done = relay.command("test-push", APP, "ios", "--telephone", COLLEAGUE)
        self.same(done.returncode, 0, f"the test push: {done.stdout} {done.stderr}")

    # Begin with a few

    def begin_with_a_few(self):
        ada, ben, sue, relay = self.ada, self.ben, self.sue, self.relay
        self.section("Begin with a few")
        # To everybody at once, without the canary that was agreed: it waits, Ada cannot approve it, and Ben refuses it.
        self.confirm(ada, "Raise it for 14,000 devices")
        self.check(ada.browser.until(lambda: ada.browser.path == "/page/approvals"), "it leads to what waits")
        ada.reads("require 2.0.0", "You asked for it: a second person approves it.", "14,000 of 14,000")
        self.check(not ada.browser.driver.find_elements(By.XPATH, "//main//button[.='Approve']"), "Ada has no button")
        self.refused_by_hand(ada)
        ben.go()
        ben.reads(ada.name, "require 2.0.0", "14,000 of 14,000", part="#waits")
        ben.follow("Refuse")
        ben.type(reason="canary first, as agreed")
        ben.press("Refuse")
        ben.reads("canary first, as agreed")
        # As it was meant.
        self.step("Raise a version")
        ada.go(f"/page/apps/{APP}/ios/raise")
        ada.type(required="2.0.0", message="Your bank needs the new app.", telephones=COLLEAGUE)
        ada.press("Show whom it would reach")
        self.confirm(ada, "Raise it for 1 device first")
        self.check(ada.browser.until(lambda: ada.browser.path == f"/page/apps/{APP}/ios"), "a canary waits for no one")
        self.step("the campaign")
        id = self.campaign("ios")["id"]
        ada.go(f"/page/campaigns/{id}")
        ada.reads("Canary", part="ol.steps > li")
        ada.reads("done", part="ol.steps > li")
        self.step("A user")
        sue.go()
        sue.follow("A user")
        sue.type(telephone=COLLEAGUE)
        sue.press("Show")
        sue.reads("Locked out on iOS", "2.0.0 is required, has 1.9.0.", "Push accepted")
        relay.register(APP, self.token("ios", 0), telephone=COLLEAGUE, version="2.0.0")
        sue.press("Show")
        self.check("Locked out" not in sue.browser.one("main").text, "the colleague goes on")
        # Everybody is more than a tenth: the second person.
        self.step("Waits for you: Approve")
        ada.go()
        ada.reads("It goes to 10 % of the users.", part="#waits")
        ben.go()
        ben.reads("It goes to 10 % of the users.", part="#waits")
        ada.press("Approve", ada.matter("iOS"))
        self.check(ada.browser.until(lambda: ada.browser.path == "/page/approvals"), "it leads to what waits")
        ada.reads("release 2.0.0", "You asked for it: a second person approves it.")
        self.refused_by_hand(ada)
        # On Ben's open page, by itself.
        ben.reads(ada.name, "release 2.0.0", part="#waits")
        self.same(len(ben.browser.driver.find_elements(By.XPATH, ben.matter("iOS"))), 1, "what Ben is asked about iOS")
        ben.press("Approve", ben.matter("iOS"))
        self.step("the campaign: steps, and outcomes over time")
        ben.go(f"/page/campaigns/{id}")
        ben.reads("1 of 3 (10 %)", "Outcomes a second", seconds=30)
        ben.reads("done", part="ol.steps > li:nth-child(2)", seconds=30)
        self.wait_for_wave(id, 2)
        self.ios = id

    def wait_for_wave(self, id, number):
        """Until the campaign waits for the approval of this wave."""
        def stands():
            campaign = self.relay.campaign(id)
            return campaign["state"] == "suspended" and campaign["wave"]["number"] == number - 1 and campaign["wave"]["endedAt"]
        wait_until(stands, f"wave {number} waits")

    def confirm(self, person, label):
        """The act of the raise form's second page. Beyond doubt no version is known yet, so it asks whether this one is meant."""
        self.check(person.browser.until(lambda: person.browser.has("button[value=raise]")), "the second step")
        if person.browser.has("[name=confirm]"):
            person.browser.one("[name=confirm]").click()
        button = person.browser.one("button[value=raise]")
        self.same(button.text, label, "the button says whom it reaches")
        person.browser.follow(button)

    def refused_by_hand(self, person):
        """A request that its own person approves without the button."""
        id = self.relay.control("GET", "/v1/approvals?state=open")["items"][0]["id"]
        status = person.browser.run(
            """const form = document.querySelector("main form, header form"), token = document.querySelector("input[name=formToken]");
            return fetch(arguments[0], {method: "POST", redirect: "manual", headers: {"Content-Type": "application/x-www-form-urlencoded"},
              body: "formToken=" + encodeURIComponent(token ? token.value : "")}).then((answer) => answer.status);""",
            f"/page/approvals/{id}/approve")
        self.check(status in (403, 409), f"{person.name} approves what {person.name} asked for: {status}")
        self.same(self.relay.control("GET", "/v1/approvals?state=open")["items"][0]["id"], id, "the request still waits")

    # When it goes wrong

    def when_it_goes_wrong(self):
        ada, ben, relay, id = self.ada, self.ben, self.relay, self.ios
        self.section("When it goes wrong")
        # Between two waves the key is revoked at Apple.
        self.exchange("ios", {"revokedKey": {"keyID": "FGHIJ67890", "afterN": 0}})
        ada.go()
        ada.reads("Wave 2 of 3 begins: it goes to 50 % of the users.", part="#waits")
        ada.press("Approve", ada.matter("iOS"))
        wait_until(lambda: "InvalidProviderToken" in (relay.campaign(id)["reason"] or ""), "the refused key stops the campaign")
        ben.go()
        ben.reads("Suspended", "InvalidProviderToken", part="#trouble")
        ben.reads("next step: you, since something is wrong", part="#apps")
        # It is put right there, and the campaign goes on from where it stood.
        self.exchange("ios", {})
        ben.click(lambda: ben.browser.driver.find_element(By.XPATH, ben.matter("iOS", "trouble") + "//a[.='Resume']"))
        ben.press("Resume")
        relay.wait_for(id, "running")
        self.step("Pause: no push leaves; who must upgrade still must")
        ada.go(f"/page/campaigns/{id}")
        ada.follow("Pause")
        ada.reads("Nothing more is sent until a person resumes it.")
        ada.press("Pause")
        ada.reads("Paused")
        counts = relay.campaign(id)["counts"]
        self.check(0 < counts["pending"], f"the pause comes in time: {counts}")
        check = relay.ask("GET", f"/v1/check?app={APP}&platform=ios&version=1.9.0&telephone={self.told(id)}").json
        self.same(check["body"]["needUpgrade"], "1", "who must upgrade still must")
        self.step("Resume: what is left is sent")
        ben.go()
        ben.reads("Paused", part="#waits")
        ben.press("Resume", ben.matter("iOS"))
        self.wait_for_wave(id, 3)
        ada.go()
        ada.reads("Wave 3 of 3 begins", part="#waits")
        ada.press("Approve", ada.matter("iOS"))
        # Meanwhile Android: Ben asks, Ada approves; then the new version crashes.
        ben.go(f"/page/apps/{APP}/android/raise")
        ben.type(required="2.0.0")
        ben.press("Show whom it would reach")
        self.confirm(ben, "Raise it for 6,000 devices")
        ben.reads("require 2.0.0", "You asked for it: a second person approves it.")
        self.refused_by_hand(ben)
        ada.go()
        ada.reads(ben.name, "6,000 of 6,000", part="#waits")
        ada.press("Approve", ada.matter("Android"))
        android = self.campaign("android")["id"]
        wait_until(lambda: relay.campaign(android)["counts"]["accepted"] > 50, "Android's pushes go out")
        self.step("the app: Withdraw")
        ada.go(f"/page/apps/{APP}/android")
        ada.follow("Withdraw")
        ada.type(reason="2.0.0 crashes", app=APP)
        ada.press("Withdraw 2.0.0")
        relay.wait_for(android, "cancelled")
        check = relay.ask("GET", f"/v1/check?app={APP}&platform=android&version=1.9.0").json
        self.same(check["body"]["needUpgrade"], "0", "users of the old version go on")
        self.android = android
        relay.wait_for(id, "completed")

    def told(self, id):
        """A user whom a push has reached."""
        return self.relay.control("GET", f"/v1/campaigns/{id}/deliveries?state=accepted&limit=1")["items"][0]["telephone"]

    def exchange(self, platform, faults):
        """The push service behaves in another way from now on. No push is on its way."""
        service = self.services[platform]
        self.accepted[platform] += service.end()["accepted"]
        script = pathlib.Path(self.folder) / "faults.json"
        script.write_text(json.dumps(faults))
        service.begin("--record", f"{self.folder}/{platform}", "--dead-share", "1%", "--faults", str(script))

    # After

    def after(self):
        ada, ben, relay, id = self.ada, self.ben, self.relay, self.ios
        self.section("After")
        # Users upgrade.
        lines = "".join(json.dumps({"token": self.token("ios", n), "telephone": telephone(n), "version": "2.0.0"}) + "\n"
                        for n in range(1, SIZES["ios"]) if n % 10 < 6)
        relay.control("POST", f"/v1/apps/{APP}/ios/devices", lines)
        self.step("the campaign: Adoption")
        ada.go(f"/page/campaigns/{id}")
        upgraded = relay.campaign(id)["upgraded"]
        self.check(upgraded > 8000, f"most have upgraded: {upgraded}")
        ada.reads(f"{upgraded:,}", part="#state")
        ada.reads("Devices that have upgraded", part="#adoption")
        # Both persons, in the order of what they did.
        history = ada.browser.one("#history").text
        for words in [f"{ada.name}: asked for a version", f"{ada.name}: asked for an act that a second person approves",
                      f"{ben.name}: approved it as the second person", f"{ben.name}: resumed the campaign",
                      f"{ada.name}: paused the campaign"]:
            self.check(words in history, f"the timeline does not say {words!r}: {history}")
        self.step("the campaign: Report, for the ticket")
        link = ada.browser.link("Report as a file for the ticket").get_attribute("href")
        report = ada.browser.run("return fetch(arguments[0]).then((answer) => answer.text())", link)
        for name in [ada.name, ben.name, "Completed"]:
            self.check(name in report, f"the report names {name}")
        self.step("Audit trail: who did what")
        ada.follow("Audit trail")
        ada.reads(ada.name, ben.name, "Refused by a second person", "canary first, as agreed", "2.0.0 crashes")
        ada.follow("Second person")
        ada.reads("Nothing waits for a second person.", "approved", "refused")
        ada.go()
        ada.reads("Nothing waits for a person.", "Nothing is wrong: the relay can do its work.", "nothing is left to do.")
        self.adds_up()

    def adds_up(self):
        """Every push that a service took is in the ledger, once, and no other."""
        for platform, id in [("ios", self.ios), ("android", self.android)]:
            self.accepted[platform] += self.services[platform].end()["accepted"]
            counts = self.relay.campaign(id)["counts"]
            self.same(counts["audience"], SIZES[platform], f"the devices of {platform}")
            self.same(sum(counts.values()), 2 * counts["audience"], f"each device of {platform} has one outcome: {counts}")
            self.same(counts["pending"] + counts["inFlight"] + counts["retrying"], 0, f"what is open on {platform}")
            answer = self.relay._ask(LocalConnection(f"{self.relay.folder}/control.sock"), "GET",
                                     f"/v1/campaigns/{id}/deliveries?format=csv&state=accepted", None, None, None)
            ledger = {row["apnsId"]: row["token"] for row in csv.DictReader(io.StringIO(answer.text))}
            with open(f"{self.folder}/{platform}") as file:
                pushes = [json.loads(line) for line in file]
            taken = {push.get("apnsId") or push["pushId"]: push["token"] for push in pushes}
            self.same(len(taken), len(pushes), f"pushes of {platform} that a service took once")
            self.same(len(pushes), self.accepted[platform], f"the services' own count of {platform}")
            self.same(counts["accepted"], len(ledger), f"accepted pushes of {platform} in the ledger")
            tests = [token for push, token in taken.items() if push not in ledger]
            self.same(tests, [self.token("ios", 0)] if platform == "ios" else [], "pushes that are no campaign's: the test push")
            recorded = {push: token for push, token in taken.items() if push in ledger}
            self.check(recorded == ledger, f"the ledger of {platform} has the pushes that the service took, and no other")
