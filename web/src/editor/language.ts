import { HighlightStyle, StreamLanguage, syntaxHighlighting, type StringStream } from "@codemirror/language";
import { tags } from "@lezer/highlight";
import { FUNCTIONS, KEYWORDS, ROOTS } from "./words";

const keywords = new Set(KEYWORDS);
const functions = new Set(FUNCTIONS.map((name) => name.toUpperCase()));
const roots = new Set([...ROOTS, "event_type", "event_time", "properties"]);

function token(stream: StringStream): string | null {
  if (stream.eatSpace()) return null;
  if (stream.match(/^'(?:[^']|'')*'?/) || stream.match(/^"(?:[^"]|"")*"?/)) return "string";
  if (stream.match(/^-?\d+(?:\.\d+)?(?:[smhdw])?\b/)) return "number";
  if (stream.match(/^(?:<=|>=|<>|!=|==|[=<>+-])/)) return "operator";
  const word = stream.match(/^[A-Za-z_][\w.]*/) as RegExpMatchArray | null;
  if (word) return kindOf(word[0]);
  stream.next();
  return null;
}

function kindOf(word: string): string | null {
  const upper = word.toUpperCase();
  if (keywords.has(upper)) return "keyword";
  if (functions.has(upper)) return "function";
  return roots.has(word.split(".")[0] ?? "") ? "variableName" : null;
}

export const expressionLanguage = StreamLanguage.define({
  token,
  tokenTable: { function: tags.function(tags.variableName) },
});

const colours = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--code-key)", fontWeight: "600" },
  { tag: tags.function(tags.variableName), color: "var(--code-key)" },
  { tag: tags.string, color: "var(--code-text)" },
  { tag: tags.number, color: "var(--code-number)" },
  { tag: tags.variableName, color: "var(--code-name)" },
]);

export const highlighting = syntaxHighlighting(colours);
