import { createContext, useCallback, useContext, useMemo, useState, type ReactNode } from "react";
import { useWords } from "../i18n";
import { IconButton } from "./controls";
import { problemTextInFull } from "./problem-text";

type Toast = { id: number; tone: "good" | "bad"; text: string };
type Tell = { good: (text: string) => void; bad: (error: unknown) => void };

const TellContext = createContext<Tell>({ good: () => {}, bad: () => {} });
export const useTell = () => useContext(TellContext);

const SHOWN_MS = 6000;
let next = 1;

export function ToastProvider({ children }: { children: ReactNode }) {
  const { t, language } = useWords();
  const [toasts, setToasts] = useState<Toast[]>([]);
  const drop = useCallback((id: number) => setToasts((all) => all.filter((toast) => toast.id !== id)), []);
  const add = useCallback(
    (tone: Toast["tone"], text: string) => {
      const id = next++;
      setToasts((all) => [...all.slice(-3), { id, tone, text }]);
      // What went wrong stays until it is read.
      if (tone === "good") setTimeout(() => drop(id), SHOWN_MS);
    },
    [drop],
  );
  const tell = useMemo<Tell>(
    () => ({
      good: (text) => add("good", text),
      bad: (error) => add("bad", problemTextInFull(language, error)),
    }),
    [add, language],
  );
  return (
    <TellContext value={tell}>
      {children}
      <div className="toasts" role="status" aria-live="polite">
        {toasts.map((toast) => (
          <div key={toast.id} className="toast" data-tone={toast.tone}>
            <span>{toast.text}</span>
            <IconButton icon="close" label={t("action.close")} onClick={() => drop(toast.id)} />
          </div>
        ))}
      </div>
    </TellContext>
  );
}
