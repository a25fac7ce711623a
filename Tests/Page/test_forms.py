# SPDX-License-Identifier: Apache-2.0
"""Forms, clicks, lists, zones and words, as a person at night meets them."""

import datetime
import time

import selenium.webdriver

from browser import By
from case import PageCase
from stage import telephone, wait_until
from test_actions import CampaignActions, VersionActions

SLOW = "$apns, pace: { ratePerSecond: 5 }"


class Clicks(PageCase):
    """A part that is brought up to date costs no click and no selection."""

    apps = {"com.example.slow": "$apns, pace: { ratePerSecond: 3 }"}

    @classmethod
    def prepare(cls):
        cls.relay.devices("com.example.slow", 900)
        cls.campaign = cls.relay.raise_version("com.example.slow", required="2.0.0")
        cls.relay.wait_for(cls.campaign, "running")

    def look(self):
        self.browser.cookie(self.relay, self.everything)
        self.browser.go(f"{self.relay.origin}/page/campaigns/{self.campaign}")
        self.shows("Running")
        self.browser.run("window.swaps = 0; new MutationObserver((all) => { swaps += all.length; }).observe("
                         "document.querySelector('#state'), {childList: true})")
        self.check(self.browser.until(lambda: self.browser.run("return window.swaps > 0")), "the figures move")

    def test_held(self):
        """A button that is held for longer than a second: nothing is exchanged under it, and the click counts."""
        browser = self.browser
        self.look()
        for held in [0.12, 1.0, 2.5]:
            link = browser.link("Pause")
            browser.run("window.swaps = 0")
            actions = selenium.webdriver.ActionChains(browser.driver)
            actions.click_and_hold(link).perform()
            time.sleep(held)
            self.same(browser.run("return window.swaps"), 0, f"exchanges while the button is held for {held} s")
            actions = selenium.webdriver.ActionChains(browser.driver)
            actions.release().perform()
            self.check(browser.until(lambda: browser.path.endswith("/pause"), 5), f"the click counts after {held} s")
            browser.driver.back()
            self.look()

    def test_selected(self):
        browser = self.browser
        self.look()
        browser.run("getSelection().selectAllChildren(document.querySelector('#state .counts'))")
        chosen = browser.run("return getSelection().toString()")
        time.sleep(3)
        self.same(browser.run("return getSelection().toString()"), chosen, "what was selected")
        browser.run("getSelection().removeAllRanges(); window.swaps = 0")
        self.check(browser.until(lambda: browser.run("return window.swaps > 0")), "then the figures move again")


