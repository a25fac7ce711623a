# SPDX-License-Identifier: Apache-2.0
"""Texts from elsewhere: they are shown as text, whatever they are made of, and nothing of them runs."""

import pathlib
import sqlite3
import urllib.parse

from case import PageCase

MARK = "window.ran=1"
HOSTILE = [
    f"<script>{MARK}</script>",
    f"\"><img src=x onerror={MARK}>",
    f"' onfocus='{MARK}' autofocus='",
    f"</title></style></textarea><svg onload={MARK}>",
    f"javascript:{MARK}",
    "&lt;b&gt; &amp;amp; &#39; %3Cb%3E",
    "<!-- <![CDATA[ ]]> --!>",
    f"{{{{constructor.constructor('{MARK}')()}}}}",
    "升级 अपग्रेड ترقية שדרג 🧨",
    "long" * 60,
]
CORPUS = pathlib.Path(__file__).parent.parent / "Fuzz" / "Corpus"


class Hostile(PageCase):
    apps = {"com.example.app": "$apns", "com.example.service": "$apns"}

    @classmethod
    def prepare(cls):
        relay = cls.relay
        cls.telephones = []
        for n, text in enumerate(HOSTILE):
            relay.take_in("com.example.app", f"{n + 0xB000:064x}", telephone=text[:60], version="1.0.0")
            cls.telephones.append(text[:60])
        relay.devices("com.example.app", 100)
        cls.campaigns = []
        for n, text in enumerate(HOSTILE):
            address = "https://example.org/" + urllib.parse.quote(text, safe="'&;=!-():/.")[:500]
            cls.campaigns.append(relay.raise_version(
                "com.example.app", required=f"2.{n}.0", message=text, downloadUrl=address))
            relay.wait_for(cls.campaigns[-1], "completed")
        relay.control("POST", "/v1/apps/com.example.app/ios/withdraw", {"required": f"2.{len(HOSTILE) - 1}.0", "reason": HOSTILE[0]})
        relay.control("POST", "/v1/apps/com.example.app/ios/withdraw", {"required": f"2.{len(HOSTILE) - 2}.0", "reason": HOSTILE[1]})

        cls.write_history()

    @classmethod
    def write_history(cls):
        """What came from push services, sockets and tools: into the store by its back door, as no stand-in says such things."""
        cls.relay.stop()
        with sqlite3.connect(f"{cls.relay.folder}/relay.db") as store:
            store.execute("UPDATE campaign SET state = 'cancelled', reason = ? WHERE state = 'superseded'", [HOSTILE[0]])
            campaign = store.execute("SELECT min(campaign_id) FROM campaign_reason").fetchone()[0]
            kind = store.execute("SELECT kind FROM campaign_reason WHERE reason LIKE 'Bad%'").fetchone()[0]
            for text in HOSTILE:
                store.execute("INSERT INTO campaign_reason VALUES (?, ?, ?, 7)", [campaign, kind, text])
            cls.reasons = HOSTILE
            tables = [name for (name,) in store.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE TABLE%'")]
            cls.written = []
            for table in tables:
                for column in [row[1] for row in store.execute(f"PRAGMA table_info({table})") if row[2] == "TEXT"]:
                    for found in ["root (uid 0)", "cli"]:
                        try:
                            changed = store.execute(f"UPDATE {table} SET {column} = ? WHERE {column} = ?", [HOSTILE[1], found])
                        except sqlite3.DatabaseError:
                            # Where only some words are allowed, or none may be changed, there is nothing to be shown.
                            continue
                        if changed.rowcount:
                            cls.written.append(f"{table}.{column}")
        cls.relay.start()

    def setUp(self):
        super().setUp()
        self.browser.enter(self.relay)
        self.browser.log()

    def harmless(self, where):
        """Nothing ran, and nothing became an element."""
        browser = self.browser
        found = browser.run("""return {
            ran: window.ran === 1,
            scripts: [...document.scripts].filter((one) => !one.src.startsWith(location.origin + '/page/assets/')).length,
            elements: document.querySelectorAll('img, iframe, object, embed, base, textarea, body style, form[action^="http"]').length,
            handlers: [...document.querySelectorAll('*')].filter((one) => [...one.attributes].some((a) => a.name.startsWith('on') || a.name === 'autofocus')).length,
            links: [...document.querySelectorAll('a[href], form[action]')].filter((one) => !(one.getAttribute('href') ?? one.getAttribute('action')).match(/^[/#]/)).length,
            hosts: [...document.querySelectorAll('a[href]')].filter((one) => one.origin !== location.origin).length }""")
        self.same(found, {"ran": False, "scripts": 0, "elements": 0, "handlers": 0, "links": 0, "hosts": 0}, f"what became of the texts on {where}")
        policy = [line for line in browser.log() if "Content Security" in line or "TrustedHTML" in line]
        self.same(policy, [], f"what the policy had to stop on {where}")

    def reads(self, text, where):
        """It is there as it is, between whatever white space."""
        found = self.browser.run("return document.body.textContent + [...document.querySelectorAll('input')].map((one) => one.value).join(' ')")
        squeeze = " ".join
        self.check(squeeze(text.split()) in squeeze(found.split()), f"{where} shows {text[:60]!r}")

    def test_stored(self):
        browser, relay = self.browser, self.relay
        paths = ["/", "/page/campaigns", "/page/apps/com.example.app/ios", "/page/apps/com.example.app/ios/raise", "/page/devices",
                 "/page/deliveries", "/page/audit", "/page/apps/com.example.app/ios/withdraw"]
        for language in ["en", "zh"]:
            browser.speak(relay, language)
            for path in paths:
                browser.go(relay.origin + path)
                self.harmless(f"{path} ({language})")
        browser.speak(relay, "en")
        for text, id in zip(HOSTILE, self.campaigns):
            for path in [f"/page/campaigns/{id}", f"/page/deliveries?campaign={id}", f"/v1/campaigns/{id}/report"]:
                if path.startswith("/v1"):
                    # A browser takes it as a download: it is looked at as what it is.
                    report = relay.ask("GET", path, token=self.everything).text
                    self.check(f"<script>{MARK}" not in report and "<img" not in report and "<svg onload" not in report, f"{path}: {text!r}")
                    continue
                browser.go(relay.origin + path)
                self.harmless(path)
                if path.startswith("/page/campaigns"):
                    self.reads(text, path)
                    self.check(not browser.is_wider_than_screen(), f"{path} does not grow with its texts")
        self.check(len(self.written) >= 2, f"hostile actors are in the history: {self.written}")
        browser.go(relay.origin + f"/page/campaigns/{self.campaigns[0]}")
        for reason in self.reasons:
            self.reads(reason, "the reasons")
        browser.size(360)
        self.check(not browser.is_wider_than_screen(), "long texts do not scroll the page sideways on a phone")
        browser.picture("hostile-campaign")

    def test_users(self):
        browser, relay = self.browser, self.relay
        for telephone in self.telephones:
            browser.go(f"{relay.origin}/page/users?telephone={urllib.parse.quote(telephone)}")
            self.harmless(f"the user {telephone!r}")
            self.reads(telephone, "a user")
            link = browser.all("main a.danger")
            if self.check(link, f"the user {telephone!r} is found"):
                browser.follow(link[0])
                self.harmless(f"erasing {telephone!r}")
                self.same(browser.one("main input[name=telephone]").get_attribute("value"), telephone, "who is erased")
        for reason in self.reasons:
            browser.go(f"{relay.origin}/page/deliveries?campaign={self.campaigns[0]}&state=rejected&reason={urllib.parse.quote(reason)}")
            self.harmless(f"the reason {reason!r}")

    def test_sent(self):
        """What is asked for comes back in the answer: in a field, in what is wrong, in a list's filter."""
        browser, relay = self.browser, self.relay
        campaign = self.campaigns[0]
        texts = list(HOSTILE)
        for file in sorted(CORPUS.rglob("*")):
            if file.is_file():
                texts.append(file.read_bytes()[:300].decode(errors="replace"))
        templates = ["/page/users?telephone={}", "/page/users?token={}", "/page/campaigns?app={}", "/page/campaigns?cursor={}",
                     f"/page/deliveries?campaign={campaign}&reason={{}}", "/page/deliveries?campaign={}", "/page/devices?below={}",
                     "/page/users/erase?telephone={}", "/page/campaigns/{}", "/page/apps/{}/ios", "/page/tokens/{}/revoke",
                     "/page/apps/com.example.app/ios/unblock?version={}", "/page/enter/{}", "/page/language/{}", "/{}", "/page/campaigns?{}=1",
                     "/page/campaigns?part={}", "/page/devices?app={}&platform={}"]
        for n, text in enumerate(texts):
            # Each hostile text at every place, each of the corpus at some.
            chosen = templates if n < len(HOSTILE) else [templates[(n + k) % len(templates)] for k in (0, 7)]
            for template in chosen:
                browser.go(relay.origin + template.replace("{}", urllib.parse.quote(text, safe="")))
                self.harmless(f"{template} with {text[:40]!r}")
        for text in HOSTILE:
            browser.go(f"{relay.origin}/page/apps/com.example.app/ios/raise")
            for name in ["required", "latest", "blocked", "minimumOs", "requiredFrom", "downloadUrl", "message", "telephones"]:
                browser.run("document.querySelector(`main [name=${arguments[0]}]`).value = arguments[1]", name, text)
            browser.follow(browser.one("main form button"))
            self.harmless(f"a raise with {text[:40]!r}")
            self.same(browser.one("[name=message]").get_attribute("value"), text, "what was filled in")

    def test_sent_by_api(self):
        """What no form would send: control characters, bytes that are no UTF-8, huge fields, another form's type."""
        cookie = self.relay.ask("POST", "/v1/session", token=self.everything)
        form_token = cookie.json["formToken"]
        headers = {"Cookie": cookie.headers["Set-Cookie"].split(";")[0], "Sec-Fetch-Site": "same-origin",
                   "Content-Type": "application/x-www-form-urlencoded"}
        for body in [b"message=%00%01", b"message=%ff%fe", b"message=\xff", b"message=" + b"a" * 60000, b"required=%E2%80%AE2.0.0",
                     b"message=" + b"%3Cscript%3E", b"formToken=", b"=&=&&&", b"required=2&required=3"]:
            answer = self.relay.ask("POST", "/page/apps/com.example.app/ios/raise", b"formToken=" + form_token.encode() + b"&step=plan&" + body, headers)
            self.check(answer.status in (200, 400, 403, 413, 422), f"{body[:40]}: {answer.status}")
            self.check("<script>" not in answer.text.replace("<script src=", ""), f"{body[:40]} is escaped")
            self.check("\x00" not in answer.text and "\x01" not in answer.text, f"{body[:40]}: no control character is written")
        answer = self.relay.ask("POST", "/page/apps/com.example.app/ios/raise", b"x" * 200_000, headers)
        self.same(answer.status, 413, "a form that is too long")
