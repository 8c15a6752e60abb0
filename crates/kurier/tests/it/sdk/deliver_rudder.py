"""Delivers one of each with rudder-sdk-python. Arguments: host, write key, prefix."""
import sys

import rudderstack.analytics as analytics

host, key, prefix = sys.argv[1:]
failures = []
analytics.dataPlaneUrl, analytics.write_key = host, key
analytics.on_error = lambda error, items: failures.append(error)

user, guest = prefix + "-user", prefix + "-guest"
analytics.track(guest, "Visited", {"page": 1})
analytics.identify(user, {"email": user + "@Example.com", "plan": "pro", "age": 30})
analytics.track(user, "Order Completed", {"total": 42.5, "items": ["a", "b"]})
analytics.page(user, "Docs", "Pricing", {"url": "/pricing"})
analytics.group(user, prefix + "-group", {"name": "Example"})
analytics.alias(guest, user)
analytics.shutdown()
sys.exit(str(failures) if failures else 0)
