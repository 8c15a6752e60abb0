import { createContext, useCallback, useContext, useMemo, useState, type ReactNode } from "react";
import { createPortal } from "react-dom";
import { useWords } from "../i18n";
import { IconButton } from "./controls";
import { problemTextInFull } from "./problem-text";

type Toast = { id: number; tone: "good" | "bad"; text: string };
type Tell = { good: (text: string) => void; bad: (error: unknown) => void };

const TellContext = createContext<Tell>({ good: () => {}, bad: () => {} });
export const useTell = () => useContext(TellContext);

type Host = (dialog: HTMLElement) => () => void;
const HostContext = createContext<Host>(() => () => {});
/** An open dialog lies above the page and makes it inert: what is told is told inside it. */
export const useToastHost = () => useContext(HostContext);

const SHOWN_MS = 6000;
let next = 1;

export function ToastProvider({ children }: { children: ReactNode }) {
  const { t, language } = useWords();
  const [toasts, setToasts] = useState<Toast[]>([]);
  const [dialogs, setDialogs] = useState<HTMLElement[]>([]);
  const host = useCallback<Host>((dialog) => {
    setDialogs((all) => [...all, dialog]);
    return () => setDialogs((all) => all.filter((one) => one !== dialog));
  }, []);
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
  const shown = (
    <div className="toasts" role="status" aria-live="polite">
      {toasts.map((toast) => (
        <div key={toast.id} className="toast" data-tone={toast.tone} role={toast.tone === "bad" ? "alert" : undefined}>
          <span>{toast.text}</span>
          <IconButton icon="close" label={t("action.close")} onClick={() => drop(toast.id)} />
        </div>
      ))}
    </div>
  );
  const top = dialogs.at(-1);
  return (
    <TellContext value={tell}>
      <HostContext value={host}>{children}</HostContext>
      {top ? createPortal(shown, top) : shown}
    </TellContext>
  );
}
