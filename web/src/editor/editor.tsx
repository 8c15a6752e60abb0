// The editor of expressions: colours, completion from real names, faults underlined while typing.
import {
  autocompletion,
  closeBrackets,
  completionKeymap,
  insertCompletionText,
  pickedCompletion,
  startCompletion,
  type Completion,
  type CompletionContext,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { linter, type Diagnostic } from "@codemirror/lint";
import { Compartment, EditorState, type Extension } from "@codemirror/state";
import { EditorView, keymap, placeholder } from "@codemirror/view";
import { useEffect, useRef } from "react";
import { api, type Schemas } from "../api/client";
import { useRead } from "../api/queries";
import { unitAt } from "./span";
import { expressionLanguage, highlighting } from "./language";
import { NO_NAMES, suggest, type Names } from "./words";
import type { Checked } from "./checked";

export type Place = Schemas["PlaceName"];
type Check = Schemas["ExpressionCheck"];

export type ExpressionEditorProps = {
  value: string;
  onChange: (text: string) => void;
  place: Place;
  label: string;
  hint?: string;
  small?: boolean;
  readOnly?: boolean;
  onCheck?: (check: Checked | null) => void;
};

const TYPING_MS = 200;
export function diagnosticsOf(text: string, faults: Schemas["ExpressionFault"][]): Diagnostic[] {
  return faults.map((fault) => {
    const from = Math.min(unitAt(text, fault.span.start), text.length);
    const to = Math.min(Math.max(unitAt(text, fault.span.end), from + 1), text.length);
    const message = fault.suggestion ? `${fault.message}; ${fault.suggestion}` : fault.message;
    return { from: Math.min(from, Math.max(0, to - 1)), to, severity: "error", message };
  });
}

function checking(place: Place, tell: (check: Checked | null) => void): Extension {
  return linter(
    async (view) => {
      const expression = view.state.doc.toString();
      if (!expression.trim()) {
        tell(null);
        return [];
      }
      try {
        const check = await api.post<Check>("/api/v1/expressions/check", { expression, place });
        tell({ ...check, text: expression });
        return diagnosticsOf(expression, check.errors);
      } catch {
        // Out of reach is no fault of the expression.
        return [];
      }
    },
    { delay: TYPING_MS },
  );
}

/** A quote that was closed by itself when the word began is part of what the word replaces. */
function apply(view: EditorView, picked: Completion, from: number, to: number) {
  const quote = picked.label.at(-1);
  const closed = (quote === "'" || quote === '"') && view.state.sliceDoc(to, to + 1) === quote;
  const end = closed ? to + 1 : to;
  view.dispatch(insertCompletionText(view.state, picked.label, from, end), {
    annotations: pickedCompletion.of(picked),
  });
}

const theme = EditorView.theme({
  "&": {
    color: "var(--ink)",
    backgroundColor: "var(--surface)",
    border: "1px solid var(--line-strong)",
    borderRadius: "var(--radius-small)",
    fontSize: "13.5px",
  },
  "&.cm-focused": { outline: "2px solid var(--focus)" },
  ".cm-content": { fontFamily: "var(--mono)", padding: "10px 4px", caretColor: "var(--ink)" },
  ".cm-line": { padding: "0 8px" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--accent-soft)",
  },
  ".cm-placeholder": { color: "var(--ink-faint)" },
  ".cm-tooltip": {
    backgroundColor: "var(--raised)",
    color: "var(--ink)",
    border: "1px solid var(--line)",
    borderRadius: "6px",
    boxShadow: "var(--shadow-raised)",
  },
  ".cm-tooltip-autocomplete ul li": { padding: "3px 8px", fontFamily: "var(--mono)" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--accent-ink)" },
  ".cm-completionDetail": { fontStyle: "normal", opacity: "0.75" },
  ".cm-diagnostic": { padding: "6px 10px", fontFamily: "var(--font)" },
  ".cm-diagnostic-error": { borderLeft: "4px solid var(--bad)" },
  ".cm-lintRange-error": {
    backgroundImage: "none",
    textDecoration: "underline wavy var(--bad)",
    textUnderlineOffset: "3px",
  },
});

export default function ExpressionEditor({
  value,
  onChange,
  place,
  label,
  hint,
  small,
  readOnly,
  onCheck,
}: ExpressionEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const names = useRef<Names>(NO_NAMES);
  const told = useRef({ onChange, onCheck });
  told.current = { onChange, onCheck };
  const known = useRead<Names>("/api/v1/names").data;
  if (known) names.current = known;

  useEffect(() => {
    if (!host.current) return;
    const complete = (context: CompletionContext) => {
      const line = context.state.sliceDoc(0, context.pos);
      const found = suggest(line, names.current);
      if (!found || (found.from === context.pos && !context.explicit && !/[.'"=(,]\s*$/.test(line))) return null;
      return {
        from: found.from,
        options: found.options.map((one) => ({ label: one.label, type: one.kind, detail: one.detail, apply })),
        validFor: /^(?:'[^']*|"[^"]*|[\w.]*)$/,
      };
    };
    const editable = new Compartment();
    const editor = new EditorView({
      parent: host.current,
      state: EditorState.create({
        doc: value,
        extensions: [
          history(),
          closeBrackets(),
          expressionLanguage,
          highlighting,
          theme,
          EditorView.lineWrapping,
          placeholder(hint ?? ""),
          autocompletion({ override: [complete], icons: false }),
          checking(place, (check) => told.current.onCheck?.(check)),
          keymap.of([
            ...completionKeymap,
            { key: "Ctrl-Space", run: startCompletion },
            ...defaultKeymap,
            ...historyKeymap,
          ]),
          editable.of([EditorView.editable.of(!readOnly), EditorState.readOnly.of(Boolean(readOnly))]),
          EditorView.contentAttributes.of({ "aria-label": label, "aria-multiline": "true" }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) told.current.onChange(update.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = editor;
    return () => editor.destroy();
    // The editor owns its text; it is made anew only for another place.
  }, [place, label, readOnly]);

  useEffect(() => {
    const editor = view.current;
    if (!editor || editor.state.doc.toString() === value) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } });
  }, [value]);

  return <div className="expression" data-small={small || undefined} ref={host} />;
}
