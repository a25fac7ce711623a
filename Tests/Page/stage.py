# SPDX-License-Identifier: Apache-2.0
"""Simulated push services and real relays on loopback, with apps in every state that the page shows."""

import hashlib
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time

BINARY = os.environ["RELAY_BINARY"]
SCOPES = ["status", "versions", "devices", "campaigns"]
TOPIC = "com.example.app"


def wait_until(look, what, seconds=60):
    """What `look` gives as soon as it gives something."""
    end = time.monotonic() + seconds
    while True:
        if found := look():
            return found
        if time.monotonic() > end:
            raise TimeoutError(f"after {seconds} s still not: {what}")
        time.sleep(0.05)


class Simulator:
    """A push service on loopback, "apns" or "fcm". Its port, key and certificate outlive its end."""

    def __init__(self, folder, *options, kind="apns"):
        self.folder, self.kind, self.port = folder, kind, 0
        os.makedirs(folder, exist_ok=True)
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
             "-subj", "/CN=push", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", f"{folder}/server.key",
             "-out", f"{folder}/ca.pem"], check=True, stderr=subprocess.DEVNULL)
        self.begin(*options)

    def begin(self, *options):
        key = f"{self.folder}/key.p8"
        own = {"apns": ["--topic", TOPIC, "--team-id", "ABCDE12345", "--key-id", "FGHIJ67890",
                        "--key" if os.path.exists(key) else "--write-key", key],
               "fcm": ["--account", f"{self.folder}/account.json"]}
        with open(f"{self.folder}/out", "w") as out:
            self.process = subprocess.Popen(
                [BINARY, f"simulate-{self.kind}", "--listen", f"127.0.0.1:{self.port}", *own[self.kind],
                 "--certificate", f"{self.folder}/ca.pem", "--certificate-key", f"{self.folder}/server.key", "--json",
                 *options], stdout=out, stderr=subprocess.DEVNULL)
        self.port = int(wait_until(lambda: re.search(r'"port":(\d+)', self._output()), "the simulator's port")[1])

    def _output(self):
        return open(f"{self.folder}/out").read()

    def end(self):
        """Its figures since it began."""
        self.process.terminate()
        self.process.wait(20)
        return json.loads(self._output().splitlines()[-1])

    def stop(self):
        self.process.kill()
        self.process.wait()


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()

    @property
    def text(self):
        return self.body.decode()

    @property
    def json(self):
        return json.loads(self.body) if self.body else None


class LocalConnection(http.client.HTTPConnection):
    """HTTP over the control socket."""

    def __init__(self, path):
        super().__init__("localhost", timeout=30)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(30)
        self.sock.connect(self.path)