class Forms(PageCase):
    apps = {"com.example.app": "$apns", "com.example.other": "$apns"}

    press = CampaignActions.press
    fill = VersionActions.fill

    @classmethod
    def prepare(cls):
        for app in cls.apps:
            cls.relay.devices(app, 60)

    def value(self, name):
        return self.browser.one(f"[name={name}]").get_attribute("value")

    def raise_form(self, app="com.example.app"):
        self.browser.go(f"{self.relay.origin}/page/apps/{app}/ios/raise")

    def test_fault_at_its_field(self):
        browser = self.browser
        browser.sign_in(self.relay, self.everything)
        self.raise_form()
        self.fill(required="2.0.0", requiredFrom="tomorrow")
        self.press("Show whom it would reach")
        self.check(browser.until(lambda: browser.has("#field-requiredFrom-fault")), "the fault of the moment")
        self.check(not browser.has("#field-required-fault"), "the version has no fault")
        self.same(browser.one("[name=required]").get_attribute("aria-invalid"), None, "the version's field")

    def test_unticked_box(self):
        browser = self.browser
        browser.sign_in(self.relay, self.everything)
        self.raise_form("com.example.other")
        self.fill(required="200.0.0")
        self.press("Show whom it would reach")
        browser.follow(browser.one("button[value=raise]"))
        self.shows("Nothing was done: tick this box if it is meant.")
        box = browser.one("[name=confirm]")
        self.same(box.get_attribute("aria-describedby"), "field-confirm-fault", "the box names its fault")
        self.same(self.relay.version("com.example.other").get("required"), None, "nothing is done")
        box.click()
        browser.follow(browser.one("button[value=raise]"))
        self.check(browser.until(lambda: self.relay.version("com.example.other")["required"] == "200.0.0"), "ticked, it is done")

    def test_moment_of_the_reader(self):
        """A moment without a zone is one of the browser's."""
        browser = self.browser
        browser.cookie(self.relay, self.everything)
        browser.cdp("Emulation.setTimezoneOverride", timezoneId="Asia/Shanghai")
        try:
            day = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=2)
            self.raise_form()
            self.fill(required="3.0.0", requiredFrom=day.strftime("%Y-%m-%d 09:00"))
            self.press("Show whom it would reach")
            self.check(browser.until(lambda: browser.has("button[value=raise]")), f"it is taken: {browser.text[:600]!r}")
            if browser.has("[name=confirm]"):
                browser.one("[name=confirm]").click()
            browser.follow(browser.one("button[value=raise]"))
            wait_until(lambda: self.relay.version("com.example.app").get("required") == "3.0.0", "it is raised")
            self.same(self.relay.version("com.example.app")["requiredFrom"], day.strftime("%Y-%m-%dT01:00:00.000Z"), "the moment")
        finally:
            browser.cdp("Emulation.setTimezoneOverride", timezoneId="")

    def test_back_and_the_end_of_a_session(self):
        browser, relay = self.browser, self.relay
        browser.sign_in(relay, relay.token("night"))
        self.raise_form()
        self.fill(required="9.0.0", message="For the night.")
        browser.follow(browser.link("Overview"))
        browser.driver.back()
        self.check(browser.until(lambda: browser.has("[name=required]")), "back at the form")
        self.check(browser.until(lambda: self.value("message") == "For the night.", 5), "Back has kept what was written")
        # The session ends while the form is being written.
        relay.control("DELETE", "/v1/tokens/night")
        browser.follow(browser.one("button[value=plan]"))
        self.check(browser.until(lambda: browser.has("input[name=token]")), "the form asks to sign in")
        browser.one("input[name=token]").send_keys(self.everything)
        browser.follow(browser.one("main button"))
        self.same(browser.path, "/page/apps/com.example.app/ios/raise", "signing in leads back to the form")
        self.check(browser.until(lambda: self.value("message") == "For the night.", 5), "and what was written is there")
        self.same(self.value("required"), "9.0.0", "the version, too")
        # Signing out forgets it.
        browser.follow(browser.driver.find_element(By.XPATH, "//button[.='Sign out']"))
        browser.sign_in(relay, self.everything)
        self.raise_form()
        self.same(self.value("message"), "", "another person finds nothing of it")

    def test_deep_link(self):
        browser, relay = self.browser, self.relay
        browser.go(f"{relay.origin}/page/devices?app=com.example.app&platform=ios&below=5")
        browser.one("input[name=token]").send_keys("wrong")
        browser.follow(browser.one("main button"))
        browser.one("input[name=token]").send_keys(self.everything)
        browser.follow(browser.one("main button"))
        self.same(browser.path, "/page/devices?app=com.example.app&platform=ios&below=5", "signing in leads to what was asked for")

    def test_signed_out_link(self):
        browser, relay = self.browser, self.relay
        browser.sign_in(relay, relay.token("short"))
        browser.go(relay.origin + "/page/campaigns")
        self.check(not browser.one("#connection").is_displayed(), "all is well")
        relay.control("DELETE", "/v1/tokens/short")
        self.shows("You are signed out", 40)
        browser.follow(browser.one("#connection a"))
        browser.one("input[name=token]").send_keys(self.everything)
        browser.follow(browser.one("main button"))
        self.same(browser.path, "/page/campaigns", "the link leads back")


class Zones(PageCase):
    apps = {"com.example.app": "$apns, pace: { ratePerSecond: 1 }"}

    @classmethod
    def prepare(cls):
        cls.relay.devices("com.example.app", 100)
        cls.campaign = cls.relay.raise_version("com.example.app", required="2.0.0")
        cls.relay.wait_for(cls.campaign, "running")
        cls.relay.control("POST", f"/v1/campaigns/{cls.campaign}/pause")

    def times(self):
        return [one.text for one in self.browser.all("main time")]

    def test_switch(self):
        browser, relay = self.browser, self.relay
        browser.cookie(relay, self.everything)
        browser.cdp("Emulation.setTimezoneOverride", timezoneId="Asia/Shanghai")
        try:
            browser.go(f"{relay.origin}/page/campaigns/{self.campaign}")
            self.check(self.times() and all("GMT+8" in text for text in self.times()), f"all are the browser's: {self.times()}")
            # The reason has a moment, too.
            self.check("GMT+8" in browser.one(".reason").text, f"the reason's moment is: {browser.one('.reason').text}")
            browser.follow(browser.link("Show UTC"))
            self.same(browser.path, f"/page/campaigns/{self.campaign}", "the switch leads back")
            self.check(all("UTC" in text for text in self.times()), f"all are UTC: {self.times()}")
            self.same(browser.one("#zone").text, "UTC", "the zone is named")
            browser.go(relay.origin + "/page/audit")
            self.check(all("UTC" in text for text in self.times()), "the next page remembers it")
            browser.run("document.querySelector('#zones').open = true")
            field = browser.one("#zones [name=zone]")
            field.clear()
            field.send_keys("America/St_Johns")
            browser.follow(browser.one("#zones button"))
            self.same(browser.path, "/page/audit", "a named zone leads back")
            self.check(all("GMT-" in text for text in self.times()), f"all are of the named zone: {self.times()[:2]}")
            browser.follow(browser.link("Show the browser's zone"))
            self.check(all("GMT+8" in text for text in self.times()), "and back")
        finally:
            browser.cdp("Emulation.setTimezoneOverride", timezoneId="")


