import {
  useId,
  useState,
  type ButtonHTMLAttributes,
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
} from "react";
import { useWords } from "../i18n";
import { Link } from "../shell/router";
import { Icon, type IconName } from "./icons";

type Kind = "primary" | "danger" | "quiet";
type Look = { kind?: Kind; small?: boolean; icon?: IconName };

type ButtonProps = ButtonHTMLAttributes<HTMLButtonElement> & Look & { busy?: boolean };

export function Button({ kind, small, icon, busy, children, disabled, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      className="button"
      data-kind={kind}
      data-size={small ? "small" : undefined}
      disabled={disabled || busy}
      aria-busy={busy || undefined}
      {...rest}
    >
      {icon && <Icon name={icon} size={16} />}
      {children}
    </button>
  );
}

type IconButtonProps = ButtonHTMLAttributes<HTMLButtonElement> & { icon: IconName; label: string; kind?: Kind };

export function IconButton({ icon, label, kind = "quiet", ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      className="button"
      data-kind={kind}
      data-icon="only"
      aria-label={label}
      title={label}
      {...rest}
    >
      <Icon name={icon} size={16} />
    </button>
  );
}

export function ButtonLink({ to, kind, small, icon, children }: Look & { to: string; children: ReactNode }) {
  return (
    <Link to={to} className="button" data-kind={kind} data-size={small ? "small" : undefined}>
      {icon && <Icon name={icon} size={16} />}
      {children}
    </Link>
  );
}

type Labelled = { label: string; hint?: ReactNode; fault?: string | null };

/** A label, what belongs to it, and what is wrong with it, tied together for screen readers. */
function Field({ label, hint, fault, id, children }: Labelled & { id: string; children: ReactNode }) {
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children}
      {hint && (
        <span className="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
      {fault && (
        <span className="fault" id={`${id}-fault`} role="alert">
          {fault}
        </span>
      )}
    </div>
  );
}

const described = (id: string, { hint, fault }: Labelled) =>
  [hint && `${id}-hint`, fault && `${id}-fault`].filter(Boolean).join(" ") || undefined;

export function TextField({ label, hint, fault, ...rest }: Labelled & InputHTMLAttributes<HTMLInputElement>) {
  const id = useId();
  const about = { label, hint, fault };
  return (
    <Field {...about} id={id}>
      <input
        className="input"
        id={id}
        aria-invalid={fault ? true : undefined}
        aria-describedby={described(id, about)}
        {...rest}
      />
    </Field>
  );
}

export function AreaField({ label, hint, fault, ...rest }: Labelled & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  const id = useId();
  const about = { label, hint, fault };
  return (
    <Field {...about} id={id}>
      <textarea
        className="input"
        id={id}
        spellCheck={false}
        aria-invalid={fault ? true : undefined}
        aria-describedby={described(id, about)}
        {...rest}
      />
    </Field>
  );
}

type FileFieldProps = { label: string; accept: string; multiple?: boolean; onFiles: (files: File[]) => void };

/** The browser's own words stand in the browser's language: these are ours. */
export function FileField({ label, accept, multiple, onFiles }: FileFieldProps) {
  const { t } = useWords();
  const id = useId();
  const [chosen, setChosen] = useState<string[]>([]);
  const change = (files: FileList | null) => {
    const all = [...(files ?? [])];
    setChosen(all.map((file) => file.name));
    if (all.length > 0) onFiles(all);
  };
  return (
    <div className="field">
      <span className="label" id={`${id}-label`}>
        {label}
      </span>
      <span className="file-field">
        <input
          id={id}
          className="hidden"
          type="file"
          accept={accept}
          multiple={multiple}
          aria-labelledby={`${id}-label`}
          onChange={(event) => change(event.target.files)}
        />
        <label className="button" htmlFor={id}>
          {t(multiple ? "file.chooseMany" : "file.choose")}
        </label>
        <span className="soft" aria-live="polite">
          {chosen.join(", ") || t("file.none")}
        </span>
      </span>
    </div>
  );
}

export type Choice = { value: string; label: string };

export function SelectField({
  label,
  hint,
  fault,
  choices,
  ...rest
}: Labelled & { choices: Choice[] } & SelectHTMLAttributes<HTMLSelectElement>) {
  const id = useId();
  const about = { label, hint, fault };
  return (
    <Field {...about} id={id}>
      <select className="input" id={id} aria-describedby={described(id, about)} {...rest}>
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.label}
          </option>
        ))}
      </select>
    </Field>
  );
}

export function CheckField({ label, ...rest }: { label: string } & InputHTMLAttributes<HTMLInputElement>) {
  return (
    <label className="check">
      <input type="checkbox" {...rest} />
      {label}
    </label>
  );
}

export type Tone = "good" | "warn" | "bad" | "accent" | "idle";

export function Badge({ tone = "idle", children }: { tone?: Tone; children: ReactNode }) {
  return (
    <span className="badge" data-tone={tone}>
      {children}
    </span>
  );
}

export function Tabs({ label, tabs }: { label: string; tabs: { to: string; label: string; current: boolean }[] }) {
  return (
    <nav className="tabs" aria-label={label}>
      {tabs.map((tab) => (
        <Link key={tab.to} to={tab.to} aria-current={tab.current ? "page" : undefined}>
          {tab.label}
        </Link>
      ))}
    </nav>
  );
}
