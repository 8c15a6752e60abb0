import { useEffect, useId, useRef, useState, type ReactNode } from "react";
import { useWords } from "../i18n";
import { Button, IconButton, TextField } from "./controls";
import { useToastHost } from "./toast";

type DialogProps = { title: string; onClose: () => void; children: ReactNode; footer?: ReactNode; wide?: boolean };

/** The browser's own dialog: it traps the focus, closes on Escape and is announced. */
export function Dialog({ title, onClose, children, footer, wide }: DialogProps) {
  const { t } = useWords();
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  const host = useToastHost();
  useEffect(() => {
    const dialog = ref.current;
    if (!dialog) return;
    dialog.showModal();
    const leave = host(dialog);
    return () => {
      leave();
      dialog.close();
    };
  }, [host]);
  const close = (event: { preventDefault: () => void }) => {
    event.preventDefault();
    onClose();
  };
  return (
    <dialog ref={ref} className="dialog" data-wide={wide} aria-labelledby={id} onCancel={close}>
      <header>
        <h2 id={id}>{title}</h2>
        <IconButton icon="close" label={t("action.close")} onClick={onClose} />
      </header>
      <div className="body">{children}</div>
      {footer && <footer>{footer}</footer>}
    </dialog>
  );
}

type ConfirmProps = {
  title: string;
  children: ReactNode;
  action: string;
  /** Must be typed before the button works, where there is no way back. */
  phrase?: string;
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
};

export function Confirm({ title, children, action, phrase, onConfirm, onClose }: ConfirmProps) {
  const { t } = useWords();
  const [typed, setTyped] = useState("");
  const [busy, setBusy] = useState(false);
  const confirm = async () => {
    setBusy(true);
    try {
      await onConfirm();
      onClose();
    } catch {
      setBusy(false);
    }
  };
  const footer = (
    <>
      <Button onClick={onClose}>{t("action.cancel")}</Button>
      <Button
        kind="danger"
        busy={busy}
        disabled={phrase !== undefined && typed !== phrase}
        onClick={() => void confirm()}
      >
        {action}
      </Button>
    </>
  );
  return (
    <Dialog title={title} onClose={onClose} footer={footer}>
      <div className="stack">{children}</div>
      {phrase !== undefined && (
        <TextField
          label={t("confirm.type", { phrase })}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
          autoComplete="off"
        />
      )}
    </Dialog>
  );
}
