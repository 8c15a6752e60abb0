import { expect, it } from "vitest";
import { Problem } from "../api/client";
import { problemText, problemTextInFull } from "./problem-text";

it("says a problem in the language of the pages", () => {
  const wrong = new Problem(401, "wrong_password", "the e-mail address or the password is wrong");
  expect(problemText("de", wrong)).toBe("Die E-Mail-Adresse oder das Passwort ist falsch.");
  const large = new Problem(413, "too_large", "at most 5 MB");
  expect(problemText("de", large)).toBe("Das ist zu groß: at most 5 MB");
});

it("tells what it has no words for as the server told it", () => {
  expect(problemText("de", new Problem(418, "teapot", "short and stout"))).toBe("short and stout");
  expect(problemText("de", new Problem(0, "unreachable", "TypeError"))).toContain("Prüfen Sie");
});

it("names every field that is at fault", () => {
  const errors = [{ pointer: "/email", detail: "is taken" }];
  const bad = new Problem(422, "bad_user", "the user cannot be accepted", { errors });
  expect(problemTextInFull("de", bad)).toBe("So lässt sich der Benutzer nicht speichern.\nemail: is taken");
});
