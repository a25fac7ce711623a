# SPDX-License-Identifier: Apache-2.0
"""An act that waits for a second person comes to the open first screen, and leaves it, without a reload."""

from browser import By
from case import PageCase, figure
import time


class SecondPerson(PageCase):
    apps = {"com.example.eyes": '$apns, approval: { people: 2, above: "10%" }'}

    @classmethod
    def prepare(cls):
        cls.relay.devices("com.example.eyes", 200)
        cls.ada = cls.relay.token("ada")

    def ask(self, required):
        """Ada asks to require a version; the request."""
        answer = self.relay.ask("PUT", "/v1/apps/com.example.eyes/ios/version", {"required": required}, token=self.ada)
        self.same(answer.status, 202, "the act waits")
        return answer.json["approval"]["id"]

    def form(self, id):
        return f"#waits form[action='/page/approvals/{id}/approve']"

    def test_it_comes_and_goes(self):
        browser, relay = self.browser, self.relay
        browser.sign_in(relay, self.everything)
        self.shows("Nothing waits for a person.")
        browser.run("window.stays = true")
        id = self.ask("2.0.0")
        begin = time.monotonic()
        self.check(browser.until(lambda: browser.has(self.form(id)), 15), "the request comes")
        figure(f"a request for a second person is on an open first screen after {time.monotonic() - begin:.1f} s")
        self.shows("require 2.0.0")
        relay.control("POST", f"/v1/approvals/{id}/refuse", {"reason": "not before Monday"})
        self.check(browser.until(lambda: not browser.has(self.form(id)), 15), "the refused request goes")
        self.shows("Nothing waits for a person.")
        self.check(browser.run("return window.stays === true"), "the page was not loaded again")

    def test_it_is_approved_where_it_stands(self):
        browser, relay = self.browser, self.relay
        browser.sign_in(relay, self.everything)
        id = self.ask("2.1.0")
        self.check(browser.until(lambda: browser.has(self.form(id)), 15), "the request comes")
        browser.follow(browser.driver.find_element(By.CSS_SELECTOR, self.form(id) + " button"))
        self.shows("Nothing waits for a second person.")
        self.same(relay.version("com.example.eyes")["required"], "2.1.0", "what is required")
        self.check(relay.control("GET", f"/v1/approvals?state=approved")["items"][0]["id"] == id, "it is approved")
