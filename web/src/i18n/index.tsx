// Words of the pages. Keys are typed: a word that is missing in one language does not compile.
import { createContext, useContext, useEffect, useMemo, useState, type ReactNode } from "react";
import { pairs, type Key } from "./words";

export type Language = "de" | "en";
export type { Key };
export type Values = Record<string, string | number>;

const column: Record<Language, 0 | 1> = { en: 0, de: 1 };

/** Puts values into `{name}`; "one|many" is chosen by `n`. */
export function say(language: Language, key: Key, values: Values = {}): string {
  const [one, many] = pairs[key][column[language]].split("|");
  const text = many !== undefined && values.n !== 1 ? many : (one ?? "");
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name];
    if (value === undefined) return whole;
    return typeof value === "number" ? value.toLocaleString(language) : value;
  });
}

function firstLanguage(): Language {
  const kept = localStorage.getItem("kurier.language");
  if (kept === "de" || kept === "en") return kept;
  return navigator.language.startsWith("de") ? "de" : "en";
}

export type Words = {
  language: Language;
  setLanguage: (language: Language) => void;
  t: (key: Key, values?: Values) => string;
  /** A word the server used, such as a state; shown as it is if the catalogue has none. */
  word: (group: string, value: string) => string;
  number: (value: number) => string;
  time: (at: string) => string;
  day: (at: string) => string;
};

const WordsContext = createContext<Words | null>(null);

export function WordsProvider({ children }: { children: ReactNode }) {
  const [language, choose] = useState<Language>(firstLanguage);
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);
  const words = useMemo<Words>(() => wordsOf(language, choose), [language]);
  return <WordsContext value={words}>{children}</WordsContext>;
}

function wordsOf(language: Language, choose: (language: Language) => void): Words {
  const clock = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "medium" });
  const date = new Intl.DateTimeFormat(language, { day: "numeric", month: "short" });
  const known = pairs as Record<string, readonly [string, string]>;
  return {
    language,
    setLanguage: (next) => {
      localStorage.setItem("kurier.language", next);
      choose(next);
    },
    t: (key, values) => say(language, key, values),
    word: (group, value) => known[`${group}.${value}`]?.[column[language]] ?? value,
    number: (value) => value.toLocaleString(language),
    time: (at) => clock.format(new Date(at)),
    day: (at) => date.format(new Date(at)),
  };
}

export function useWords(): Words {
  const words = useContext(WordsContext);
  if (!words) throw new Error("WordsProvider is missing");
  return words;
}
