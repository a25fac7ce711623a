# SPDX-License-Identifier: Apache-2.0
"""Every action of the page, done by a person's way: click, read, confirm."""

import datetime

from browser import By
from case import PageCase
from stage import telephone, wait_until

SLOW = "$apns, pace: { ratePerSecond: 5 }"


class CampaignActions(PageCase):
    apps = {"com.example.slow": SLOW, "com.example.waves": "$apns, pace: { waves: [10, 100], betweenWaves: { pause: \"1h\" } }",
            "com.example.retry": "$apns"}

    @classmethod
    def prepare(cls):
        for app in cls.apps:
            cls.relay.devices(app, 400)

    def press(self, text):
        """The button of a form, as nobody can press another by mistake."""
        self.browser.follow(self.browser.driver.find_element(By.XPATH, f"//main//button[normalize-space()='{text}']"))

    def open(self, id):
        self.browser.go(f"{self.relay.origin}/page/campaigns/{id}")

    def test_pause_resume_cancel(self):
        relay, browser = self.relay, self.browser
        id = relay.raise_version("com.example.slow", required="2.0.0")
        relay.wait_for(id, "running")
        browser.sign_in(relay, self.everything)
        self.open(id)
        browser.follow(browser.link("Pause"))
        self.shows("Nothing more is sent until a person resumes it.")
        self.shows("com.example.slow iOS")
        self.shows("Audience: 400")
        browser.follow(browser.link("Leave it as it is"))
        self.same(relay.campaign(id)["state"], "running", "after it was left as it is")
        browser.follow(browser.link("Pause"))
        self.press("Pause")
        self.check(browser.until(lambda: browser.path == f"/page/campaigns/{id}"), "a pause leads back to the campaign")
        self.same(relay.campaign(id)["state"], "paused", "after the pause")
        self.shows("Paused")
        self.check(not browser.all("a[href$='/pause']"), "what is paused cannot be paused")
        browser.follow(browser.link("Resume"))
        browser.one("input[name=now]").click()
        self.press("Resume")
        relay.wait_for(id, "running")
        self.shows("Running")
        browser.follow(browser.link("Cancel the campaign"))
        browser.one("input[name=app]").send_keys("com.example.wrong")
        self.press("Cancel the campaign")
        self.shows("This is not the name of the app")
        self.same(browser.one("input[name=app]").get_attribute("aria-invalid"), "true", "the field is marked")
        self.check(browser.one("input[name=app]").get_attribute("aria-describedby"), "the fault is told at its field")
        self.same(relay.campaign(id)["state"], "running", "after a wrong name")
        browser.one("input[name=app]").send_keys("com.example.slow")
        self.press("Cancel the campaign")
        self.shows("Cancelled")
        self.same(relay.campaign(id)["state"], "cancelled", "after the right name")
        # A form from another tab, or from before.
        browser.go(f"{relay.origin}/page/campaigns/{id}/pause")
        self.shows("this cannot be done now")
        self.check(not browser.has("main form"), "there is no form for what cannot be done")

    def test_release_wave(self):
        relay, browser = self.relay, self.browser
        id = relay.raise_version("com.example.waves", required="2.0.0")
        wait_until(lambda: (relay.campaign(id)["wave"] or {}).get("endedAt"), "the first wave is through")
        browser.sign_in(relay, self.everything)
        self.open(id)
        self.shows("1 of 2")
        browser.follow(browser.link("Approve"))
        self.press("Approve")
        self.shows("2 of 2")
        relay.wait_for(id, "completed")
        # The page says so by itself.
        self.shows("Completed")

    def test_retry(self):
        relay, browser = self.relay, self.browser
        id = relay.raise_version("com.example.retry", required="2.0.0")
        relay.wait_for(id, "completed")
        rejected = relay.campaign(id)["counts"]["rejected"]
        self.check(rejected > 0, "some were rejected")
        browser.sign_in(relay, self.everything)
        self.open(id)
        browser.follow(browser.link("Retry"))
        self.shows(f"{rejected} device")
        self.press("Retry")
        self.check(browser.until(lambda: browser.path == f"/page/campaigns/{id}"), "a retry leads back to the campaign")
        self.same(len(relay.campaign(id)["rounds"]), 1, "rounds")
        relay.wait_for(id, "completed")


