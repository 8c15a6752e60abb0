"""Verifies webhooks with the library from PyPI: a line of JSON in, a line of words out."""
import json
import sys

from standardwebhooks import Webhook, WebhookVerificationError

for line in sys.stdin:
    asked = json.loads(line)
    try:
        Webhook(asked["secret"]).verify(asked["body"], asked["headers"])
        print("good")
    except WebhookVerificationError as e:
        print("bad", e)
