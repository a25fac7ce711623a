# SPDX-License-Identifier: Apache-2.0
"""A reverse proxy on loopback that treats event streams badly, as some do."""

import http.client
import http.server
import threading
import time


class Proxy:
    """streams: "pass" them on; "cut" each after two seconds; "hold" all bytes of them back, as one that buffers; "refuse" them with
    a 502. isDown: every request gets a 502. person: the headers of whom it has signed in, in place of the browser's own."""

    def __init__(self, port):
        self.streams = "pass"
        self.isDown = False
        self.person = {}
        # How many streams and parts were asked for.
        self.seen = {"streams": 0, "parts": 0}
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self):
                isStream = self.path.startswith("/v1/events")
                proxy.seen["streams"] += isStream
                proxy.seen["parts"] += "part=" in self.path
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                self.close_connection = True
                if proxy.isDown or isStream and proxy.streams == "refuse":
                    return self.send_error(502)
                inner = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
                end = time.monotonic() + 2
                try:
                    headers = {name: value for name, value in self.headers.items() if name.lower() != "connection"} | proxy.person
                    inner.request(self.command, self.path, body or None, headers)
                    answer = inner.getresponse()
                    if isStream and proxy.streams == "hold":
                        while proxy.streams == "hold" and answer.read1(65536):
                            pass
                        return
                    self.send_response_only(answer.status)
                    for name, value in answer.getheaders():
                        if name.lower() not in ("connection", "transfer-encoding"):
                            self.send_header(name, value)
                    self.send_header("Connection", "close")
                    self.end_headers()
                    while piece := answer.read1(65536):
                        self.wfile.write(piece)
                        self.wfile.flush()
                        if isStream and proxy.streams == "cut" and time.monotonic() > end:
                            break
                except OSError:
                    # Either side is gone; the other is told by the closing.
                    pass
                finally:
                    inner.close()

            do_GET = do_POST = do_HEAD = answer

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.origin = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.streams = "pass"
        self.server.shutdown()
        self.server.server_close()
