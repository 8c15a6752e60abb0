// What the first steps send and publish.
export const USER = "ada";
export const TEMPLATE = "first-welcome";
export const JOURNEY = "First welcome";

export const event = () => [
  { type: "identify", userId: USER, traits: { first_name: "Ada", email: "ada@example.com" } },
  { type: "track", userId: USER, event: "signed_up", properties: { plan: "free" } },
];

export const curl = (origin: string, key: string) => `curl -u ${key}: ${origin}/v1/batch -d '{"batch": [
  {"type": "identify", "userId": "${USER}",
   "traits": {"first_name": "Ada", "email": "ada@example.com"}},
  {"type": "track", "userId": "${USER}", "event": "signed_up",
   "properties": {"plan": "free"}}
]}'`;

export const snippet = (origin: string, key: string) => `import { AnalyticsBrowser } from "@segment/analytics-next";

const analytics = AnalyticsBrowser.load(
  { writeKey: "${key}", cdnURL: "${origin}" },
  { integrations: { "Segment.io": { apiHost: "${new URL(origin).host}/v1", protocol: "${new URL(origin).protocol.slice(0, -1)}" } } },
);
analytics.identify("${USER}", { first_name: "Ada", email: "ada@example.com" });
analytics.track("signed_up", { plan: "free" });`;

export const template = {
  name: TEMPLATE,
  subject: "Welcome, {{ contact.first_name | default: 'friend' }}",
  markdown:
    "# Hello {{ contact.first_name | default: 'there' }}\n\nThis is your **first message**. A journey asked for it, because `signed_up` arrived.\n",
};

export const journey = {
  name: JOURNEY,
  description: "Whoever signs up is welcomed.",
  reentry_policy: "parallel",
  nodes: [
    { id: "start", node_type: "trigger", event_type: "signed_up", next_node_id: "welcome" },
    { id: "welcome", node_type: "send_message", channel: "email", template: TEMPLATE, next_node_id: "done" },
    { id: "done", node_type: "exit" },
  ],
};
