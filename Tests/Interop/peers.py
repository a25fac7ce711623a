# SPDX-License-Identifier: Apache-2.0
"""Google Play's publishing API as its discovery document has it, over TLS, and a receiver of webhooks. Both keep what they got."""
import http.server
import json
import ssl
import subprocess
import sys
import threading

folder = sys.argv[1]


def keep(name, entry):
    with open(f"{folder}/{name}.ndjson", "a") as lines:
        lines.write(json.dumps(entry) + "\n")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *words):
        pass

    def body(self):
        return self.rfile.read(int(self.headers.get("content-length") or 0)).decode()

    def answer(self, status, body=None):
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json; charset=UTF-8")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


class Play(Handler):
    def do(self):
        body = self.body()
        answer = {"id": "edit-1", "expiryTimeSeconds": "4102444800"}
        path = self.path.split("?")[0]
        if path.endswith("/tracks/production/releases"):
            answer = {"releases": [{
                "releaseName": "4.0.0", "track": "production", "activeArtifacts": [{"versionCode": 400}],
                "releaseLifecycleState": "RELEASE_LIFECYCLE_STATE_PUBLISHED",
            }]}
        elif path.endswith("/tracks/production"):
            answer = {
                "track": "production",
                "releases": [{"name": "4.0.0", "versionCodes": ["400"], "status": "completed"}],
            }
        if self.command == "DELETE":
            answer = None
        keep("play", {"method": self.command, "target": self.path, "body": body, "answer": answer,
                      "authorization": (self.headers.get("authorization") or "").split(" ")[0]})
        self.answer(204 if answer is None else 200, answer)

    do_GET = do_POST = do_DELETE = do


class Hook(Handler):
    def do_POST(self):
        body = self.body()
        keep("hooks", {"body": body, "headers": {name.lower(): value for name, value in self.headers.items()}})
        self.answer(204)


key, certificate = f"{folder}/play-key.pem", f"{folder}/play-ca.pem"
subprocess.run(
    ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-keyout", key,
     "-out", certificate, "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"],
    check=True, capture_output=True)
play = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Play)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
play.socket = context.wrap_socket(play.socket, server_side=True)
hook = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hook)
threading.Thread(target=hook.serve_forever, daemon=True).start()
print("play", play.server_port, "hook", hook.server_port, flush=True)
play.serve_forever()
