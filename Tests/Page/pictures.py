# SPDX-License-Identifier: Apache-2.0
"""Makes the pictures of the README anew, etc/page-light.png and etc/page-dark.png: a campaign as it runs, after some five minutes.

usage: RELAY_BINARY=.build/debug/upgrade-relay .build/page-tests/bin/python Tests/Page/pictures.py FOLDER     wants pillow beside the rest
"""

import pathlib
import random
import sys
import tempfile
import time

from PIL import Image

from browser import Browser
from stage import Relay, Simulator

APP = "com.example.app"
folder = pathlib.Path(sys.argv[1])
random.seed(1)
simulator = Simulator(tempfile.mkdtemp(prefix="page-apns-"), "--dead-share", "2%", "--bad-share", "1%")
relay = Relay(simulator, {APP: '$apns, pace: { ratePerSecond: 15, waves: [10, 40, 100], betweenWaves: { pause: "15s" } }'})
relay.devices(APP, 6000)
id = relay.raise_version(APP, required="2.0.0", message="A new version is required.")
# Whoever has got a push upgrades sooner or later.
users = {device["token"]: device.get("telephone") for device in relay.registry(APP)}
upgraded = set()
end = time.monotonic() + 280
while time.monotonic() < end:
    cursor = ""
    while cursor is not None:
        page = relay.control("GET", f"/v1/campaigns/{id}/deliveries?state=accepted&limit=1000{cursor}")
        for push in page["items"]:
            token = push["token"]
            if token not in upgraded and random.random() < 0.05:
                upgraded.add(token)
                relay.register(APP, token, telephone=users[token], version="2.0.0")
        cursor = f"&cursor={page['next']}" if page.get("next") else None
    time.sleep(5)
browser = Browser()
try:
    browser.sign_in(relay, relay.token("release-desk"))
    browser.cdp("Emulation.setTimezoneOverride", timezoneId="Asia/Shanghai")
    browser.go(f"{relay.origin}/page/campaigns/{id}")
    time.sleep(3)
    browser.size(1440, browser.run("return Math.ceil(document.querySelector('footer').getBoundingClientRect().top + scrollY)"))
    for scheme in ["light", "dark"]:
        browser.media(scheme)
        time.sleep(0.5)
        file = folder / f"page-{scheme}.png"
        browser.driver.save_screenshot(str(file))
        Image.open(file).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(file, optimize=True)
        print(file, file.stat().st_size)
finally:
    browser.quit()
    relay.clear()
    simulator.stop()
