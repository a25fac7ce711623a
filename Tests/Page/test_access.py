# SPDX-License-Identifier: Apache-2.0
"""Who gets in, what they see, and what other sites can do."""

import http.server
import threading
import urllib.parse

from browser import By
from case import PageCase
from stage import telephone


class Sessions(PageCase):
    def test_token(self):
        relay, browser = self.relay, self.browser
        browser.go(relay.origin + "/")
        self.shows("Sign in")
        self.hides("com.example.app")
        self.same(browser.one("input[name=token]").get_attribute("type"), "password", "nobody reads the token over a shoulder")
        browser.sign_in(relay, "urt_wrong")
        self.shows("This API token is unknown or revoked.")
        self.hides("com.example.app")
        browser.sign_in(relay, self.everything)
        self.shows("com.example.app")
        self.shows("everything")
        cookies = browser.cdp("Network.getCookies", urls=[relay.origin + "/"])["cookies"]
        session = next(cookie for cookie in cookies if cookie["name"].endswith("session"))
        self.same((session["httpOnly"], session.get("sameSite")), (True, "Strict"), "the cookie")
        self.check(self.everything not in session["value"], "the cookie is not the token")
        self.check(self.everything not in browser.driver.page_source, "the token is not in the page")
        self.same(browser.run("return document.cookie"), "", "what scripts see of cookies")
        browser.follow(browser.driver.find_element(By.XPATH, "//button[.='Sign out']"))
        self.check(browser.until(lambda: browser.has("input[name=token]")), "who signed out is asked to sign in")
        header = f"{session['name']}={session['value']}"
        self.same(relay.ask("GET", "/v1/apps", headers={"Cookie": header}).status, 401, "the old cookie")

    def test_link(self):
        relay, browser = self.relay, self.browser
        link = relay.link()
        for method in ("HEAD", "GET"):
            self.same(relay.ask(method, link).status, 200, f"{method} looks at a link and does not use it up")
        browser.use(relay.origin + link)
        self.shows("com.example.app")
        self.same(browser.path, "/", "the secret does not stay in the address")
        self.check(browser.has("nav a[href='/page/tokens']"), "an operator sees the tokens")
        browser.clean()
        browser.go(relay.origin + link)
        self.shows("This link was used before")
        self.hides("com.example.app")
        browser.go(relay.origin + "/page/enter/none")
        self.shows("This link was used before")

    def test_command(self):
        """What `upgrade-relay page` prints."""
        relay, browser = self.relay, self.browser
        said = relay.command("page")
        address = next((word for word in said.stdout.split() if "/page/enter/" in word), None)
        if not self.check(address, f"the command prints a link: {said.stdout} {said.stderr}"):
            return
        browser.use(address)
        self.shows("com.example.app")

    def test_revoked(self):
        relay, browser = self.relay, self.browser
        browser.sign_in(relay, relay.token("short"))
        self.shows("com.example.app")
        self.check(browser.until(lambda: not browser.one("#connection").is_displayed()), "all is well")
        relay.control("DELETE", "/v1/tokens/short")
        self.shows("You are signed out", 30)
        browser.driver.refresh()
        self.check(browser.until(lambda: browser.has("input[name=token]")), "who is signed out is asked to sign in")

    def test_two_tabs(self):
        relay, browser = self.relay, self.browser
        browser.sign_in(relay, self.everything)
        self.shows("com.example.app")
        first = browser.driver.current_window_handle
        browser.driver.switch_to.new_window("tab")
        second = browser.driver.current_window_handle
        browser.go(relay.origin + "/page/campaigns")
        self.shows("Campaigns")
        browser.follow(browser.driver.find_element(By.XPATH, "//button[.='Sign out']"))
        self.check(browser.until(lambda: browser.has("input[name=token]")), "signed out in one tab")
        browser.driver.switch_to.window(first)
        self.shows("You are signed out", 30)
        browser.follow(browser.link("Devices"))
        self.check(browser.until(lambda: browser.has("input[name=token]")), "the other tab asks to sign in")
        browser.driver.switch_to.window(second)
        browser.sign_in(relay, self.everything)
        self.shows("com.example.app")

    def test_back(self):
        relay, browser = self.relay, self.browser
        browser.sign_in(relay, self.everything)
        browser.follow(browser.link("Campaigns"))
        browser.follow(browser.link("Devices"))
        browser.driver.back()
        self.check(browser.until(lambda: browser.path == "/page/campaigns"), "back is the page before")
        self.same(browser.one("h1").text, "Campaigns", "its title")
        browser.follow(browser.driver.find_element(By.XPATH, "//button[.='Sign out']"))
        self.check(browser.until(lambda: browser.has("input[name=token]")), "signed out")
        browser.driver.back()
        # What is kept by the browser must not be shown to whoever comes next.
        self.check(browser.until(lambda: browser.has("input[name=token]") or "signed out" in browser.text),
                   f"back after signing out: {browser.text[:300]!r}")


