# SPDX-License-Identifier: Apache-2.0
"""The library of Standard Webhooks signs what comes in, and verifies what went out."""
import datetime
import json
import os
import time
import urllib.error
import urllib.request

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

webhook = Webhook(os.environ["WEBHOOK_SECRET"])


def send(body, signed=None):
    now = datetime.datetime.now(datetime.timezone.utc)
    text = json.dumps(body)
    headers = {
        "webhook-id": f"msg_{int(now.timestamp() * 1000)}", "webhook-timestamp": str(int(now.timestamp())),
        "content-type": "application/json",
    }
    headers["webhook-signature"] = webhook.sign(headers["webhook-id"], now, signed or text)
    request = urllib.request.Request(
        os.environ["RELAY"] + "/v1/webhooks/version", data=text.encode(), headers=headers, method="POST")
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


body = {"app": "com.example.app", "platform": "ios", "required": "3.0.0", "confirm": True}
assert send(body, signed='{"another":"text"}') == 401
assert send(body) == 202


def received():
    try:
        with open(os.environ["FOLDER"] + "/hooks.ndjson") as lines:
            return [json.loads(line) for line in lines]
    except FileNotFoundError:
        return []


for _ in range(600):
    hooks = received()
    if any("campaign.completed" in hook["body"] and '"3.0.0"' in hook["body"] for hook in hooks):
        break
    time.sleep(0.05)
else:
    raise SystemExit(f"no campaign.completed: {hooks}")
for hook in hooks:
    webhook.verify(hook["body"], hook["headers"])
try:
    webhook.verify(hooks[0]["body"] + " ", hooks[0]["headers"])
    raise SystemExit("a changed body was verified")
except WebhookVerificationError:
    pass
print(f"one webhook taken, one refused, {len(hooks)} verified")
