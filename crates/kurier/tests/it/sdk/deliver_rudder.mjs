// Delivers one of each with @rudderstack/rudder-sdk-node. Arguments: host, write key, prefix.
import RudderAnalytics from "@rudderstack/rudder-sdk-node";

const [dataPlaneUrl, writeKey, prefix] = process.argv.slice(2);
const Client = RudderAnalytics.default ?? RudderAnalytics;
const analytics = new Client(writeKey, { dataPlaneUrl, errorHandler: fail });

function fail(error) {
  if (!error) return;
  console.error(error);
  process.exitCode = 1;
}

const userId = `${prefix}-user`;
const guest = `${prefix}-guest`;
analytics.track({ userId: guest, event: "Visited", properties: { page: 1 } });
analytics.identify({ userId, traits: { email: `${userId}@Example.com`, plan: "pro", age: 30 } });
analytics.track({ userId, event: "Order Completed", properties: { total: 42.5, items: ["a", "b"] } });
analytics.page({ userId, name: "Pricing", properties: { url: "/pricing" } });
analytics.group({ userId, groupId: `${prefix}-group`, traits: { name: "Example" } });
analytics.alias({ userId, previousId: guest });
await analytics.flush();
process.exit(process.exitCode ?? 0);
