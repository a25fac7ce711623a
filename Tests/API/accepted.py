# SPDX-License-Identifier: Apache-2.0
"""Which operations of the document a daemon has answered with 2xx, by its own metrics. Ends with 1 where one is missing.

usage: accepted.py URL
"""

import json
import re
import sys
import urllib.request


def get(path):
    with urllib.request.urlopen(sys.argv[1] + path) as answer:
        return answer.read().decode()


line = r'upgrade_relay_api_requests_total\{method="(\w+)",route="([^"]+)",\w+="2xx"\} [1-9]'
accepted = set(re.findall(line, get("/metrics")))
paths = json.loads(get("/openapi.json"))["paths"]
# By a session's cookie alone: PageTests and make test-page have it.
by_cookie = {("DELETE", "/v1/session")}
# The id of a session that a browser has begun, and a store that went back: SessionLiveTests and ConfirmedActTests have them.
by_history = {("DELETE", "/v1/sessions/{name}"), ("POST", "/v1/store/accept")}
operations = {(method.upper(), path) for path, methods in paths.items() for method in methods} - by_cookie - by_history
print(f"{len(operations & accepted)} of {len(operations)} operations were answered with 2xx")
for method, path in sorted(operations - accepted):
    print(f"never accepted: {method} {path}")
sys.exit(1 if operations - accepted else 0)
