# SPDX-License-Identifier: Apache-2.0
"""Without a script, without a mouse, in other zones and languages."""

import pathlib
import tempfile

from browser import By, Keys
from case import PageCase, figure
from stage import telephone


class Reading(PageCase):
    apps = {"com.example.app": "$apns, pace: { ratePerSecond: 1 }", "com.example.done": "$apns"}

    @classmethod
    def prepare(cls):
        for app in cls.apps:
            cls.relay.devices(app, 300)
        cls.campaign = cls.relay.raise_version("com.example.app", required="2.0.0")
        cls.done = cls.relay.raise_version("com.example.done", required="2.0.0")
        cls.relay.wait_for(cls.campaign, "running")
        cls.relay.wait_for(cls.done, "completed")

    def resume(self):
        if self.relay.campaign(self.campaign)["state"] == "paused":
            self.relay.control("POST", f"/v1/campaigns/{self.campaign}/resume")

    def test_without_script(self):
        browser, relay = self.browser, self.relay
        browser.cdp("Emulation.setScriptExecutionDisabled", value=True)
        browser.use(relay.origin + relay.link())
        self.shows("com.example.app")
        self.check(" UTC" in browser.one("time").text, "times are in UTC, and say so")
        for path, words in {
            "/": "Done", "/page/campaigns": "com.example.done", f"/page/campaigns/{self.campaign}": "Running",
            f"/page/campaigns/{self.done}": "Completed", "/page/apps/com.example.app/ios": "Requirements over time",
            "/page/devices": "138001", f"/page/deliveries?campaign={self.done}": "Accepted",
            f"/page/users?telephone={telephone(1004)}": "the push service", "/page/tokens": "everything",
            "/page/audit": "Audit trail", "/page/apps/com.example.app/ios/raise": "Required version",
        }.items():
            browser.go(relay.origin + path)
            self.shows(words)
        # An action by a form.
        browser.go(f"{relay.origin}/page/campaigns/{self.campaign}")
        browser.link("Pause").click()
        self.shows("Nothing more is sent")
        browser.one("main form button").click()
        self.shows("Paused")
        self.same(relay.campaign(self.campaign)["state"], "paused", "without a script")
        self.resume()
        # Filters, and the next page.
        browser.go(relay.origin + "/page/devices")
        browser.link("Next page").click()
        self.check(browser.until(lambda: "cursor=" in browser.driver.current_url), "the next page")
        browser.one("select[name=app] option[value='com.example.done']").click()
        browser.one("main form button").click()
        self.check(browser.until(lambda: "app=com.example.done" in browser.driver.current_url), "the filter")
        self.check(browser.all("tbody tr"), "the filter finds")

    def test_filters(self):
        """Every form of a list as it comes, with nothing filled in."""
        browser, relay = self.browser, self.relay
        browser.sign_in(relay, self.everything)
        for path in ["/page/campaigns", "/page/devices", "/page/deliveries", "/page/users", "/page/audit"]:
            browser.go(relay.origin + path)
            if not browser.has("main form[method=get]"):
                continue
            browser.follow(browser.one("main form[method=get] button"))
            self.check("This did not work" not in browser.text, f"the empty form of {path}: {browser.text[:400]!r}")
        browser.go(relay.origin + "/page/campaigns")
        browser.one("input[name=app]").send_keys("com.example.done")
        browser.one("select[name=state] option[value=completed]").click()
        browser.follow(browser.one("main form button"))
        self.same(len(browser.all("tbody tr")), 1, "campaigns that are found")
        browser.go(f"{relay.origin}/page/deliveries?campaign={self.done}")
        browser.one("select[name=state] option[value=filtered]").click()
        browser.follow(browser.one("main form button"))
        self.check(browser.all("tbody tr") and "Accepted" not in browser.one("tbody").text, "deliveries that are found")
        # A figure leads to those that it counts.
        browser.go(f"{relay.origin}/page/campaigns/{self.done}")
        count = browser.one(".counts .s-rejected a")
        expected = int(count.text)
        browser.follow(count)
        self.same(len(browser.all("tbody tr")), expected, "rejected deliveries")

    def test_csv(self):
        session = {"Cookie": self.relay.ask("POST", "/v1/session", token=self.everything).headers["Set-Cookie"].split(";")[0]}
        for path in [f"/page/campaigns/{self.done}", "/page/devices", f"/page/deliveries?campaign={self.done}"]:
            self.browser.cookie(self.relay, self.everything)
            self.browser.go(self.relay.origin + path)
            link = next(one.get_attribute("href") for one in self.browser.all("main a") if "csv" in (one.get_attribute("href") or ""))
            answer = self.relay.ask("GET", link.removeprefix(self.relay.origin), headers=session)
            self.same(answer.status, 200, f"the table of {path}")
            self.check(answer.text.count("\n") > 100, f"all lines of the table of {path}")

    def test_report(self):
        browser, relay = self.browser, self.relay
        browser.cookie(relay, self.everything)
        browser.go(f"{relay.origin}/page/campaigns/{self.done}")
        link = browser.link("Report as a file for the ticket").get_attribute("href")
        answer = relay.ask("GET", link.removeprefix(relay.origin), token=self.everything)
        self.same(answer.status, 200, "the report")
        self.check("attachment" in answer.headers["Content-Disposition"], "it is a file")
        found = [n for n in range(1000, 1300) if telephone(n) in answer.text]
        self.check(not found, "no phone number is in the report")
        tokens = [one["token"] for one in relay.registry("com.example.done")]
        self.check(not [one for one in tokens if one in answer.text], "no push token is in the report")
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "report.html"
            file.write_bytes(answer.body)
            browser.requests()
            browser.go(file.as_uri())
            self.shows("Completed")
            asked = [url for url in browser.requests() if not url.startswith(("file:", "data:"))]
            self.same(asked, [], "what the report loads")
            self.same(browser.axe()["violations"], [], "axe of the report")
            self.check(browser.run("return getComputedStyle(document.querySelector('.facts')).display") == "grid", "it has its style")
            browser.picture("report")

    def test_keyboard(self):
        """The whole way of one action, without a mouse."""
        browser, relay = self.browser, self.relay
        self.resume()
        browser.go(relay.origin + "/")
        # The first stop is the way past the navigation; then nothing is left out, and nothing twice.
        browser.press(Keys.TAB)
        self.same(browser.run("return document.activeElement.className"), "skip", "the first stop")
        self.check(browser.run("return document.activeElement.getBoundingClientRect().left >= 0"), "the skip link is seen when it has the focus")
        browser.one("input[name=token]").send_keys(self.everything, Keys.ENTER)
        self.shows("com.example.app")
        browser.go(f"{relay.origin}/page/campaigns/{self.campaign}")
        stops = []
        for _ in range(80):
            browser.press(Keys.TAB)
            stop = browser.run("""const one = document.activeElement; const box = one.getBoundingClientRect();
                const style = getComputedStyle(one);
                return one === document.body ? null : {text: (one.getAttribute('aria-label') || one.textContent || one.name || '').trim().slice(0, 40),
                  seen: box.width > 0 && box.bottom > 0 && box.top < innerHeight, ring: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2};""")
            if stop is None or stops and stop["text"] == stops[0]["text"]:
                break
            stops.append(stop)
        figure("Tab order: " + " > ".join(stop["text"] for stop in stops))
        self.check(all(stop["seen"] for stop in stops), f"what has the focus is seen: {[s for s in stops if not s['seen']]}")
        self.check(all(stop["ring"] for stop in stops), f"where the focus is, is seen: {[s for s in stops if not s['ring']]}")
        texts = [stop["text"] for stop in stops]
        expected = ["Skip to the content", "Upgrade Relay", "Overview", "Campaigns", "Sign out", "Pause", "Cancel the campaign",
                    "Report as a file for the ticket"]
        positions = [texts.index(text) if text in texts else -1 for text in expected]
        self.check(-1 not in positions and positions == sorted(positions), f"the order of the stops: {texts}")
        # Past the navigation, to the action, through its question.
        browser.driver.refresh()
        browser.press(Keys.TAB, Keys.ENTER)
        self.same(browser.run("return document.activeElement.id"), "main", "the skip link")
        for _ in range(30):
            browser.press(Keys.TAB)
            if browser.run("return document.activeElement.textContent") == "Pause":
                break
        browser.press(Keys.ENTER)
        self.check(browser.until(lambda: browser.path.endswith("/pause")), "Enter follows the link")
        for _ in range(30):
            browser.press(Keys.TAB)
            if browser.run("return document.activeElement.matches('main form button')"):
                break
        browser.press(Keys.SPACE)
        self.check(browser.until(lambda: relay.campaign(self.campaign)["state"] == "paused"), "an action by the keyboard alone")
        self.resume()

    def test_zone(self):
        browser, relay = self.browser, self.relay
        browser.cookie(relay, self.everything)
        browser.cdp("Emulation.setTimezoneOverride", timezoneId="Asia/Shanghai")
        try:
            browser.go(f"{relay.origin}/page/campaigns/{self.done}")
            stamp = browser.one("main time")
            self.check("GMT+8" in stamp.text, f"times are in the reader's zone, and name it: {stamp.text}")
            self.check(stamp.get_attribute("datetime").endswith("Z"), "the moment in UTC stays")
            self.check(any(month in stamp.text for month in "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()),
                       f"the month is a word: {stamp.text}")
            self.check("Asia/Shanghai" in browser.one("footer").text, "the zone is named")
        finally:
            browser.cdp("Emulation.setTimezoneOverride", timezoneId="")

    def test_language(self):
        browser, relay = self.browser, self.relay
        answer = relay.ask("GET", "/", headers={"Accept-Language": "zh-CN,zh;q=0.9,en;q=0.8"})
        self.check('lang="zh-Hans"' in answer.text, "Chinese for who asks for it")
        answer = relay.ask("GET", "/", headers={"Accept-Language": "de,en;q=0.8,zh;q=0.1"})
        self.check('lang="en"' in answer.text, "English for who likes that better")
        browser.sign_in(relay, self.everything)
        browser.follow(browser.link("中文"))
        self.same(browser.run("return document.documentElement.lang"), "zh-Hans", "the switch")
        self.shows("com.example.app")
        browser.go(relay.origin + "/page/campaigns")
        self.same(browser.run("return document.documentElement.lang"), "zh-Hans", "the next page")
        browser.follow(browser.link("English"))
        self.same(browser.run("return document.documentElement.lang"), "en", "and back")

    def test_structure(self):
        browser, relay = self.browser, self.relay
        browser.cookie(relay, self.everything)
        for path in ["/", "/page/campaigns", f"/page/campaigns/{self.campaign}", "/page/users", "/page/devices",
                     "/page/deliveries", "/page/apps/com.example.app/ios"]:
            browser.go(relay.origin + path)
            for selector in ["header", "nav[aria-label]", "main", "footer", "h1", "html[lang]", "[role=status]"]:
                self.check(browser.has(selector), f"{path} has {selector}")
            self.same(len(browser.all("h1")), 1, f"headings of the first order of {path}")
            levels = [int(one.tag_name[1]) for one in browser.all("h1, h2, h3, h4, h5, h6")]
            self.check(all(b <= a + 1 for a, b in zip(levels, levels[1:])), f"no order of headings is left out on {path}: {levels}")
            ids = browser.run("return [...document.querySelectorAll('[id]')].map((one) => one.id)")
            self.same(len(ids), len(set(ids)), f"ids of {path}")
            for table in browser.all("table"):
                self.check(table.find_elements(By.CSS_SELECTOR, "caption") and table.find_elements(By.CSS_SELECTOR, "th[scope=col]"),
                           f"a table of {path} has its caption and headings")
            self.check("Upgrade Relay" in browser.driver.title and len(browser.driver.title) > 15, f"the title of {path}")