class Rights(PageCase):
    apps = {"com.example.app": "$apns", "com.example.secret": "$lost"}

    @classmethod
    def prepare(cls):
        cls.relay.devices("com.example.app", 50)
        cls.relay.devices("com.example.secret", 50)
        cls.campaign = cls.relay.raise_version("com.example.app", required="2.0.0")
        cls.relay.wait_for(cls.campaign, "completed")
        cls.secret = cls.relay.raise_version("com.example.secret", required="2.0.0")
        cls.reader = cls.relay.token("reader", ["status"])
        cls.team = cls.relay.token("team", None, ["com.example.app"])
        cls.support = cls.relay.token("support", ["devices"])

    def refused(self, path, status=403):
        self.browser.go(self.relay.origin + path)
        found = self.browser.run("return performance.getEntriesByType('navigation')[0].responseStatus")
        self.same(found, status, f"the answer to {path}")
        self.check(not self.browser.has("main form"), f"{path} has no form")

    def test_status_alone(self):
        relay, browser = self.relay, self.browser
        browser.sign_in(relay, self.reader)
        self.shows("com.example.app")
        for place in ["/page/users", "/page/devices", "/page/tokens"]:
            self.check(not browser.has(f"nav a[href='{place}']"), f"{place} is not offered")
            self.refused(place)
        browser.go(f"{relay.origin}/page/campaigns/{self.campaign}")
        self.check(not browser.has("ul.actions"), "no action is offered")
        for action in ["pause", "resume", "release", "retry", "cancel"]:
            self.refused(f"/page/campaigns/{self.campaign}/{action}")
        browser.go(f"{relay.origin}/page/apps/com.example.app/ios")
        self.check(not browser.has("ul.actions"), "no action on versions is offered")
        for action in ["raise", "withdraw", "release"]:
            self.refused(f"/page/apps/com.example.app/ios/{action}")
        browser.go(f"{relay.origin}/page/deliveries?campaign={self.campaign}")
        self.check(browser.all("tbody tr"), "deliveries are shown")
        for n in range(1000, 1050):
            if telephone(n) in browser.driver.page_source:
                self.check(False, f"a phone number is shown: {telephone(n)}")
        self.check("users" in browser.go(relay.origin + "/page/devices").text, "the refusal names the scope")
        # A form that this page never offered.
        session = browser.cookie(relay, self.reader)
        done = browser.run(
            "return fetch(arguments[0], {method: 'POST', body: new URLSearchParams({formToken: arguments[1]})}).then((r) => r.status)",
            f"/page/campaigns/{self.campaign}/retry", session["formToken"])
        self.same(done, 403, "a form by hand")

    def test_one_app(self):
        relay, browser = self.relay, self.browser
        browser.sign_in(relay, self.team)
        self.shows("com.example.app")
        for path in ["/", "/page/campaigns", "/page/devices", "/page/deliveries", "/page/audit",
                     f"/page/users?telephone={telephone(1004)}"]:
            browser.go(relay.origin + path)
            self.check("com.example.secret" not in browser.driver.page_source, f"{path} shows nothing of the other app")
        for path in ["/page/apps/com.example.secret/ios", "/page/apps/com.example.secret/ios/raise",
                     f"/page/campaigns/{self.secret}", f"/page/campaigns/{self.secret}/pause",
                     f"/v1/campaigns/{self.secret}/report", f"/page/deliveries?campaign={self.secret}"]:
            browser.go(relay.origin + path)
            found = browser.run("return performance.getEntriesByType('navigation')[0].responseStatus")
            self.check(found in (403, 404), f"{path} is refused: {found}")
            self.check("pending" not in browser.text.lower(), f"{path} shows nothing")
        events = browser.run(
            "const r = await fetch('/v1/events'); const reader = r.body.getReader(); let text = '';"
            "const end = Date.now() + 2500; while (Date.now() < end) { const piece = await Promise.race([reader.read(),"
            "new Promise((go) => setTimeout(() => go(null), 500))]); if (piece && piece.value)"
            "text += new TextDecoder().decode(piece.value); } reader.cancel(); return text;")
        self.check("com.example.app" in events, "the stream tells of the app")
        self.check("com.example.secret" not in events, "the stream tells nothing of the other app")

    def test_devices_alone(self):
        relay, browser = self.relay, self.browser
        browser.sign_in(relay, self.support)
        self.check(not browser.has("a[href^='/page/campaigns']"), "no campaign is offered")
        self.refused("/page/campaigns")
        browser.go(relay.origin + f"/page/users?telephone={telephone(1004)}")
        self.shows("com.example.app")

    def test_signed_out(self):
        for path in ["/", "/page/campaigns", f"/page/campaigns/{self.campaign}", "/page/users", "/page/devices", "/page/tokens",
                     "/page/deliveries", "/page/audit", "/page/apps/com.example.app/ios", "/page/nothing"]:
            answer = self.relay.ask("GET", path, headers={"Accept": "text/html"})
            self.check(answer.status in (401, 404), f"{path} without a session: {answer.status}")
            self.check("com.example" not in answer.text, f"{path} without a session has no data")


