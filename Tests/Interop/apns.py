# SPDX-License-Identifier: Apache-2.0
"""aioapns, which many back ends push with, pushes to simulate-apns; a bad topic is refused as Apple refuses it.

PUSHES=20000 in the environment: it sends so many more, 500 at a time, and says how fast and at what cost. The figure in
etc/COMPARISON.md.
"""
import asyncio
import os
import ssl
import time

import aioapns
from aioapns import APNs, NotificationRequest, PushType

folder, port = os.environ["FOLDER"], int(os.environ["APNS_PORT"])
aioapns.connection.APNsProductionClientProtocol.APNS_SERVER = "127.0.0.1"
aioapns.connection.APNsProductionClientProtocol.APNS_PORT = port


def sender(topic):
    context = ssl.create_default_context(cafile=f"{folder}/apns-ca.pem")
    return APNs(
        key=open(f"{folder}/key.p8").read(), key_id="FGHIJ67890", team_id="ABCDE12345", topic=topic, use_sandbox=False,
        ssl_context=context)


def request(token="a" * 64):
    return NotificationRequest(
        device_token=token, message={"aps": {"alert": "A new version is required."}}, push_type=PushType.ALERT)


async def push(topic):
    return await sender(topic).send_notification(request())


async def measure(count):
    client = sender("com.example.app")
    await client.send_notification(request())
    begin, cpu = time.monotonic(), time.process_time()
    for start in range(0, count, 500):
        sent = [client.send_notification(request(f"{n:064x}")) for n in range(start, min(start + 500, count))]
        answers = await asyncio.gather(*sent)
        assert all(answer.is_successful for answer in answers)
    seconds, cpu = time.monotonic() - begin, time.process_time() - cpu
    return f"; {count} pushes: {count / seconds:.0f} a second, {cpu / count * 1e6:.0f} µs of CPU each"


async def main():
    good = await push("com.example.app")
    assert good.is_successful, (good.status, good.description)
    bad = await push("com.example.nobody")
    assert not bad.is_successful and bad.description in ("TopicDisallowed", "BadTopic"), (bad.status, bad.description)
    figure = await measure(int(os.environ["PUSHES"])) if "PUSHES" in os.environ else ""
    print(f"one accepted, one refused with {bad.description}{figure}")


asyncio.run(main())
