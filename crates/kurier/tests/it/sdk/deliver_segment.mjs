// Delivers one of each with @segment/analytics-node. Arguments: host, write key, prefix.
import { Analytics } from "@segment/analytics-node";

const [host, writeKey, prefix] = process.argv.slice(2);
const analytics = new Analytics({ host, writeKey, maxRetries: 2 });
analytics.on("error", (error) => {
  console.error(error);
  process.exitCode = 1;
});

const userId = `${prefix}-user`;
const guest = `${prefix}-guest`;
analytics.track({ userId: guest, event: "Visited", properties: { page: 1 } });
analytics.identify({ userId, traits: { email: `${userId}@Example.com`, plan: "pro", age: 30 } });
analytics.track({ userId, event: "Order Completed", properties: { total: 42.5, items: ["a", "b"] } });
analytics.page({ userId, category: "Docs", name: "Pricing", properties: { url: "/pricing" } });
analytics.group({ userId, groupId: `${prefix}-group`, traits: { name: "Example" } });
analytics.alias({ userId, previousId: guest });
await analytics.closeAndFlush();