class VersionActions(PageCase):
    apps = {"com.example.app": "$apns", "com.example.held": "$apns", "com.example.taken": "$apns"}

    @classmethod
    def prepare(cls):
        for app in cls.apps:
            cls.relay.devices(app, 100)

    press = CampaignActions.press

    def fill(self, **fields):
        for name, value in fields.items():
            field = self.browser.one(f"[name={name}]")
            field.clear()
            field.send_keys(value)

    def test_raise(self):
        relay, browser = self.relay, self.browser
        browser.sign_in(relay, self.everything)
        browser.follow(browser.driver.find_element(By.PARTIAL_LINK_TEXT, "com.example.app iOS"))
        browser.follow(browser.link("Raise or block a version"))
        # A fault stands at its field, and what was filled in stays.
        self.fill(required="two", latest="2.1.0")
        self.press("Show whom it would reach")
        self.check(browser.until(lambda: browser.has("#field-required-fault")), "a fault stands at its field")
        self.same(browser.one("[name=latest]").get_attribute("value"), "2.1.0", "what was filled in")
        self.same(browser.one("[name=required]").get_attribute("value"), "two", "what was wrong")
        self.fill(required="2.0.0", requiredFrom="tomorrow")
        self.press("Show whom it would reach")
        self.check(browser.until(lambda: browser.has("#field-requiredFrom-fault")), "another fault stands at its field")
        browser.one("[name=requiredFrom]").clear()
        self.press("Show whom it would reach")
        # The dry run.
        self.shows("would be pushed to, of 100")
        self.shows("No phone number is known")
        self.shows("needUpgrade")
        self.same(relay.version("com.example.app").get("required"), None, "after the dry run")
        self.press("Change it")
        self.same(browser.one("[name=required]").get_attribute("value"), "2.0.0", "what is changed")
        self.press("Show whom it would reach")
        self.check(browser.until(lambda: browser.has("button[value=raise]")), "the second step's button")
        button = browser.one("button[value=raise]")
        self.check("devices" in button.text, "the button names how many devices it reaches")
        browser.follow(button)
        self.check(browser.until(lambda: browser.path == "/page/apps/com.example.app/ios"), "it leads to the app")
        self.same(relay.version("com.example.app")["required"], "2.0.0", "after the confirmation")
        # What looks like a typing error wants a word more.
        browser.go(f"{relay.origin}/page/apps/com.example.app/ios/raise")
        self.fill(required="200.0.0")
        self.press("Show whom it would reach")
        self.check(browser.until(lambda: browser.has("[name=confirm]")), "an unknown version wants a confirmation")
        browser.follow(browser.one("button[value=raise]"))
        self.shows("tick this box if it is meant")
        self.same(relay.version("com.example.app")["required"], "2.0.0", "without the confirmation")
        self.check(browser.until(lambda: browser.has("[name=confirm]")), "the confirmation is asked for again")
        browser.one("[name=confirm]").click()
        browser.follow(browser.one("button[value=raise]"))
        self.check(browser.until(lambda: relay.version("com.example.app")["required"] == "200.0.0"), "with it, it is raised")
        # And back.
        browser.go(f"{relay.origin}/page/apps/com.example.app/ios")
        browser.follow(browser.link("Withdraw"))
        self.fill(reason="a typing error", app="com.example.other")
        self.press("Withdraw 200.0.0")
        self.shows("This is not the name of the app")
        self.same(relay.version("com.example.app")["required"], "200.0.0", "after a wrong name")
        self.fill(app="com.example.app", reason="a typing error")
        self.press("Withdraw 200.0.0")
        self.check(browser.until(lambda: relay.version("com.example.app")["required"] == "2.0.0"), "it is withdrawn")
        browser.go(f"{relay.origin}/page/audit")
        self.shows("a typing error")

    def test_block(self):
        relay, browser = self.relay, self.browser
        browser.sign_in(relay, self.everything).go(f"{relay.origin}/page/apps/com.example.taken/ios/raise")
        self.fill(blocked="1.9.0")
        self.press("Show whom it would reach")
        self.check(browser.until(lambda: browser.has("button[value=raise]")), "the dry run of a block")
        browser.follow(browser.one("button[value=raise]"))
        self.check(browser.until(lambda: browser.path == "/page/apps/com.example.taken/ios"), "it leads to the app")
        self.shows("1.9.0 (in force)")
        self.check(relay.version("com.example.taken").get("blocked"), "the version is blocked")
        browser.follow(browser.link("Unblock 1.9.0"))
        self.fill(app="com.example.taken")
        self.press("Unblock 1.9.0")
        self.check(browser.until(lambda: not relay.version("com.example.taken").get("blocked")), "it is unblocked")

    def test_release(self):
        relay, browser = self.relay, self.browser
        tomorrow = (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=1)).isoformat(timespec="seconds")
        id = relay.raise_version("com.example.held", required="2.0.0", requiredFrom=tomorrow)
        browser.sign_in(relay, self.everything)
        self.shows("Held by the gate")
        browser.go(f"{relay.origin}/page/apps/com.example.held/ios")
        self.shows("Opens at")
        browser.follow(browser.link("Approve"))
        self.press("Approve")
        self.check(
            browser.until(lambda: relay.version("com.example.held")["inForce"] == "2.0.0"),
            "it is in force")
        self.check(id is None or relay.campaign(id)["state"] != "waiting", "the campaign waits no longer")


