import { useState } from "react";
import { useWords } from "../../i18n";
import { Button } from "../../ui/controls";
import { Code } from "../../ui/values";

export type Said = { subject?: string | null; html?: string | null; text?: string | null; json?: string | null };

// Whatever a message holds, it is shown without scripts, forms or any request: the policy stands in the
// document itself, beside the sandbox of the frame.
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

export const framed = (html: string) =>
  `<!doctype html><meta http-equiv="Content-Security-Policy" content="${POLICY}"><meta charset="utf-8"><base target="_blank"><style>body{font:15px/1.5 system-ui,sans-serif;color:#151c2b;background:#fff;margin:16px;overflow-wrap:anywhere}img{max-width:100%}</style>${html}`;

const PARTS = ["html", "text", "json"] as const;

export function Content({ said, head }: { said: Said; head?: React.ReactNode }) {
  const { t } = useWords();
  const there = PARTS.filter((part) => said[part]);
  const [chosen, setChosen] = useState<(typeof PARTS)[number] | null>(null);
  const part = chosen && there.includes(chosen) ? chosen : there[0];
  return (
    <div className="letter">
      <div className="letter-head">
        <h3>{said.subject || t("messages.noSubject")}</h3>
        {head}
        {there.length > 1 && (
          <div className="actions" role="group" aria-label={t("messages.preview")}>
            {there.map((one) => (
              <Button
                key={one}
                small
                kind={one === part ? undefined : "quiet"}
                aria-pressed={one === part}
                onClick={() => setChosen(one)}
              >
                {t(`messages.part.${one}`)}
              </Button>
            ))}
          </div>
        )}
      </div>
      {part === undefined && <p className="soft">{t("messages.noContent")}</p>}
      {part === "html" && (
        <iframe
          className="letter-frame"
          title={said.subject || t("messages.preview")}
          sandbox=""
          srcDoc={framed(said.html ?? "")}
        />
      )}
      {part === "text" && (
        <pre className="letter-text" tabIndex={0}>
          {said.text}
        </pre>
      )}
      {part === "json" && <Code text={pretty(said.json ?? "")} />}
    </div>
  );
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
