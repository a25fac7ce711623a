# SPDX-License-Identifier: Apache-2.0
"""What the relay asks of FCM and of Google Play, and what their stand-ins answer, is right by Google's own discovery documents."""
import json
import os
import re
import time
import urllib.request

import googleapiclient.discovery_cache

documents = os.path.join(os.path.dirname(googleapiclient.discovery_cache.__file__), "documents")
folder = os.environ["FOLDER"]


def document(name):
    with open(f"{documents}/{name}.json") as text:
        return json.load(text)


def check(value, schema, schemas, path="$"):
    """Holds a value against a schema of a discovery document: an unknown member is a fault."""
    if "$ref" in schema:
        schema = schemas[schema["$ref"]]
    kind = schema.get("type", "any")
    if kind == "object":
        assert isinstance(value, dict), f"{path}: {value}"
        for name, member in value.items():
            # "Parsers accept both the lowerCamelCase name and the original proto field name" (protobuf.dev, ProtoJSON Format);
            # FCM's own reference and Google's libraries write the latter.
            if name not in schema.get("properties", {}):
                name = re.sub("_([a-z])", lambda found: found[1].upper(), name)
            if name in schema.get("properties", {}):
                check(member, schema["properties"][name], schemas, f"{path}.{name}")
            else:
                assert "additionalProperties" in schema, f"{path}.{name} is not documented"
                check(member, schema["additionalProperties"], schemas, f"{path}.{name}")
    elif kind == "array":
        assert isinstance(value, list), f"{path}: {value}"
        for index, member in enumerate(value):
            check(member, schema["items"], schemas, f"{path}[{index}]")
    elif kind == "string":
        assert isinstance(value, str), f"{path}: {value}"
        assert "enum" not in schema or value in schema["enum"] or value.upper() in schema["enum"], f"{path}: {value}"
        if schema.get("format") == "google-duration":
            assert re.fullmatch(r"-?\d+(\.\d{1,9})?s", value), f"{path}: {value}"
        if schema.get("format") in ("int64", "uint64"):
            assert re.fullmatch(r"-?\d+", value), f"{path}: {value}"
    elif kind == "boolean":
        assert isinstance(value, bool), f"{path}: {value}"
    elif kind in ("integer", "number"):
        assert isinstance(value, (int, float)) and not isinstance(value, bool), f"{path}: {value}"
    else:
        assert kind == "any", f"{path}: {kind}"


def methods(resource):
    yield from resource.get("methods", {}).values()
    for inner in resource.get("resources", {}).values():
        yield from methods(inner)


def method(api, verb, target):
    """The method that a request is of."""
    path = target.split("?")[0].lstrip("/")
    for known in methods(api):
        template = re.escape(known.get("flatPath", known["path"]))
        pattern = re.sub(r"\\\{[^}]*\\\}", "[^/]+", template)
        if known["httpMethod"] == verb and re.fullmatch(pattern, path):
            return known
    raise AssertionError(f"{verb} {target} is no method of {api['name']}")


def call(path, method="GET", body=None):
    request = urllib.request.Request(
        os.environ["RELAY"] + path, method=method, data=None if body is None else json.dumps(body).encode(),
        headers={"authorization": "Bearer " + os.environ["RELAY_TOKEN"], "content-type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer) if answer.status in (200, 201, 202) else None


def lines(name):
    try:
        with open(f"{folder}/{name}.ndjson") as text:
            return [json.loads(line) for line in text]
    except FileNotFoundError:
        return []


def until(what, look):
    for _ in range(1200):
        found = look()
        if found:
            return found
        time.sleep(0.05)
    raise SystemExit(f"waited a minute until {what}")


# Play first: the campaign waits for it.
play = document("androidpublisher.v3")
asked = until("Google Play was asked for a rollout, too", lambda: [line for line in lines("play")] if any(
    line["method"] == "POST" for line in lines("play")) else None)
for request in asked:
    known = method(play, request["method"], request["target"])
    assert request["authorization"] == "Bearer", request
    if request["body"]:
        check(json.loads(request["body"]), known["request"], play["schemas"])
    if request["answer"] is not None:
        check(request["answer"], known["response"], play["schemas"])

for number in range(10):
    call(f"/v1/apps/com.example.app/android/devices/phone-{number}:APA91b{'0' * 40}", "PUT",
         {"telephone": f"1390013900{number}", "version": "1.0.0"})
before = len(lines("fcm"))
raised = call("/v1/apps/com.example.app/android/version", "PUT", {"required": "4.0.0", "confirm": True})
until("the campaign is over",
      lambda: call(f"/v1/campaigns/{raised['campaign']['id']}")["state"] == "completed")
fcm = document("fcm.v1")
send = method(fcm, "POST", "/v1/projects/p/messages:send")
pushes = [line for line in lines("fcm")[before:]]
assert pushes, "no push was recorded"
for push in pushes:
    check(push["payload"], send["request"], fcm["schemas"])
    check({"name": push["name"]}, send["response"], fcm["schemas"])
# A check that passes everything would prove nothing.
try:
    check({"message": {"tokken": "x"}}, send["request"], fcm["schemas"])
    raise SystemExit("an unknown name was let through")
except AssertionError:
    pass
print(f"{len(asked)} requests to Google Play and {len(pushes)} to FCM, with their answers")