class Relay:
    """One relay with its apps.

    apps: by name what stands beside the download address of its iOS part, as JSON5; "$apns" there is the good service, "$lost" one
    that nobody answers for, "$refused" one that refuses the key.
    listen: further keys of `listen`.
    android, fcm: the same of the Android part of some, where "$fcm" is the service `fcm`.
    store: the store; None: a file of its own.
    """

    def __init__(self, simulator, apps, configuration="", listen="", android={}, fcm=None, store=None):
        self.simulator = simulator
        self.folder = tempfile.mkdtemp(prefix="page-")
        # Bound, and not listening: no other program gets the port before the relay listens on it, nor while it is started again.
        self.held = socket.socket()
        self.held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.held.bind(("127.0.0.1", 0))
        self.port = self.held.getsockname()[1]
        other_key = f"{self.folder}/other.p8"
        subprocess.run(
            ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", other_key],
            check=True, stderr=subprocess.DEVNULL)

        def service(port, key):
            return (f'apns: {{ teamId: "ABCDE12345", keyId: "FGHIJ67890", key: {{ file: "{key}" }}, topic: "{TOPIC}", '
                    f'server: "https://127.0.0.1:{port}", trustedCertificates: "{simulator.folder}/ca.pem" }}')

        services = {"$apns": service(simulator.port, f"{simulator.folder}/key.p8"),
                    "$lost": service(1, f"{simulator.folder}/key.p8"), "$refused": service(simulator.port, other_key)}
        if fcm:
            services["$fcm"] = (f'fcm: {{ serviceAccount: {{ file: "{fcm.folder}/account.json" }}, '
                                f'server: "https://127.0.0.1:{fcm.port}", trustedCertificates: "{fcm.folder}/ca.pem" }}')

        def part(address, more):
            for word, config in services.items():
                more = more.replace(word, config)
            return f'{{ downloadUrl: "{address}", {more} }}'

        text = ""
        for name, more in apps.items():
            text += f'{json.dumps(name)}: {{ ios: {part("https://apps.apple.com/app/id1", more)}'
            if name in android:
                text += f', android: {part("https://play.google.com/store/apps/details?id=" + name, android[name])}'
            text += " },\n"
        with open(f"{self.folder}/config.json5", "w") as file:
            file.write(f"""{{ store: {store or f'{{ sqlite: {{ path: "{self.folder}/relay.db" }} }}'},
                listen: {{ address: "127.0.0.1:{self.port}", controlSocket: "{self.folder}/control.sock", {listen} }},
                {configuration}
                apps: {{ {text} }} }}""")
        self.process = None
        self.start()

    @property
    def origin(self):
        return f"http://127.0.0.1:{self.port}"

    def start(self):
        log = f"{self.folder}/log"
        with open(log, "a") as file:
            begin = file.tell()
            self.process = subprocess.Popen([BINARY, "serve", "--config", f"{self.folder}/config.json5"], stderr=file)

        def is_ready():
            if self.process.poll() is not None:
                raise RuntimeError("the relay ended: " + open(log).read()[-2000:])
            with open(log) as file:
                file.seek(begin)
                return " ready " in file.read()

        wait_until(is_ready, "a relay that is ready")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def clear(self):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
        self.held.close()

    # What is asked of it

    def ask(self, method, path, body=None, headers=None, token=None):
        """Over the network, with a token or without."""
        return self._ask(http.client.HTTPConnection("127.0.0.1", self.port, timeout=30), method, path, body, headers, token)

    def control(self, method, path, body=None):
        """Over the control socket; raises where it is refused."""
        answer = self._ask(LocalConnection(f"{self.folder}/control.sock"), method, path, body, None, None)
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status} {answer.text}")
        return answer.json

    @staticmethod
    def _ask(connection, method, path, body, headers, token):
        headers = dict(headers or {})
        if token:
            headers["Authorization"] = f"Bearer {token}"
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        try:
            connection.request(method, path, body, headers)
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def token(self, name, scopes=None, apps=None):
        body = {"name": name, "scopes": scopes or SCOPES}
        if apps:
            body["apps"] = apps
        return self.control("POST", "/v1/tokens", body)["token"]

    def link(self):
        """A path that signs in once."""
        return self.control("POST", "/v1/session/link")["path"]

    def command(self, *arguments):
        return subprocess.run(
            [BINARY, *arguments, "--config", f"{self.folder}/config.json5"], capture_output=True, text=True, timeout=60)

    def devices(self, app, count, version="1.9.0"):
        """Of each eleven one has no user, of each seven one has 2.0.0 already."""
        lines = []
        for n in range(1000, 1000 + count):
            device = {"token": hashlib.sha256(f'{app} {n}'.encode()).hexdigest(),
                      "version": "2.0.0" if n % 7 == 0 else version}
            if n % 11:
                device["telephone"] = telephone(n)
            lines.append(json.dumps(device))
        self.control("POST", f"/v1/apps/{app}/ios/devices", "\n".join(lines) + "\n")

    def register(self, app, token, **fields):
        self.control("PUT", f"/v1/apps/{app}/ios/devices/{token}", fields)

    def take_in(self, app, token, **fields):
        """By a file: it takes what a single registration refuses, and says so."""
        self.control("POST", f"/v1/apps/{app}/ios/devices", json.dumps({"token": token} | fields) + "\n")

    def registry(self, app):
        """All devices of an app."""
        answer = self._ask(LocalConnection(f"{self.folder}/control.sock"), "GET", f"/v1/apps/{app}/ios/devices", None, None, None)
        return [json.loads(line) for line in answer.text.splitlines()]

    def raise_version(self, app, **bump):
        """The campaign that it begins; None: none."""
        self.control("PUT", f"/v1/apps/{app}/ios/version", bump | {"confirm": True})
        found = self.control("GET", f"/v1/campaigns?app={app}")["items"]
        return found[0]["id"] if found else None

    def campaign(self, id):
        return self.control("GET", f"/v1/campaigns/{id}")

    def wait_for(self, id, *states):
        return wait_until(lambda: self.campaign(id)["state"] in states, f"campaign {id} {' or '.join(states)}")

    def version(self, app):
        return self.control("GET", f"/v1/apps/{app}/ios/version")


def telephone(n):
    return f"138001{n:05}"