class OtherSites(PageCase):
    """A page of another origin: the same host, another port, and another name for it."""

    apps = {"com.example.app": "$apns, pace: { ratePerSecond: 1 }"}

    @classmethod
    def prepare(cls):
        cls.relay.devices("com.example.app", 200)
        cls.campaign = cls.relay.raise_version("com.example.app", required="2.0.0")
        cls.relay.wait_for(cls.campaign, "running")

        class Site(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                body = Site.page.encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        Site.page = ""
        cls.site = Site
        cls.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()
        cls.addClassCleanup(cls.server.shutdown)

    def attempt(self, host, path, fields, what):
        """A page elsewhere whose form is sent by itself."""
        inputs = "".join(f"<input name='{name}' value='{value}'>" for name, value in fields.items())
        self.site.page = (f"<form id=f method=post action='{self.relay.origin}{path}'>{inputs}</form>"
                          "<script>document.getElementById('f').submit()</script>")
        self.browser.go(f"http://{host}:{self.server.server_port}/")
        self.browser.until(lambda: self.browser.run("return location.port") == str(self.relay.port), 5)
        self.same(self.relay.campaign(self.campaign)["state"], "running", f"{what} changes nothing")

    def test_forms(self):
        browser, relay = self.browser, self.relay
        for host in ["127.0.0.1", "localhost"]:
            browser.clean()
            session = browser.cookie(relay, self.everything)
            path = f"/page/campaigns/{self.campaign}/pause"
            self.attempt(host, path, {}, f"a form of {host} without a form token")
            # Even one that has somehow learnt the token.
            self.attempt(host, path, {"formToken": session["formToken"]}, f"a form of {host} with the form token")
            self.attempt(host, f"/v1/campaigns/{self.campaign}/pause", {}, f"a form of {host} to the API")
            # To be signed in as somebody else would be as bad.
            browser.clean()
            self.attempt(host, "/page/session", {"token": self.everything}, f"signing in from {host}")
            cookies = browser.cdp("Network.getCookies", urls=[relay.origin + "/"])["cookies"]
            self.check(not [one for one in cookies if one["name"].endswith("session")], f"{host} signs nobody in")

    def test_fetch(self):
        browser, relay = self.browser, self.relay
        for host in ["127.0.0.1", "localhost"]:
            browser.clean()
            session = browser.cookie(relay, self.everything)
            self.site.page = "<title>elsewhere</title>"
            browser.go(f"http://{host}:{self.server.server_port}/")
            script = """
                const [origin, id, token] = arguments, results = [];
                const attempt = async (path, options) => {
                  try { const r = await fetch(origin + path, {credentials: 'include', ...options}); results.push(r.type + r.status + (await r.text())); }
                  catch (error) { results.push('refused'); }
                };
                await attempt('/', {});
                await attempt('/v1/apps', {});
                await attempt('/v1/events', {});
                await attempt(`/page/campaigns/${id}/pause`, {method: 'POST', body: new URLSearchParams({formToken: token})});
                await attempt(`/page/campaigns/${id}/pause`, {method: 'POST', mode: 'no-cors', body: new URLSearchParams({formToken: token})});
                await attempt(`/v1/campaigns/${id}/pause`, {method: 'POST', headers: {'X-Form-Token': token}});
                await attempt(`/v1/campaigns/${id}/pause`, {method: 'POST', mode: 'no-cors'});
                return results;"""
            found = browser.run(script, relay.origin, self.campaign, session["formToken"])
            for n, result in enumerate(found):
                self.check(result in ("refused", "opaque0"), f"fetch {n} of {host} reads nothing: {result[:100]}")
            self.same(relay.campaign(self.campaign)["state"], "running", f"after what {host} fetched")

    def test_frame(self):
        browser, relay = self.browser, self.relay
        for host in ["127.0.0.1", "localhost"]:
            browser.clean()
            browser.cookie(relay, self.everything)
            browser.log()
            self.site.page = f"<iframe src='{relay.origin}/'></iframe><object data='{relay.origin}/'></object>"
            browser.go(f"http://{host}:{self.server.server_port}/")
            self.check(browser.until(lambda: any("frame-ancestors" in line or "ERR_BLOCKED" in line for line in browser.log())),
                       f"{host} cannot frame the page")
            browser.driver.switch_to.frame(browser.one("iframe"))
            self.check("com.example" not in browser.text, "nothing is in the frame")
            browser.driver.switch_to.default_content()

    def test_link_from_elsewhere(self):
        """A Strict cookie is not sent with a click on another site's link; the page asks to sign in, and the link for operators works."""
        browser, relay = self.browser, self.relay
        self.site.page = f"<a href='{relay.origin}{relay.link()}'>enter</a>"
        browser.go(f"http://localhost:{self.server.server_port}/")
        browser.follow(browser.link("enter"))
        browser.take_link()
        self.shows("com.example.app")

    def test_headers(self):
        for path in ["/", "/page/campaigns", "/page/nothing"]:
            headers = self.relay.ask("GET", path).headers
            if path == "/page/nothing":
                continue
            policy = headers["Content-Security-Policy"]
            for rule in ["default-src 'none'", "frame-ancestors 'none'", "form-action 'self'", "base-uri 'none'",
                         "require-trusted-types-for 'script'"]:
                self.check(rule in policy, f"{path}: {rule}")
            self.check("unsafe" not in policy, f"{path}: nothing unsafe")
            self.same(headers["X-Content-Type-Options"], "nosniff", path)
            self.same(headers["Cache-Control"], "no-store", path)
        # A redirection leads nowhere else, whatever is asked.
        for path in ["//example.org/", "/page/language/en?to=//example.org"]:
            location = self.relay.ask("GET", path).headers["Location"] or "/"
            self.check(not urllib.parse.urlparse(location).netloc, f"{path} leads to {location}")
