# SPDX-License-Identifier: Apache-2.0
"""What changes while somebody looks, and what the page says where it cannot know."""

import time

from case import PageCase, figure
from proxy import Proxy

LOST = "The connection to the relay is lost"


class Live(PageCase):
    apps = {f"com.example.{name}": "$apns, pace: { ratePerSecond: 2 }"
            for name in ["restart", "hold", "cut", "refuse", "down", "place"]}

    @classmethod
    def prepare(cls):
        cls.campaigns = {}
        for app in cls.apps:
            cls.relay.devices(app, 600)
            cls.campaigns[app.split(".")[-1]] = cls.relay.raise_version(app, required="2.0.0")
        for id in cls.campaigns.values():
            cls.relay.wait_for(id, "running")

    def setUp(self):
        super().setUp()
        self.proxy = Proxy(self.relay.port)
        self.addCleanup(self.proxy.stop)

    def look(self, name, streams="pass"):
        """At one campaign, through the proxy."""
        self.proxy.streams = streams
        self.browser.cookie(self.relay, self.everything)
        self.browser.go(f"{self.proxy.origin}/page/campaigns/{self.campaigns[name]}")
        self.shows("Running")

    def pause(self, name):
        self.relay.control("POST", f"/v1/campaigns/{self.campaigns[name]}/pause")

    def state(self):
        return self.browser.one("#state-title").text

    def says_nothing(self):
        return not self.browser.one("#connection").is_displayed()

    def test_events(self):
        self.look("restart")
        begin = self.browser.one("#state").text
        self.check(self.browser.until(lambda: self.browser.one("#state").text != begin, 10), "the figures move")
        self.check(self.says_nothing(), "nothing is said where all is well")

    def test_restart(self):
        self.browser.cookie(self.relay, self.everything)
        self.browser.go(f"{self.relay.origin}/page/campaigns/{self.campaigns['restart']}")
        self.shows("Running")
        self.relay.stop()
        begin = time.monotonic()
        self.shows(LOST, 20)
        figure(f"a relay that is gone is said to be after {time.monotonic() - begin:.1f} s")
        self.browser.picture("lost")
        self.check("Running" in self.state(), "what was known is still shown")
        self.relay.start()
        self.check(self.browser.until(self.says_nothing, 20), f"it recovers by itself: {self.browser.one('#connection').text}")
        self.pause("restart")
        self.check(self.browser.until(lambda: "Paused" in self.state(), 15), "changes come through again")

    def test_cut(self):
        self.look("cut", "cut")
        time.sleep(6)
        self.check(self.proxy.seen["streams"] >= 2, "the stream is taken up again")
        self.pause("cut")
        self.check(self.browser.until(lambda: "Paused" in self.state(), 15), "changes come through a stream that is cut")
        self.check(self.browser.until(self.says_nothing), "it does not say that it is stale where it is not")

    def test_hold(self):
        self.look("hold", "hold")
        self.pause("hold")
        self.check(self.browser.until(lambda: "Paused" in self.state(), 45), "polling brings changes where no event comes through")

    def test_refuse(self):
        self.look("refuse", "refuse")
        self.pause("refuse")
        self.check(self.browser.until(lambda: "Paused" in self.state(), 45), "polling brings changes where streams are refused")
        self.check(self.browser.until(self.says_nothing), "it is not stale while polling goes well")

    def test_down(self):
        """A proxy whose relay is gone."""
        self.look("down")
        self.proxy.isDown = True
        self.proxy.streams = "hold"
        # What is open is cut by the restart of the relay.
        self.relay.stop()
        self.relay.start()
        self.shows(LOST, 30)
        self.proxy.isDown, self.proxy.streams = False, "pass"
        self.check(self.browser.until(self.says_nothing, 30), "it recovers by itself")

    def test_quiet(self):
        """A stream that has nothing to say costs nothing: nobody asks for anything."""
        for id in self.campaigns.values():
            if self.relay.campaign(id)["state"] == "running":
                self.relay.control("POST", f"/v1/campaigns/{id}/pause")
        self.proxy.streams = "pass"
        self.browser.cookie(self.relay, self.everything)
        self.browser.go(f"{self.proxy.origin}/")
        time.sleep(5)
        before = dict(self.proxy.seen)
        time.sleep(46)
        self.same(self.proxy.seen, before, "requests in 46 s of silence")
        for id in self.campaigns.values():
            self.relay.control("POST", f"/v1/campaigns/{id}/resume")

    def test_place(self):
        """Focus, scroll and open details outlive what is exchanged."""
        browser, relay = self.browser, self.relay
        # Somebody upgrades, so that there is a chart with its numbers.
        for device in relay.registry("com.example.place")[:40]:
            if device.get("telephone"):
                relay.register("com.example.place", device["token"], telephone=device["telephone"], version="2.0.0")
        self.browser.size(360, 700)
        self.look("place")
        self.check(browser.until(lambda: browser.has("#adoption details")), "there is a chart")
        browser.run("""document.querySelector('#adoption details').open = true;
            document.querySelector('#state a[href$="/cancel"]').focus();
            window.scrollTo(0, 400); for (const one of document.querySelectorAll('.scroll')) one.scrollLeft = 40;
            window.first = document.querySelector('#state .counts');""")
        old = browser.run("return [scrollY, document.querySelector('.scroll').scrollLeft]")
        self.check(old[0] == 400, "the page is scrolled")
        self.check(browser.until(lambda: browser.run("return !window.first.isConnected"), 15), "the figures are exchanged")
        time.sleep(2)
        self.same(browser.run("return document.activeElement.textContent"), "Cancel the campaign", "focus")
        self.check(browser.run("return document.querySelector('#adoption details').open"), "details stay open")
        self.same(browser.run("return [scrollY, document.querySelector('.scroll').scrollLeft]"), old, "scroll")
        # What had the focus may go: then its part has it, not the top of the page.
        browser.run("document.querySelector('#state a[href$=\"/pause\"]').focus()")
        self.pause("place")
        self.check(browser.until(lambda: "Paused" in self.state(), 15), "it is paused")
        self.same(browser.run("return document.activeElement.id"), "state", "focus where its link has gone")

    def test_hidden(self):
        """Nothing is asked for by a tab that nobody looks at."""
        self.look("place")
        first = self.browser.driver.current_window_handle
        self.browser.driver.switch_to.new_window("tab")
        time.sleep(2)
        before = self.proxy.seen["parts"]
        time.sleep(4)
        self.check(self.proxy.seen["parts"] <= before + 1, "a hidden tab asks for nothing")
        self.browser.driver.switch_to.window(first)
        self.check(self.browser.until(lambda: self.proxy.seen["parts"] > before, 15), "it does when it is seen again")
