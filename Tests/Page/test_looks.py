# SPDX-License-Identifier: Apache-2.0
"""How every view looks: by axe, on small and large screens, in both languages, in the colours that people ask for, on paper."""

import base64
import collections
import json
import time

import views
from browser import PICTURES
from case import PageCase, figure

WIDTHS = [360, 768, 1440]


class Looks(PageCase):
    apps = views.APPS

    @classmethod
    def prepare(cls):
        cls.campaigns = views.prepare(cls.relay)
        cls.views = views.views(cls.campaigns)

    def setUp(self):
        super().setUp()
        self.browser.enter(self.relay)

    def every_view(self):
        """Each in both languages, and the page for who has not signed in."""
        for language in ["en", "zh"]:
            self.browser.speak(self.relay, language)
            for name, view in self.views.items():
                views.show(self.browser, self.relay, view)
                yield name, language
        self.browser.clean()
        for language in ["en", "zh"]:
            self.browser.speak(self.relay, language)
            self.browser.go(self.relay.origin + "/")
            yield "sign-in", language

    def test_axe(self):
        """No violation, no horizontal scroll."""
        found = collections.Counter()
        runs = collections.Counter()
        for name, language in self.every_view():
            for width in WIDTHS:
                self.browser.size(width)
                for scheme in ["light", "dark"]:
                    self.browser.media(scheme)
                    where = f"{name}, {language}, {scheme}, {width} px"
                    violations = self.browser.axe()["violations"]
                    runs[name] += 1
                    found[name] += len(violations)
                    self.check(not violations, f"axe of {where}: {violations}")
                self.check(not self.browser.is_wider_than_screen(), f"{name}, {language} scrolls sideways at {width} px")
        for name, count in runs.items():
            figure(f"axe: {name}: {found[name]} violations in {count} runs")

    def test_pictures(self):
        """One of each view and screen, to be looked at."""
        for name, language in self.every_view():
            for width, scheme in [(1440, "light"), (360, "light"), (1440, "dark")]:
                if language == "zh" and width == 360:
                    continue
                self.browser.size(width)
                self.browser.media(scheme)
                self.browser.picture(f"{name}-{language}-{width}-{scheme}")
            self.browser.media()
            self.check("This did not work" not in self.browser.text or name == "not-found", f"{name} is shown")
        self.browser.enter(self.relay)
        self.browser.speak(self.relay, "en")
        self.browser.go(self.relay.origin + "/")
        self.browser.size(3840, 2160)
        self.check(not self.browser.is_wider_than_screen(), "4K")
        self.browser.picture("overview-4k")

    def test_targets(self):
        """WCAG 2.2, success criterion 2.5.8: on a phone what is tapped is 24 px at least, what acts 44."""
        self.browser.size(360)
        for name in ["overview", "campaign", "pause", "raise", "tokens"]:
            views.show(self.browser, self.relay, self.views[name])
            small = self.browser.run("""return [...document.querySelectorAll('button, a.button, nav a, input, select, summary')].filter((one) => {
                const box = one.getBoundingClientRect(); return one.type !== 'hidden' && one.type !== 'checkbox' && box.height > 0 && box.height < 43.5; })
                .map((one) => one.outerHTML.slice(0, 100));""")
            self.same(small, [], f"too small to be tapped on {name}")

    def test_forced_colours(self):
        browser = self.browser
        for name in ["overview", "campaign", "campaign-done", "raise", "tokens"]:
            views.show(browser, self.relay, self.views[name])
            browser.media(forced_colors="active")
            self.check(browser.run("return matchMedia('(forced-colors: active)').matches"), "the emulation")
            self.check(not browser.run("""return [...document.querySelectorAll('.badge, button, a.button, .card, input:not([type=hidden], [type=checkbox])')].some((one) =>
                getComputedStyle(one).borderStyle === 'none')"""), f"{name}: what only a colour marks has a border")
            browser.picture(f"{name}-forced")
            browser.media()
        views.show(browser, self.relay, self.views["campaign"])
        browser.media(forced_colors="active")
        # What is a bar to others is one here, too.
        self.check(browser.run("""return [...document.querySelectorAll('svg.bar rect')].every((one) =>
            getComputedStyle(one).fill !== getComputedStyle(document.body).backgroundColor)"""), "the bar is seen")

    def test_motion(self):
        browser = self.browser
        browser.media(prefers_reduced_motion="reduce")
        for name in ["overview", "campaign", "raise"]:
            views.show(browser, self.relay, self.views[name])
            browser.media(prefers_reduced_motion="reduce")
            moving = browser.run("""return [...document.querySelectorAll('*')].filter((one) => { const style = getComputedStyle(one);
                return style.animationName !== 'none' || style.transitionDuration.split(',').some((d) => parseFloat(d) > 0); }).length""")
            self.same(moving, 0, f"what moves on {name}")
        browser.media()

    def test_print(self):
        for name in ["overview", "campaign-done", "user"]:
            views.show(self.browser, self.relay, self.views[name])
            self.browser.media(kind="print")
            self.check(not self.browser.one("body > header").is_displayed(), f"{name}: no navigation on paper")
            self.check(self.browser.one("h1").is_displayed(), f"{name}: its title on paper")
            self.browser.media()
            pdf = base64.b64decode(self.browser.cdp("Page.printToPDF", printBackground=False)["data"])
            self.check(pdf.startswith(b"%PDF") and len(pdf) > 5000, f"{name} as a PDF")
            PICTURES.mkdir(parents=True, exist_ok=True)
            (PICTURES / f"{name}.pdf").write_bytes(pdf)

    def test_zoom(self):
        """WCAG 1.4.10 and 1.4.4: text of twice the size, on a small screen."""
        self.browser.size(360)
        for name in ["overview", "campaign", "raise", "tokens", "deliveries"]:
            views.show(self.browser, self.relay, self.views[name])
            self.browser.cdp("Emulation.setPageScaleFactor", pageScaleFactor=1)
            self.browser.run("const sheet = new CSSStyleSheet(); sheet.replaceSync('html { font-size: 200% !important }'); document.adoptedStyleSheets = [sheet];")
            self.check(not self.browser.is_wider_than_screen(), f"{name} with text of 200 % scrolls sideways")

    def test_weight(self):
        """What the first screen loads, and how soon it is there."""
        browser, relay = self.browser, self.relay
        browser.cdp("Network.clearBrowserCache")

        browser.driver.get_log("performance")
        browser.go(relay.origin + "/")
        self.browser.until(lambda: browser.run("return document.readyState") == "complete")

        time.sleep(2)
        urls, sizes = {}, {}
        for entry in browser.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                urls[message["params"]["requestId"]] = message["params"]["request"]["url"]
            elif message["method"] == "Network.loadingFinished":
                sizes[message["params"]["requestId"]] = message["params"]["encodedDataLength"]
        total = 0
        for id, url in urls.items():
            if id in sizes and "/v1/events" not in url:
                total += sizes[id]
                figure(f"loaded: {int(sizes[id])} bytes with its head: {url.removeprefix(relay.origin)}")
        figure(f"loaded in all: {int(total)} bytes, with {len(self.apps)} apps on the screen")
        self.check(0 < total < 60_000, f"the first screen loads less than 60 kB: {total}")
        for path in browser.run("return [...document.querySelectorAll('link[href], script[src]')].map((one) => one.getAttribute('href') || one.getAttribute('src'))"):
            plain, small = relay.ask("GET", path), relay.ask("GET", path, headers={"Accept-Encoding": "gzip"})
            figure(f"{path}: {len(plain.body)} bytes, {len(small.body)} compressed")
            self.check("immutable" in plain.headers["Cache-Control"], f"{path} is kept by the browser")
        paints = []
        for _ in range(7):
            browser.cdp("Network.clearBrowserCache")
            browser.go(relay.origin + "/")
            browser.until(lambda: browser.run("return performance.getEntriesByName('first-contentful-paint').length > 0"))
            paints.append(browser.run("return performance.getEntriesByName('first-contentful-paint')[0].startTime"))
        figure(f"first contentful paint on loopback, nothing cached: median {sorted(paints)[3]:.0f} ms of {[round(p) for p in paints]}")
        self.check(sorted(paints)[3] < 1500, f"the first paint: {paints}")

    def test_origin(self):
        """Nothing is asked of any other server, and the console has nothing to complain of."""
        browser = self.browser
        browser.requests()
        browser.log()
        for name, _ in self.every_view():
            asked = [url for url in browser.requests() if not url.startswith((self.relay.origin + "/", "data:", "about:"))]
            self.same(asked, [], f"addresses elsewhere that {name} asks for")
            # A 404 or 422 that was asked for is no complaint.
            said = [line for line in browser.log() if "Failed to load resource: the server responded" not in line]
            self.same(said, [], f"what the console says of {name}")
