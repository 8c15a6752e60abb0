import { lazy, Suspense } from "react";
import type { ExpressionEditorProps } from "./editor";

// The editor is larger than all other controls together: pages without one do not fetch it.
const ExpressionEditor = lazy(() => import("./editor"));

export function ExpressionField(props: ExpressionEditorProps) {
  return (
    <div className="field">
      <span className="label">{props.label}</span>
      <Suspense fallback={<div className="expression-loading" />}>
        <ExpressionEditor {...props} />
      </Suspense>
    </div>
  );
}
