# SPDX-License-Identifier: Apache-2.0
"""firebase-admin, Google's own library, asks simulate-fcm for an access token and sends, both over HTTP/1.1."""
import os

folder, port = os.environ["FOLDER"], os.environ["FCM_PORT"]
os.environ["REQUESTS_CA_BUNDLE"] = os.environ["SSL_CERT_FILE"] = f"{folder}/fcm-ca.pem"

import firebase_admin  # noqa: E402
from firebase_admin import credentials, messaging  # noqa: E402

# The only thing that is not as with Google: where it is.
messaging._MessagingService.FCM_URL = f"https://127.0.0.1:{port}/v1/projects/{{0}}/messages:send"
firebase_admin.initialize_app(credentials.Certificate(f"{folder}/account.json"))


def message(token):
    return messaging.Message(
        token=token, data={"page": '{"type":"needUpgrade"}'},
        android=messaging.AndroidConfig(priority="high", collapse_key="upgrade", ttl=3600))


accepted, dead = 0, 0
for number in range(60):
    try:
        name = messaging.send(message(f"phone-{number}:APA91b{number:040}"))
        assert name.startswith("projects/upgrade-relay-demo/messages/0:"), name
        accepted += 1
    except messaging.UnregisteredError:
        dead += 1
assert accepted > 0 and dead > 0 and accepted + dead == 60, (accepted, dead)
assert messaging.send(message("dry:APA91b" + "0" * 40), dry_run=True).endswith("/fake_message_id")
batch = messaging.send_each([message(f"batch-{n}:APA91b{n:040}") for n in range(20)])
assert batch.success_count + batch.failure_count == 20 and batch.success_count > 0, batch
print(f"{accepted} sent, {dead} unregistered, {batch.success_count} of 20 in a batch, one dry run")
