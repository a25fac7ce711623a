# SPDX-License-Identifier: Apache-2.0
"""What an SBOM and a statement of provenance say, held to the formats' own readers and to the files beside them.

usage: statements.py FOLDER     what etc/release/collect wrote
"""
import glob
import hashlib
import json
import os
import sys

from google.protobuf import json_format
from in_toto_attestation.v1.statement import Statement
from in_toto_attestation.v1 import statement_pb2
from spdx_tools.spdx.parser.parse_anything import parse_file
from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document

folder = sys.argv[1]
failed = False


def holds(words, faults):
    global failed
    print("not ok " if faults else "ok     ", words)
    for fault in faults:
        print("       ", fault)
    failed = failed or bool(faults)


def digest(path):
    return hashlib.sha256(open(path, "rb").read()).hexdigest()


for path in sorted(glob.glob(f"{folder}/*.spdx.json")):
    name = os.path.basename(path)
    document = parse_file(path)
    holds(f"{name} is SPDX 2.3", [m.validation_message for m in validate_full_spdx_document(document, "SPDX-2.3")])
    described = json.load(open(path))
    if ".oci." in name:
        debian = [p for p in described["packages"] if p["SPDXID"].startswith("SPDXRef-debian-")]
        holds(f"{name} has the digests of {len(debian)} packages", [p["name"] for p in debian if not p.get("checksums")])

for path in glob.glob(f"{folder}/*.provenance.json"):
    name = os.path.basename(path)
    raw = json.load(open(path))
    faults = []
    try:
        Statement.copy_from_pb(json_format.ParseDict(raw, statement_pb2.Statement())).validate()
    except (ValueError, json_format.ParseError) as error:
        faults = [error]
    holds(f"{name} is an in-toto statement", faults)
    definition = raw["predicate"]["buildDefinition"]
    missing = [key for key in ("buildType", "externalParameters", "resolvedDependencies") if not definition.get(key)]
    missing += [] if raw["predicate"]["runDetails"]["builder"]["id"] else ["builder.id"]
    holds(f"{name} says what SLSA v1 asks for", missing)
    holds(f"{name} has the commit's digest", [] if definition["resolvedDependencies"][0]["digest"]["gitCommit"] else ["none"])
    wrong = [s["name"] for s in raw["subject"] if s["digest"]["sha256"] != digest(f"{folder}/{s['name']}")]
    holds(f"{name} has the digests of {len(raw['subject'])} files", wrong)

sys.exit(1 if failed else 0)