class PeopleActions(PageCase):
    apps = {"com.example.app": "$apns", "com.example.other": "$apns"}

    press = CampaignActions.press
    fill = VersionActions.fill

    @classmethod
    def prepare(cls):
        cls.relay.devices("com.example.app", 50)
        cls.relay.wait_for(cls.relay.raise_version("com.example.app", required="2.0.0"), "completed")

    def test_revoke(self):
        relay, browser = self.relay, self.browser
        token = relay.token("to-be-revoked", ["status"], ["com.example.app"])
        browser.enter(relay)
        browser.follow(browser.link("API tokens"))
        self.shows("to-be-revoked")
        row = browser.driver.find_element(By.XPATH, "//tr[contains(., 'to-be-revoked')]")
        self.check("status" in row.text and "com.example.app" in row.text, "a token's scopes and apps are shown")
        self.check(token not in browser.driver.page_source, "no token is shown")
        browser.follow(row.find_element(By.LINK_TEXT, "Revoke"))
        browser.follow(browser.link("Leave it as it is"))
        self.same(relay.ask("GET", "/v1/apps", token=token).status, 200, "after it was left as it is")
        browser.follow(browser.driver.find_element(By.XPATH, "//tr[contains(., 'to-be-revoked')]//a[.='Revoke']"))
        self.press("Revoke to-be-revoked")
        self.check(browser.until(lambda: relay.ask("GET", "/v1/apps", token=token).status == 401), "the token is refused")
        self.check(not browser.all("tr td a[href*='to-be-revoked']"), "it cannot be revoked twice")

    def test_user(self):
        relay, browser = self.relay, self.browser
        user = telephone(1004)
        browser.sign_in(relay, self.everything)
        browser.follow(browser.link("A user"))
        self.fill(telephone=user)
        self.press("Show")
        self.shows("the push service")
        self.shows("2.0.0 is required")
        browser.follow(browser.link("Erase this user"))
        self.fill(again=telephone(1002))
        self.press("Erase this user")
        self.shows("This is not the same phone number.")
        self.check(relay.control("GET", f"/v1/devices?telephone={user}")["items"], "after a wrong number, all is there")
        self.fill(again=user)
        self.press("Erase this user")
        self.shows("The user is erased")
        self.check(not relay.control("GET", f"/v1/devices?telephone={user}")["items"], "no device is left")
        browser.go(f"{relay.origin}/page/users?telephone={user}")
        self.shows("Nobody is known by this phone number.")
        # By the push token, and by one that nobody has.
        device = relay.control("GET", f"/v1/devices?telephone={telephone(1003)}")["items"][0]
        browser.go(f"{relay.origin}/page/users?token={device['token']}")
        self.shows(telephone(1003))
        browser.go(f"{relay.origin}/page/users?token={'ab' * 32}")
        self.shows("No device has this token.")
