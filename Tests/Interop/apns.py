# SPDX-License-Identifier: Apache-2.0
"""aioapns, which many back ends push with, pushes to simulate-apns; a bad topic is refused as Apple refuses it."""
import asyncio
import os
import ssl

import aioapns
from aioapns import APNs, NotificationRequest, PushType

folder, port = os.environ["FOLDER"], int(os.environ["APNS_PORT"])
aioapns.connection.APNsProductionClientProtocol.APNS_SERVER = "127.0.0.1"
aioapns.connection.APNsProductionClientProtocol.APNS_PORT = port


async def push(topic):
    context = ssl.create_default_context(cafile=f"{folder}/apns-ca.pem")
    client = APNs(
        key=open(f"{folder}/key.p8").read(), key_id="FGHIJ67890", team_id="ABCDE12345", topic=topic, use_sandbox=False,
        ssl_context=context)
    request = NotificationRequest(
        device_token="a" * 64, message={"aps": {"alert": "A new version is required."}}, push_type=PushType.ALERT)
    return await client.send_notification(request)


async def main():
    good = await push("com.example.app")
    assert good.is_successful, (good.status, good.description)
    bad = await push("com.example.nobody")
    assert not bad.is_successful and bad.description in ("TopicDisallowed", "BadTopic"), (bad.status, bad.description)
    print(f"one accepted, one refused with {bad.description}")


asyncio.run(main())
