# SPDX-License-Identifier: Apache-2.0
"""A relay with apps in every state, and every view of it."""

import datetime
import time

from stage import telephone, wait_until

APPS = {
    "com.example.quiet": "$apns",
    "com.example.running": "$apns, pace: { ratePerSecond: 3 }",
    "com.example.waves": '$apns, pace: { waves: [10, 50, 100], betweenWaves: { pause: "1h" } }',
    "com.example.suspended": "$refused",
    "com.example.lost": "$lost",
    "com.example.later": "$apns",
    "com.example.blocked": "$apns, pace: { ratePerSecond: 3 }",
    "com.example.new": "$apns",
}


def upgrade(relay, app, share):
    """So many of a hundred who got a push have the version now."""
    for n, device in enumerate(relay.registry(app)):
        if device.get("telephone") and n % 100 < share:
            relay.register(app, device["token"], telephone=device["telephone"], version="2.0.0")


def prepare(relay):
    """Their campaigns by the app's last name."""
    for app in APPS:
        if app != "com.example.new":
            relay.devices(app, 2400 if app.endswith("running") else 600)
    found = {"quiet": relay.raise_version("com.example.quiet", required="2.0.0", latest="2.1.0")}
    relay.wait_for(found["quiet"], "completed")
    for name in ["running", "waves", "suspended", "lost"]:
        found[name] = relay.raise_version(f"com.example.{name}", required="2.0.0", message="A new version is required.")
    day = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=20)
    found["later"] = relay.raise_version("com.example.later", required="2.0.0", requiredFrom=day.isoformat(timespec="seconds"))
    relay.control("PUT", "/v1/apps/com.example.blocked/ios/version", {"blocked": ["1.9.0"], "latest": "2.1.0", "confirm": True})
    relay.wait_for(found["suspended"], "suspended")
    wait_until(lambda: (relay.campaign(found["waves"])["wave"] or {}).get("endedAt"), "the first wave is through")
    upgrade(relay, "com.example.quiet", 60)
    for share in [2, 4, 6]:
        upgrade(relay, "com.example.running", share)
        time.sleep(1)
    relay.token("ci", ["versions"], ["com.example.running"])
    relay.token("old", ["status"])
    relay.control("DELETE", "/v1/tokens/old")
    return found


def views(campaigns):
    """By name: path, and what a person who goes there by GET must do to see it, as fields of the form that is sent then."""
    app = "/page/apps/com.example.running/ios"
    user = telephone(1004)
    return {
        "overview": ("/", None),
        "campaigns": ("/page/campaigns", None),
        "campaign": (f"/page/campaigns/{campaigns['running']}", None),
        "campaign-done": (f"/page/campaigns/{campaigns['quiet']}", None),
        "campaign-waves": (f"/page/campaigns/{campaigns['waves']}", None),
        "campaign-trouble": (f"/page/campaigns/{campaigns['suspended']}", None),
        "pause": (f"/page/campaigns/{campaigns['running']}/pause", None),
        "cancel": (f"/page/campaigns/{campaigns['running']}/cancel", None),
        "cancel-fault": (f"/page/campaigns/{campaigns['running']}/cancel", {"app": "wrong"}),
        "app": (app, None),
        "app-blocked": ("/page/apps/com.example.blocked/ios", None),
        "raise": (app + "/raise", None),
        "raise-fault": (app + "/raise", {"required": "two"}),
        "plan": (app + "/raise", {"required": "3.0.0"}),
        "withdraw": (app + "/withdraw", None),
        "users": ("/page/users", None),
        "user": (f"/page/users?telephone={user}", None),
        "user-unknown": ("/page/users?telephone=1", None),
        "erase": (f"/page/users/erase?telephone={user}", None),
        "devices": ("/page/devices?app=com.example.running&platform=ios", None),
        "deliveries": (f"/page/deliveries?campaign={campaigns['quiet']}", None),
        "tokens": ("/page/tokens", None),
        "revoke": ("/page/tokens/ci/revoke", None),
        "audit": ("/page/audit", None),
        "not-found": ("/page/campaigns/000000000000", None),
    }


def show(browser, relay, view):
    path, fields = view
    browser.go(relay.origin + path)
    if fields is None:
        return
    for name, value in fields.items():
        # The tab keeps what was typed the last time.
        field = browser.one(f"main [name={name}]")
        field.clear()
        field.send_keys(value)
    browser.follow(browser.one("main form button"))
