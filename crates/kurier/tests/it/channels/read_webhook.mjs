// Verifies webhooks with the library from npm: a line of JSON in, a line of words out.
import { Webhook } from "standardwebhooks";
import { readFileSync } from "node:fs";

for (const line of readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  const asked = JSON.parse(line);
  try {
    new Webhook(asked.secret).verify(asked.body, asked.headers);
    console.log("good");
  } catch (e) {
    console.log("bad", e.message);
  }
}
