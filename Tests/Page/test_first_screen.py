# SPDX-License-Identifier: Apache-2.0
"""The first screen of a release night: what waits, what is wrong, what runs; and the act where the thing stands."""

from browser import By
from case import PageCase
from stage import telephone, wait_until

WAVES = '$apns, pace: { waves: [10, 50, 100], betweenWaves: { approval: true } }'


class FirstScreen(PageCase):
    apps = {"com.example.waves": WAVES, "com.example.canary": "$apns", "com.example.refused": "$refused",
            "com.example.calm": "$apns"}

    @classmethod
    def prepare(cls):
        relay = cls.relay
        for app in cls.apps:
            relay.devices(app, 400)
        cls.waves = relay.raise_version("com.example.waves", required="2.0.0")
        cls.canary = relay.raise_version("com.example.canary", required="2.0.0", telephones=[telephone(1002)])
        cls.refused = relay.raise_version("com.example.refused", required="2.0.0")
        cls.calm = relay.raise_version("com.example.calm", required="2.0.0")
        relay.wait_for(cls.waves, "suspended")
        relay.wait_for(cls.refused, "suspended")
        relay.wait_for(cls.calm, "completed")
        wait_until(lambda: (relay.campaign(cls.canary)["wait"] or {}).get("reason") == "release", "the canary is done")

    def matters(self, part):
        return [one.text for one in self.browser.all(f"#{part} .notice")]

    def test_first_screen(self):
        browser, relay = self.browser, self.relay
        browser.sign_in(relay, self.everything)
        self.shows("Waits for you")
        headings = [one.text for one in browser.all("main h2")]
        self.same(headings[:3], ["Waits for you", "Problems", "Apps"], "the order of the first screen")
        waits = self.matters("waits")
        self.same(len(waits), 2, "what waits for a person")
        wave = next((one for one in waits if "com.example.waves" in one), "")
        for words in ["Asked for by", "Waits since", "Devices of the next step", "Wave 2 of 3 begins: it goes to 50 % of the users."]:
            self.check(words in wave, f"{words!r} of the wave: {wave}")
        self.check(any("It goes to everybody." in one for one in waits), f"the canary: {waits}")
        wrong = self.matters("trouble")
        self.check(any("com.example.refused" in one for one in wrong), f"what is wrong: {wrong}")
        lines = {one.find_element(By.TAG_NAME, "h3").text: one.find_element(By.CSS_SELECTOR, ".headline").text
                 for one in browser.all("#apps .card")}
        self.check("next step: you, to 50 % of the users." in lines.get("com.example.waves iOS", ""), f"the line of an app: {lines}")
        self.check("2.0.0 is required; " in lines.get("com.example.calm iOS", "")
                   and lines["com.example.calm iOS"].endswith("nothing is left to do."), f"the line of a calm app: {lines}")
        # The act stands where the thing stands, and leads to the campaign.
        button = browser.driver.find_element(
            By.XPATH, f"//section[@id='waits']//form[@action='/page/campaigns/{self.waves}/approve']//button")
        self.same(button.text, "Approve", "the button of the wave")
        browser.follow(button)
        self.check(browser.until(lambda: browser.path == f"/page/campaigns/{self.waves}"), "it leads to the campaign")
        wait_until(lambda: relay.campaign(self.waves)["wave"]["number"] == 2, "the second wave")
        # Its steps as a row, with the present one and the next.
        self.check(browser.until(lambda: len(browser.all("ol.steps > li")) == 3), "three steps")
        self.check(browser.until(lambda: "done" in browser.one("ol.steps > li").text), "the first is done")
        self.check("50 % of the users" in browser.all("ol.steps > li")[1].text, "the second is named")
        self.check("A person begins it." in browser.all("ol.steps > li")[2].text, "the third says who begins it")
        self.check(browser.has("#chart-time-title"), "outcomes over time")

    def test_stale_button(self):
        """A page that was opened before another person acted does nothing."""
        browser, relay = self.browser, self.relay
        relay.wait_for(self.waves, "suspended")
        browser.cdp("Emulation.setScriptExecutionDisabled", value=True)
        browser.use(relay.origin + relay.link())
        self.shows("Waits for you")
        number = relay.campaign(self.waves)["wave"]["number"]
        relay.control("POST", f"/v1/campaigns/{self.waves}/approve")
        wait_until(lambda: relay.campaign(self.waves)["wave"]["number"] > number, "the next wave")
        relay.wait_for(self.waves, "suspended", "completed")
        browser.driver.find_element(
            By.XPATH, f"//section[@id='waits']//form[@action='/page/campaigns/{self.waves}/approve']//button").click()
        self.shows("Nothing was done: this is not what you were shown.")

    def test_history(self):
        browser, relay = self.browser, self.relay
        browser.sign_in(relay, self.everything).go(f"{relay.origin}/page/campaigns/{self.calm}")
        entries = browser.all("ol.timeline > li")
        self.check(len(entries) >= 2, "the history has entries")
        self.check("the campaign is complete" in entries[-1].text, f"the last entry: {entries[-1].text}")
        link = entries[-1].find_element(By.TAG_NAME, "a")
        address = link.get_attribute("href")
        browser.follow(link)
        self.shows("campaign.complete")
        self.check(browser.driver.current_url == address and "/page/audit/" in address, "the entry has an address of its own")

    def test_phone(self):
        browser, relay = self.browser, self.relay
        browser.sign_in(relay, self.everything).go(f"{relay.origin}/page/apps/com.example.calm/ios/raise")
        self.check("A new version is required." in browser.one(".phone").text, "the push of the configuration")
        browser.one("[name=required]").send_keys("3.0.0")
        browser.one("[name=message]").send_keys("Your bank needs the new app.")
        browser.follow(browser.one("main form button"))
        self.check(browser.until(lambda: "Your bank needs the new app." in browser.one(".phone").text), "the push that would be sent")
