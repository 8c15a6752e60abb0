import { expect, it } from "vitest";
import { say } from ".";
import { areas, pairs } from "./words";

const holes = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map((found) => found[1]).sort();

it("every word stands in both languages, with the same values put in", () => {
  for (const [key, [english, german]] of Object.entries(pairs) as [string, readonly [string, string]][]) {
    expect(english, key).not.toBe("");
    expect(german, key).not.toBe("");
    expect([...new Set(holes(german))], key).toEqual([...new Set(holes(english))]);
    expect(german.split("|").length, key).toBe(english.split("|").length);
  }
});

it("no key is said in two areas", () => {
  const keys = Object.values(areas).flatMap((area) => Object.keys(area));
  expect(new Set(keys).size).toBe(keys.length);
});

it("puts values in, and chooses between one and many", () => {
  expect(say("en", "contacts.erased", { n: 1, events: 2 })).toBe("Erased: 2 events of 1 contact");
  expect(say("de", "contacts.erased", { n: 3, events: 2000 })).toBe("Gelöscht: 2.000 Ereignisse von 3 Kontakten");
});

it("every word is used somewhere", () => {
  const files = import.meta.glob<string>(["../**/*.{ts,tsx}", "!./**"], {
    query: "?raw",
    import: "default",
    eager: true,
  });
  const sources = Object.values(files).join("\n");
  const groups = [...sources.matchAll(/\bword\(\s*"([\w.]+)"|`([\w.]+)\.\$\{/g)].map(
    (found) => `${found[1] ?? found[2]}.`,
  );
  const unused = Object.keys(pairs).filter(
    (key) => !sources.includes(`"${key}"`) && !groups.some((group) => key.startsWith(group)),
  );
  expect(unused).toEqual([]);
});