class Words(PageCase):
    apps = {"com.example.paused": SLOW, "com.example.suspended": "$refused", "com.example.lost": "$lost",
            "com.example.later": "$apns",
            "com.example.waves": '$apns, pace: { waves: [10, 100], betweenWaves: { pause: "1s", approval: true } }'}

    @classmethod
    def prepare(cls):
        relay, cls.campaigns = cls.relay, {}
        day = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=20)
        for app in cls.apps:
            relay.devices(app, 200)
            more = {"requiredFrom": day.isoformat(timespec="seconds")} if app.endswith("later") else {}
            cls.campaigns[app.split(".")[-1]] = relay.raise_version(app, required="2.0.0", **more)
        relay.wait_for(cls.campaigns["paused"], "running")
        relay.control("POST", f"/v1/campaigns/{cls.campaigns['paused']}/pause")
        relay.wait_for(cls.campaigns["suspended"], "suspended")
        relay.wait_for(cls.campaigns["waves"], "suspended")
        cls.canary = relay.raise_version("com.example.paused", required="3.0.0", telephones=[telephone(1004)])

    def test_chinese(self):
        """No reason, remedy or fault of a Chinese page is English."""
        browser, relay = self.browser, self.relay
        browser.cookie(relay, self.everything)
        browser.speak(relay, "zh")
        paths = ["/", "/page/audit", f"/page/users?telephone={telephone(1004)}"]
        paths += [f"/page/campaigns/{id}" for id in self.campaigns.values()]
        paths += [f"/page/apps/{app}/ios" for app in self.apps]
        browser.until(lambda: browser.go(relay.origin + "/").has(".notice.bad .remedy"), 30)
        for path in paths:
            browser.go(relay.origin + path)
            english = [one.text for one in browser.all("main bdi[lang=en], main span[lang=en], main p[lang=en]")]
            self.same(english, [], f"English on {path}")
        browser.go(relay.origin + f"/page/campaigns/{self.campaigns['paused']}")
        browser.picture("chinese-campaign")
        browser.go(relay.origin + "/")
        self.check("`" not in browser.text, "no backtick is shown")
        self.check("apns:" not in browser.text, "no code of a fault is shown")
        browser.picture("chinese-overview")

    def test_said_once(self):
        browser, relay = self.browser, self.relay
        browser.cookie(relay, self.everything)
        browser.go(relay.origin + "/")
        card = browser.driver.find_element(By.XPATH, "//article[contains(., 'com.example.later')]")
        self.same(card.text.count("until then 2.0.0 is announced"), 1, "the reason of the wait stands once")

    def test_phone(self):
        browser, relay = self.browser, self.relay
        browser.cookie(relay, self.everything)
        browser.size(360, 740)
        browser.go(relay.origin + "/page/audit")
        height = browser.run("return document.querySelector('nav').getBoundingClientRect().height")
        self.check(height < 64, f"the navigation is one row on a phone: {height} px")
        self.check(not browser.is_wider_than_screen(), "and the page does not scroll sideways")
        browser.size(1440)
        rows = browser.run("return [...document.querySelectorAll('tbody tr')].map((one) => one.getBoundingClientRect().height)")
        self.check(max(rows) < 220, f"a row of the audit trail is no taller than a few lines: {max(rows)} px")
        browser.picture("audit")


class Lists(PageCase):
    apps = {"com.example.app": "$apns"}

    @classmethod
    def prepare(cls):
        relay = cls.relay
        relay.devices("com.example.app", 120)
        for n in range(25):
            relay.token(f"token-{n:02}", ["status"])
        for n in range(2, 30):
            relay.raise_version("com.example.app", required=f"{n}.0.0")
        for n in range(15):
            relay.register("com.example.app", f"{n + 0xA000:064x}", telephone=telephone(1), version="1.0.0")

    def test_totals(self):
        """Each list says how long it is, and each of its items is reached."""
        browser, relay = self.browser, self.relay
        browser.enter(relay)
        for path, total in {
            "/page/devices": "135 in all", "/page/devices?below=1.5": "15 in all", "/page/campaigns": "28 in all",
            "/page/audit": "in all", "/page/tokens": "1 to 20 of 26", "/page/apps/com.example.app/ios": "1 to 20 of 28",
            f"/page/users?telephone={telephone(1)}": "1 to 10 of 15",
        }.items():
            browser.go(relay.origin + path)
            self.check(total in browser.text, f"{path} says {total!r}: {[one.text for one in browser.all('.total')]}")
        for path, items in {"/page/tokens": 26, "/page/apps/com.example.app/ios": 28}.items():
            browser.go(relay.origin + path)
            seen = set()
            for _ in range(5):
                table = browser.one("main table")
                seen |= {row.text for row in table.find_elements(By.CSS_SELECTOR, "tbody tr")}
                more = browser.driver.find_elements(By.XPATH, "(//main//table)[1]/ancestor::section//a[@rel='next']")
                if not more:
                    break
                browser.follow(more[0])
            self.same(len(seen), items, f"items of {path}, page by page")
        browser.go(relay.origin + "/page/tokens?name=TOKEN-07")
        self.same(len(browser.all("#tokens tbody tr")), 1, "a token by its name")
