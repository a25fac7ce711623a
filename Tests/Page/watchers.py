# SPDX-License-Identifier: Apache-2.0
"""What those who watch cost: pushes a second, CPU and memory of a relay without and with 1,000 readers of /v1/events.

usage: RELAY_BINARY=.build/release/upgrade-relay python3 Tests/Page/watchers.py [WATCHERS]
The campaign goes as fast as it can, to a simulator of its own; both share the machine with the readers.
"""

import asyncio
import os
import resource
import sys
import tempfile
import time

from stage import Relay, Simulator

WATCHERS = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
DEVICES = int(os.environ.get("WATCHED_DEVICES", 150_000))
resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),) * 2)


def usage(process):
    """Seconds of CPU, and kB of memory."""
    fields = open(f"/proc/{process.pid}/stat").read().rsplit(")", 1)[1].split()
    resident = int(open(f"/proc/{process.pid}/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), resident


async def watch(relay, token, count, job):
    """`job` in a thread, while so many read."""
    seen = {"events": 0, "bytes": 0, "open": 0, "refused": 0}

    async def reader():
        # One that is refused comes again, as a browser does.
        while True:
            stream, writer = await asyncio.open_connection("127.0.0.1", relay.port)
            try:
                writer.write(f"GET /v1/events HTTP/1.1\r\nHost: relay\r\nAuthorization: Bearer {token}\r\n\r\n".encode())
                if b" 200 " in await stream.readline():
                    seen["open"] += 1
                    while piece := await stream.read(65536):
                        seen["bytes"] += len(piece)
                        seen["events"] += piece.count(b"event: ")
                    seen["open"] -= 1
                seen["refused"] += 1
            except OSError:
                seen["refused"] += 1
            finally:
                writer.close()
            await asyncio.sleep(2)

    tasks = [asyncio.create_task(reader()) for _ in range(count)]
    end = time.monotonic() + 60
    while seen["open"] < count and time.monotonic() < end:
        await asyncio.sleep(0.05)
    results = await asyncio.to_thread(job)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return results, seen


def measure(count):
    simulator = Simulator(tempfile.mkdtemp(prefix="page-apns-"))
    relay = Relay(simulator, {"com.example.app": "$apns"})
    try:
        token = relay.token("watcher", ["status"])
        for n in range(0, DEVICES, 10_000):
            lines = "\n".join(f'{{"token":"{n + k:064x}","telephone":"1{n + k:010}","version":"1.0.0"}}' for k in range(10_000))
            relay.control("POST", "/v1/apps/com.example.app/ios/devices", lines + "\n")

        def idle():
            time.sleep(2)
            cpu, _ = usage(relay.process)
            time.sleep(10)
            after, memory = usage(relay.process)
            return (after - cpu) / 10, memory

        def campaign():
            cpu, _ = usage(relay.process)
            begin = time.monotonic()
            id = relay.raise_version("com.example.app", required="2.0.0")
            while relay.campaign(id)["state"] != "completed":
                time.sleep(0.1)
            took = time.monotonic() - begin
            after, memory = usage(relay.process)
            return took, after - cpu, memory

        ((idle_cpu, memory), (took, cpu, busy)), seen = asyncio.run(watch(relay, token, count, lambda: (idle(), campaign())))
        print(f"{count} watchers: idle {idle_cpu * 100:.1f} % of a core, {memory / 1024:.0f} MiB; {DEVICES / took:.0f} pushes/s, "
              f"{cpu:.1f} s of CPU, {busy / 1024:.0f} MiB; {seen['events']} events, {seen['bytes'] / 1e6:.1f} MB were read; "
              f"{seen['refused']} came again", flush=True)
    finally:
        relay.clear()
        simulator.stop()


for count in [0, WATCHERS, 0, WATCHERS]:
    measure(count)
