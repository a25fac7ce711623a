# SPDX-License-Identifier: Apache-2.0
"""An App Store that lists one version, and a door on loopback to the daemon's control socket.

usage: peers.py SOCKET      prints the ports of both
"""

import http.server
import json
import socket
import socketserver
import sys
import threading


class Store(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = json.dumps({"resultCount": 1, "results": [{"version": "2.1.0", "trackId": 1}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Door(socketserver.BaseRequestHandler):
    def handle(self):
        with socket.socket(socket.AF_UNIX) as inner:
            inner.connect(sys.argv[1])
            threading.Thread(target=self.copy, args=(inner, self.request), daemon=True).start()
            self.copy(self.request, inner)

    @staticmethod
    def copy(source, sink):
        try:
            while piece := source.recv(65536):
                sink.sendall(piece)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            # Either side is gone: the other is told by the closing.
            pass


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 128


store = Server(("127.0.0.1", 0), Store)
door = Server(("127.0.0.1", 0), Door)
threading.Thread(target=store.serve_forever, daemon=True).start()
print(store.server_address[1], door.server_address[1], flush=True)
door.serve_forever()
