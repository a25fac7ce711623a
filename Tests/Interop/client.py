# SPDX-License-Identifier: Apache-2.0
"""A client that openapi-python-client makes of openapi.json, without one warning, does a back end's whole job."""
import os
import subprocess
import sys
import time

folder, root = os.environ["FOLDER"], os.environ["ROOT"]
made = subprocess.run(
    ["openapi-python-client", "generate", "--path", f"{root}/Sources/C/COpenAPI/openapi.json", "--meta", "none",
     "--output-path", f"{folder}/relay_client", "--config", f"{root}/Tests/Interop/client.yaml"],
    capture_output=True, text=True)
words = made.stdout + made.stderr
# Its formatter, which nobody needs here, may be missing.
said = [line for line in words.splitlines() if "WARNING" in line or "Unable" in line or "Warning" in line]
assert made.returncode == 0 and not said, words

sys.path.insert(0, folder)
from relay_client import AuthenticatedClient  # noqa: E402
from relay_client.api.campaigns import get_campaign  # noqa: E402
from relay_client.api.devices import get_device, register_device  # noqa: E402
from relay_client.api.versions import bump_version, get_version  # noqa: E402
from relay_client.models import Bump, DeviceRegistration  # noqa: E402
from relay_client.models import BumpVersionPlatform, GetDevicePlatform, GetVersionPlatform, RegisterDevicePlatform  # noqa: E402

client = AuthenticatedClient(base_url=os.environ["RELAY"], token=os.environ["RELAY_TOKEN"], raise_on_unexpected_status=True)
app, tokens = "com.example.app", [f"{n:064x}" for n in range(1, 6)]
for n, token in enumerate(tokens):
    answer = register_device.sync_detailed(
        app, RegisterDevicePlatform.IOS, token, client=client,
        body=DeviceRegistration(telephone=f"1380013800{n}", version="1.0.0"))
    assert answer.status_code in (200, 201, 204), answer
device = get_device.sync(app, GetDevicePlatform.IOS, tokens[0], client=client)
assert device.telephone == "13800138000" and device.version == "1.0.0", device
raised = bump_version.sync(app, BumpVersionPlatform.IOS, client=client, body=Bump(required="2.0.0", confirm=True))
campaign = raised.campaign.id
for _ in range(600):
    status = get_campaign.sync(campaign, client=client)
    if status.state == "completed":
        break
    time.sleep(0.05)
assert status.state == "completed" and status.counts.accepted == len(tokens), status
assert get_version.sync(app, GetVersionPlatform.IOS, client=client).required == "2.0.0"
print(f"{len(tokens)} devices registered, one campaign, {status.counts.accepted} accepted; no warning of the generator")
