import { useEffect, useState, useSyncExternalStore } from "react";
import { useWords, type Language } from "../i18n";
import { Button } from "./controls";

// One clock for all relative times on a page.
let tick = Date.now();
const watchers = new Set<() => void>();
setInterval(() => {
  tick = Date.now();
  watchers.forEach((tell) => tell());
}, 10_000);
const watch = (tell: () => void) => {
  watchers.add(tell);
  return () => void watchers.delete(tell);
};

const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
];

export function relative(at: number, now: number, language: Language): string {
  const seconds = Math.round((at - now) / 1000);
  const format = new Intl.RelativeTimeFormat(language, { numeric: "auto", style: "short" });
  for (const [unit, size] of STEPS) {
    if (Math.abs(seconds) >= size) return format.format(Math.trunc(seconds / size), unit);
  }
  return format.format(Math.abs(seconds) < 10 ? 0 : seconds, "second");
}

export function Time({ at }: { at: string | null | undefined }) {
  const { language, time } = useWords();
  const now = useSyncExternalStore(watch, () => tick);
  if (!at) return <>–</>;
  return (
    <time dateTime={at} title={time(at)}>
      {relative(Date.parse(at), Math.max(now, tick), language)}
    </time>
  );
}

/** Any value a client sent, as text: never as markup. */
export function valueText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

/** Plain http has no clipboard; there the text is selected, and copied the old way. */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "hidden";
    // A dialog makes everything beside it inert.
    (document.querySelector("dialog[open]") ?? document.body).append(area);
    area.select();
    const copied = document.execCommand("copy");
    area.remove();
    return copied;
  }
}

export function Code({ text, wrap, label }: { text: string; wrap?: boolean; label?: string }) {
  const { t } = useWords();
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 2000);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = () => void copyText(text).then(setCopied);
  return (
    <div className="code">
      <pre
        className={wrap ? "wrap" : undefined}
        data-lines={text.includes("\n") ? "many" : undefined}
        tabIndex={0}
        aria-label={label ?? t("code.label")}
        role="region"
      >
        {text}
      </pre>
      <Button small onClick={copy} aria-live="polite">
        {copied ? t("action.copied") : t("action.copy")}
      </Button>
    </div>
  );
}

export function Chips({ of }: { of: Record<string, unknown> }) {
  const entries = Object.entries(of);
  if (entries.length === 0) return null;
  return (
    <div className="chips">
      {entries.map(([name, value]) => (
        <span className="chip" key={name}>
          {name}: {valueText(value)}
        </span>
      ))}
    </div>
  );
}

export const shortId = (id: string) => id.slice(0, 8);
