"""Reads a mail with Python's own parser and dkimpy; prints what they make of it as JSON."""
import base64
import email
import email.policy
import json
import re
import sys

import dkim

asked = json.load(sys.stdin)
raw = base64.b64decode(asked["raw"])
mail = email.message_from_bytes(raw, policy=email.policy.default)
parts = [part for part in mail.walk() if not part.is_multipart()]
record = asked.get("record", "")


def names(name, timeout=5):
    say = name.decode() if isinstance(name, bytes) else name
    return record.encode() if say == asked["selector"] + "." else None


def tags():
    value = mail.get("DKIM-Signature")
    return {} if value is None else dict(
        (k.strip(), re.sub(r"\s", "", v)) for k, v in
        (tag.split("=", 1) for tag in value.split(";") if "=" in tag))


verified = bool(record) and dkim.verify(raw, dnsfunc=names)
tampered = {}
for header in asked.get("tamper", []):
    changed = re.sub(rb"(?mi)^" + header.encode() + rb": (.)", header.encode() + b": X\\1", raw)
    assert changed != raw, header
    tampered[header] = dkim.verify(changed, dnsfunc=names)
folded = re.sub(rb"(?m)^(Subject): (\S+) ", rb"\1: \2\r\n  ", raw)
print(json.dumps({
    "headers": [[name, str(value)] for name, value in mail.items()],
    "defects": [repr(d) for part in mail.walk() for d in part.defects],
    "type": mail.get_content_type(),
    "parts": [[part.get_content_type(), part.get_content()] for part in parts],
    "lines_max": max(len(line) for line in raw.split(b"\r\n")),
    "lone": len(re.findall(rb"(?<!\r)\n|\r(?!\n)", raw)),
    "verified": verified,
    "folded": bool(record) and dkim.verify(folded, dnsfunc=names),
    "extra_from": bool(record) and dkim.verify(b"From: x@y.z\r\n" + raw, dnsfunc=names),
    "tampered": tampered,
    "tags": tags(),
    "raw_unsubscribe": [l.decode() for l in raw.split(b"\r\n") if l.lower().startswith(b"list-unsub")],
}))
