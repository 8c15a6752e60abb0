// What a list shows while it has nothing to show: loading, empty, out of order.
import type { UseQueryResult } from "@tanstack/react-query";
import { Component, type ReactNode } from "react";
import { Problem } from "../api/client";
import { useWords } from "../i18n";
import { Button } from "./controls";
import { problemText } from "./problem-text";

export function Loading({ lines = 4 }: { lines?: number }) {
  const { t } = useWords();
  return (
    <div className="skeleton" role="status">
      <div className="hidden">{t("state.loading")}</div>
      {Array.from({ length: lines }, (_, line) => (
        <span key={line} aria-hidden="true" />
      ))}
    </div>
  );
}

export function Empty({ title, children, action }: { title: string; children?: ReactNode; action?: ReactNode }) {
  return (
    <div className="state">
      <h3>{title}</h3>
      {children && <p>{children}</p>}
      {action}
    </div>
  );
}

export function Failure({ error, retry }: { error: unknown; retry?: () => void }) {
  const { t, language } = useWords();
  const problem = error instanceof Problem ? error : new Problem(0, "unreachable", String(error));
  if (problem.isUnbuilt) return <Empty title={t("state.unbuilt")}>{t("state.unbuiltHint")}</Empty>;
  return (
    <div className="state" role="alert">
      <h3>{titleOf(problem, t)}</h3>
      <p>{problemText(language, problem)}</p>
      {retry && <Button onClick={retry}>{t("action.retry")}</Button>}
    </div>
  );
}

function titleOf(problem: Problem, t: ReturnType<typeof useWords>["t"]): string {
  if (problem.status === 0) return t("state.unreachable");
  if (problem.status === 403) return t("state.forbidden");
  if (problem.status === 404) return t("state.notFound");
  return t("state.failed");
}

/** A page for changing something, which whoever may only look has come to by its address. */
export function Forbidden() {
  const { t } = useWords();
  return <Empty title={t("state.forbidden")}>{t("app.readOnly")}</Empty>;
}

/** One of the three, or what was asked for. */
export function Shown<T>({
  of,
  children,
  lines,
}: {
  of: UseQueryResult<T>;
  children: (data: T) => ReactNode;
  lines?: number;
}) {
  if (of.data !== undefined) return <>{children(of.data)}</>;
  if (of.isError) return <Failure error={of.error} retry={() => void of.refetch()} />;
  return <Loading lines={lines} />;
}

/** A page that broke says so, and leaves the navigation as it is. */
export class Boundary extends Component<{ about: string; children: ReactNode }, { error: unknown }> {
  override state: { error: unknown } = { error: null };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override componentDidUpdate(before: { about: string }) {
    if (before.about !== this.props.about && this.state.error !== null) this.setState({ error: null });
  }

  override render() {
    if (this.state.error === null) return this.props.children;
    return <Broken error={this.state.error} retry={() => this.setState({ error: null })} />;
  }
}

function Broken({ error, retry }: { error: unknown; retry: () => void }) {
  const { t } = useWords();
  return (
    <div className="state" role="alert">
      <h1>{t("state.broken")}</h1>
      <p>{error instanceof Error ? error.message : String(error)}</p>
      <Button onClick={retry}>{t("action.retry")}</Button>
    </div>
  );
}
