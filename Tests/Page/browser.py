# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, and what the checks ask of it."""

import json
import os
import pathlib
import time

from selenium import webdriver
from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

import axe_files

PICTURES = pathlib.Path(os.environ.get("PAGE_SCREENSHOTS", ".build/page-screenshots"))
__all__ = ["Browser", "By", "Keys", "PICTURES"]


class Browser:
    def __init__(self):
        options = webdriver.ChromeOptions()
        for argument in ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage",
                         "--no-first-run", "--disable-background-networking", "--disable-component-update", "--lang=en"]:
            options.add_argument(argument)
        options.add_experimental_option("prefs", {"intl.accept_languages": "en"})
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=webdriver.ChromeService("/usr/bin/chromedriver"))
        self.driver.set_page_load_timeout(30)
        self.size(1440, 1000)

    def quit(self):
        self.driver.quit()

    def cdp(self, command, **parameters):
        return self.driver.execute_cdp_cmd(command, parameters)

    def clean(self):
        """As a browser that was never here."""
        for window in self.driver.window_handles[1:]:
            self.driver.switch_to.window(window)
            self.driver.close()
        self.driver.switch_to.window(self.driver.window_handles[0])
        self.cdp("Network.enable")
        self.cdp("Network.clearBrowserCookies")
        self.driver.get("about:blank")
        self.cdp("Emulation.setScriptExecutionDisabled", value=False)
        self.media()
        self.size(1440, 1000)

    # Where it is

    def go(self, address):
        self.driver.get(address)
        return self

    def sign_in(self, relay, token):
        """By the form."""
        self.go(relay.origin + "/")
        self.one("input[name=token]").send_keys(token)
        self.follow(self.one("main button"))
        return self

    def enter(self, relay):
        """By the link for operators."""
        return self.use(relay.origin + relay.link())

    def use(self, address):
        """Opens a link for operators, and signs in: a look alone does not use it up."""
        self.go(address)
        return self.take_link()

    def take_link(self):
        """Signs in where a link for operators leads; also without a script."""
        self.one("main form[action^='/page/enter'] button").click()
        if not self.until(lambda: not self.path.startswith("/page/enter")):
            raise TimeoutError(f"the link does not sign in; this is {self.path}")
        return self

    def cookie(self, relay, token):
        """With a session, without a page."""
        answer = relay.ask("POST", "/v1/session", token=token)
        name, value = answer.headers["Set-Cookie"].split(";")[0].split("=", 1)
        self.cdp("Network.setCookie", name=name, value=value, url=relay.origin + "/", httpOnly=True, sameSite="Strict")
        return answer.json

    def speak(self, relay, language):
        self.cdp("Network.setCookie", name="upgrade_relay_language", value=language, url=relay.origin + "/")

    # What it shows

    def one(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def has(self, selector):
        return bool(self.all(selector))

    def follow(self, element):
        """Clicks, and waits for the page that comes of it."""
        self.run("window.isOld = true")
        element.click()
        if not self.until(lambda: self.run("return !window.isOld && document.readyState === 'complete'")):
            raise TimeoutError(f"no page comes of it; this is {self.path}")

    def link(self, text):
        return self.driver.find_element(By.LINK_TEXT, text)

    @property
    def text(self):
        try:
            return self.one("body").text
        except (NoSuchElementException, StaleElementReferenceException):
            return ""

    @property
    def path(self):
        return self.run("return location.pathname + location.search")

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def until(self, look, seconds=15):
        """Whether `look` comes true in time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                if look():
                    return True
            except (NoSuchElementException, StaleElementReferenceException):
                pass
            time.sleep(0.1)
        return False

    def says(self, text, seconds=15):
        return self.until(lambda: text in self.text, seconds)

    def press(self, *keys):
        for key in keys:
            webdriver.ActionChains(self.driver).send_keys(key).perform()

    # How it is looked at

    def size(self, width, height=1000, scale=1, mobile=False):
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=mobile)

    def media(self, scheme="light", kind="", **features):
        features = {"prefers-color-scheme": scheme} | {name.replace("_", "-"): value for name, value in features.items()}
        self.cdp("Emulation.setEmulatedMedia", media=kind,
                 features=[{"name": name, "value": value} for name, value in features.items()])

    def is_wider_than_screen(self):
        return self.run("return document.documentElement.scrollWidth > document.documentElement.clientWidth")

    def picture(self, name):
        """The whole page, kept for whoever looks."""
        PICTURES.mkdir(parents=True, exist_ok=True)
        width, height = self.run("return [innerWidth, Math.min(document.documentElement.scrollHeight, 6000)]")
        self.size(width, max(height, 600))
        self.driver.save_screenshot(str(PICTURES / f"{name}.png"))
        self.size(width)

    def axe(self):
        """What axe-core finds. It comes in by DevTools, which no policy of the page forbids."""
        self.cdp("Runtime.evaluate", expression=axe_files.source())
        found = self.cdp("Runtime.evaluate", awaitPromise=True, returnByValue=True, expression=(
            "axe.run(document, {resultTypes: ['violations']}).then((r) => JSON.stringify({"
            "violations: r.violations.map((v) => ({id: v.id, nodes: v.nodes.map((n) => n.html.slice(0, 150) + ' ' "
            "+ n.any.map((a) => a.message).join('; '))})), passes: r.passes.length}))"))
        if "exceptionDetails" in found:
            raise RuntimeError(str(found["exceptionDetails"])[:500])
        return json.loads(found["result"]["value"])

    def log(self):
        """What the console said since the last time."""
        return [f"{entry['level']} {entry['message']}" for entry in self.driver.get_log("browser")]

    def requests(self):
        """The addresses that were asked since the last time."""
        found = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                found.append(message["params"]["request"]["url"])
        return found
