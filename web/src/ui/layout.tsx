import { useEffect, type ReactNode } from "react";
import { Link } from "../shell/router";

type PageProps = {
  title: string;
  lead?: ReactNode;
  crumb?: { to: string; label: string };
  actions?: ReactNode;
  children: ReactNode;
};

export function Page({ title, lead, crumb, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Kurier`;
  }, [title]);
  return (
    <div className="page">
      <header className="page-head">
        <div className="words">
          {crumb && (
            <Link className="crumb" to={crumb.to}>
              ← {crumb.label}
            </Link>
          )}
          <h1>{title}</h1>
          {lead && <div className="soft">{lead}</div>}
        </div>
        {actions && <div className="actions">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

type PanelProps = { title?: ReactNode; actions?: ReactNode; flush?: boolean; children: ReactNode; label?: string };

export function Panel({ title, actions, flush, children, label }: PanelProps) {
  return (
    <section className="panel" aria-label={label}>
      {(title || actions) && (
        <header>
          {title && <h2>{title}</h2>}
          {actions && <div className="actions">{actions}</div>}
        </header>
      )}
      {flush ? children : <div className="body">{children}</div>}
    </section>
  );
}

export function Facts({ facts }: { facts: [string, ReactNode][] }) {
  return (
    <dl className="facts">
      {facts.map(([name, value]) => (
        <div key={name} style={{ display: "contents" }}>
          <dt>{name}</dt>
          <dd>{value ?? "–"}</dd>
        </div>
      ))}
    </dl>
  );
}

export function Tile({ label, value, note, to }: { label: string; value: ReactNode; note?: ReactNode; to?: string }) {
  const inside = (
    <>
      <span className="label">{label}</span>
      <span className="value">{value}</span>
      {note && <span className="small soft">{note}</span>}
    </>
  );
  return to ? (
    <Link className="tile" to={to}>
      {inside}
    </Link>
  ) : (
    <div className="tile">{inside}</div>
  );
}

export function Note({ tone, children }: { tone?: "good" | "warn" | "bad"; children: ReactNode }) {
  return (
    <div className="note" data-tone={tone} role={tone === "bad" ? "alert" : undefined}>
      {children}
    </div>
  );
}
