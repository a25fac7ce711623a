# SPDX-License-Identifier: Apache-2.0
"""People whom a proxy signs in: it adds their headers to every request of their browser, whatever page that comes from."""

import http.server
import threading

from case import PageCase
from proxy import Proxy


class People(PageCase):
    apps = {"com.example.app": "$apns, pace: { ratePerSecond: 1 }"}
    listen = """page: { identity: { from: ["127.0.0.1"],
        rights: { operators: ["status", "campaigns"], support: ["users"] } } }"""

    @classmethod
    def prepare(cls):
        cls.relay.devices("com.example.app", 200)
        cls.campaign = cls.relay.raise_version("com.example.app", required="2.0.0")
        cls.relay.wait_for(cls.campaign, "running")

    def setUp(self):
        super().setUp()
        self.proxy = Proxy(self.relay.port)
        self.addCleanup(self.proxy.stop)

    def be(self, name, groups):
        self.proxy.person = {"X-Forwarded-User": name, "X-Forwarded-Groups": groups}

    def looks(self, name):
        """As every page has to: at each width, in each scheme."""
        browser = self.browser
        for scheme in ["light", "dark"]:
            browser.media(scheme)
            for width in [360, 1440]:
                browser.size(width, 900)
                self.check(not browser.is_wider_than_screen(), f"{name} is wider than {width} px")
                self.same(browser.axe()["violations"], [], f"axe: {name}, {scheme}, {width} px")
                browser.picture(f"{name}-{scheme}-{width}")
        browser.media("light")
        browser.size(1280)

    def test_a_person_acts_under_the_name_of_the_proxy(self):
        browser, relay = self.browser, self.relay
        self.be("ada@example.com", "operators,qa")
        browser.go(self.proxy.origin + f"/page/campaigns/{self.campaign}")
        self.shows("proxy:ada@example.com")
        self.shows("signed in by the proxy: sign out there")
        self.check(not browser.has("form[action='/page/session/end']"), "a sign-out that would not last")
        self.looks("people-campaign")
        browser.follow(browser.link("Pause"))
        browser.follow(browser.one("main form button[type=submit]"))
        relay.wait_for(self.campaign, "paused")
        row = relay.control("GET", "/v1/audit?action=campaign.pause")["items"][0]
        self.same((row["actor"], row["actorKind"]), ("proxy:ada@example.com", "session"), "who paused it")
        relay.control("POST", f"/v1/campaigns/{self.campaign}/resume")

    def test_groups_without_a_right(self):
        browser = self.browser
        self.be("eve", "qa,a group with a long name of which there may be many")
        browser.go(self.proxy.origin + "/")
        self.shows("You have no right here")
        self.shows("a group with a long name of which there may be many")
        self.hides("com.example.app")
        self.looks("people-without-rights")
        browser.speak(self.relay, "zh")
        browser.go(self.proxy.origin + "/")
        self.shows("您在此处没有权限")
        self.looks("people-without-rights-zh")

    def test_another_site_changes_nothing(self):
        """The proxy signs in the requests of a foreign page, too."""
        browser, relay = self.browser, self.relay
        self.be("ada", "operators")
        browser.go(self.proxy.origin + f"/page/campaigns/{self.campaign}")
        self.shows("proxy:ada")
        browser.follow(browser.link("Pause"))
        token = browser.one("main input[name=formToken]").get_attribute("value")

        class Site(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.end_headers()
                self.wfile.write(Site.page.encode())

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.shutdown)
        for host in ["127.0.0.1", "localhost"]:
            for path in [f"/page/campaigns/{self.campaign}/pause", f"/v1/campaigns/{self.campaign}/pause"]:
                for fields in [{}, {"formToken": token}]:
                    inputs = "".join(f"<input name='{name}' value='{value}'>" for name, value in fields.items())
                    Site.page = (f"<form id=f method=post action='{self.proxy.origin}{path}'>{inputs}</form>"
                                 "<script>document.getElementById('f').submit()</script>")
                    browser.go(f"http://{host}:{server.server_port}/")
                    port = self.proxy.origin.rsplit(":", 1)[1]
                    browser.until(lambda: browser.run("return location.port") == port, 5)
                    state = relay.campaign(self.campaign)["state"]
                    self.same(state, "running", f"a form of {host} to {path} with {list(fields)}")
        # A link of another site leads to the page, and leaves the session of the open pages as it is.
        Site.page = f"<a href='{self.proxy.origin}/'>there</a>"
        browser.go(f"http://localhost:{server.server_port}/")
        browser.follow(browser.link("there"))
        self.shows("proxy:ada")
        names = [session["name"] for session in relay.control("GET", "/v1/sessions")["items"]]
        self.same(names.count("proxy:ada"), 1, "sessions of ada")
