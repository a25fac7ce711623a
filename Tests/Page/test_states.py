# SPDX-License-Identifier: Apache-2.0
"""The first screen in each of its states, and what belongs to them: by axe, in both languages, light and dark, small and large."""

import sqlite3

from browser import By
from case import PageCase, simulator
from database import Database
from proxy import Proxy
from stage import Relay, telephone, wait_until

APPROVAL = 'approval: { people: 2, above: "10%" }'


class Stage(PageCase):
    """Looks at a screen in all ways."""

    def looks(self, name, path="/", ready=None):
        browser = self.browser
        for language in ["en", "zh"]:
            browser.speak(self.relay, language)
            browser.go(self.origin() + path)
            if ready:
                ready()
            for width in [1440, 360]:
                browser.size(width)
                for scheme in ["light", "dark"]:
                    browser.media(scheme)
                    self.same(browser.axe()["violations"], [], f"axe: {name}, {language}, {scheme}, {width} px")
                    browser.picture(f"state-{name}-{language}-{width}-{scheme}")
                self.check(not browser.is_wider_than_screen(), f"{name}, {language} scrolls sideways at {width} px")
        browser.media()
        browser.size(1440)
        browser.speak(self.relay, "en")

    def origin(self):
        return self.relay.origin


class States(Stage):
    apps = {"com.example.bank": f'$apns, {APPROVAL}, pace: {{ waves: [10, 50, 100], betweenWaves: {{ approval: true }} }}',
            "com.example.shop": "$refused", "com.example.post": "$lost"}
    listen = 'page: { identity: { from: ["127.0.0.1"], rights: { operators: ["status", "users", "versions", "campaigns"] } } }'

    def store(self, statement, *values):
        """As another program writes."""
        with sqlite3.connect(f"{self.relay.folder}/relay.db", timeout=10) as store:
            store.execute(statement, values)

    def origin(self):
        return self.proxy.origin

    def be(self, name):
        self.proxy.person = {"X-Forwarded-User": name, "X-Forwarded-Groups": "operators"}

    def test_first_screen(self):
        browser, relay = self.browser, self.relay
        self.proxy = Proxy(relay.port)
        self.addCleanup(self.proxy.stop)
        self.be("ada")
        self.looks("nothing")
        # Another program's row, with what looks like a typing error.
        relay.devices("com.example.bank", 400)
        self.store("INSERT INTO version (app, platform, required) VALUES ('com.example.bank', 'ios', '200.0.0')")
        browser.go(self.origin() + "/")
        self.shows("Another program asked for it.")
        self.looks("typing-error")
        relay.control("POST", "/v1/apps/com.example.bank/ios/withdraw", {"required": "200.0.0", "reason": "a typing error"})
        # A canary.
        canary = relay.raise_version("com.example.bank", required="2.0.0", telephones=[telephone(1002)])
        wait_until(lambda: (relay.campaign(canary)["wait"] or {}).get("reason") == "release", "the canary is done")
        browser.go(self.origin() + "/")
        self.shows("It goes to 10 % of the users.")
        self.looks("canary")
        # A second person's request, of one's own and of another.
        browser.go(self.origin() + "/")
        browser.follow(browser.driver.find_element(By.XPATH, "//section[@id='waits']//button[.='Approve']"))
        self.shows("You asked for it")
        self.looks("request-own", "/page/approvals")
        self.looks("request-own-first")
        self.be("ben")
        self.looks("request")
        browser.go(self.origin() + "/")
        self.same(len(browser.all("#waits .notice")), 1, "what waits for Ben: the request alone")
        browser.follow(browser.driver.find_element(By.XPATH, "//section[@id='waits']//button[.='Approve']"))
        self.looks("approvals", "/page/approvals")
        # A wave.
        relay.wait_for(canary, "suspended")
        browser.go(self.origin() + "/")
        self.shows("Wave 2 of 3 begins")
        self.looks("wave")
        self.looks("wave-campaign", f"/page/campaigns/{canary}")
        # What is wrong.
        for app in ["com.example.shop", "com.example.post"]:
            relay.devices(app, 300)
        shop = relay.raise_version("com.example.shop", required="2.0.0")
        relay.raise_version("com.example.post", required="2.0.0")
        relay.wait_for(shop, "suspended")
        browser.go(self.origin() + "/")
        self.shows("InvalidProviderToken")
        self.shows("no connection to 127.0.0.1")
        self.looks("wrong")
        browser.go(self.origin() + "/page/audit")
        entry = browser.driver.find_element(
            By.XPATH, "//tr[contains(., 'Second person asked for')]//a").get_attribute("href")
        self.looks("audit", "/page/audit")
        self.looks("audit-entry", entry.removeprefix(self.origin()))
        self.looks("user", f"/page/users?telephone={telephone(1004)}")
        self.looks("approve", f"/page/campaigns/{canary}/approve")


class RelayGone(Stage):
    @classmethod
    def make_relay(cls):
        cls.database = Database()
        cls.addClassCleanup(cls.database.stop)
        cls.other = Relay(simulator(), cls.apps, store=cls.database.node("relay-2"))
        cls.addClassCleanup(cls.other.clear)
        return Relay(simulator(), cls.apps, store=cls.database.node("relay-1"))

    def test_relay_gone(self):
        browser = self.browser
        browser.sign_in(self.relay, self.everything)
        self.shows("Nothing is wrong: the relay can do its work.")
        self.check(browser.until(lambda: browser.one("#relays").text.count("works") == 2), "both relays work")
        self.other.process.kill()
        self.other.process.wait()
        # By itself, once its lease has run out.
        self.shows("relay-2: this relay is not heard of any more.", 30)
        self.shows("The other relays do its work.")
        self.looks("relay-gone")
