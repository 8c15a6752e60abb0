// What is generated from the server, and what has to be said about it, is as new as the server.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { problems } from "../src/i18n/words/problems";
import { expect, test } from "./fixtures";
import { BIN, OWNER, others, startKurier, type Kurier } from "./server";

const MUCH = 1 << 26;
const description = () => execFileSync(BIN, ["openapi"], { env: others, maxBuffer: MUCH }).toString();

test("the types are those of this server", () => {
  const script = resolve(import.meta.dirname, "../scripts/types.mjs");
  const made = execFileSync(process.execPath, [script, "-", "-"], { input: description(), maxBuffer: MUCH });
  const kept = readFileSync(resolve(import.meta.dirname, "../src/api/schema.ts"), "utf8");
  expect(made.toString() === kept, "`npm run types` would write the same src/api/schema.ts").toBe(true);
});

test("every problem of the server has words in both languages", () => {
  type Description = { components: { schemas: { ProblemCode: { enum: string[] } } } };
  const codes = (JSON.parse(description()) as Description).components.schemas.ProblemCode.enum;
  expect(codes.length).toBeGreaterThan(50);
  expect(codes.map((code) => `problem.${code}`).sort()).toEqual(Object.keys(problems).sort());
});

test.describe("on German pages", () => {
  // Being refused is what is tried here.
  test.use({ locale: "de-DE", allowed: [/^401 .*\/session$|^409 .*\/journeys$|^404 .*\/contacts\//] });

  let kurier: Kurier;
  test.beforeAll(async () => {
    kurier = await startKurier();
  });
  test.afterAll(() => kurier.stop());

  test("what the server refuses is said in German", async ({ clean }) => {
    await kurier.own();
    await clean.goto(kurier.url);
    await clean.getByLabel("E-Mail").fill(OWNER.email);
    await clean.getByLabel("Passwort").fill("not the password at all");
    await clean.getByRole("button", { name: "Anmelden" }).click();
    await expect(clean.getByRole("alert").getByText("Die E-Mail-Adresse oder das Passwort ist falsch.")).toBeVisible();
    await clean.getByLabel("Passwort").fill(OWNER.password);
    await clean.getByRole("button", { name: "Anmelden" }).click();
    await expect(clean.getByRole("heading", { name: "Übersicht" })).toBeVisible();

    const nodes = [{ id: "start", node_type: "trigger", event_type: "x" }];
    await kurier.api("POST", "/api/v1/journeys", { name: "Gruß", nodes });
    await clean.goto(`${kurier.url}/journeys`);
    await clean.getByRole("button", { name: "Neue Journey" }).click();
    await clean.getByRole("dialog").getByLabel("Name").fill("Gruß");
    await clean.getByRole("button", { name: "Anlegen" }).click();
    await expect(clean.getByRole("dialog").getByText("Der Name ist schon vergeben.")).toBeVisible();

    await clean.goto(`${kurier.url}/contacts/00000000-0000-7000-8000-000000000000`);
    await expect(clean.getByRole("alert").getByText("Hier ist nichts, oder nichts mehr.")).toBeVisible();
  });
});
