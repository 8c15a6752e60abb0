// What is being drawn: the definition, the places of its nodes, and the way back.
import { useCallback, useEffect, useReducer } from "react";
import type { Schemas } from "../../api/client";
import { readDefinition, type Definition } from "../../canvas/definition";
import { amend, begin, record, redo, undo, type History } from "../../canvas/history";
import { arrange, keepPlaces, keptPlaces, settle, type Places } from "../../canvas/layout";
import { useWords } from "../../i18n";
import { guardLeaving } from "../../shell/router";

type Drawn = { definition: Definition; places: Places };
type State = { history: History<Drawn>; saved: Definition; typing: string | null };

type Action =
  | { do: "edit"; definition: Definition; places?: Places; typing?: string }
  | { do: "move"; places: Places }
  | { do: "undo" | "redo" | "arrange" | "saved" };

function reduce(state: State, action: Action): State {
  const { history } = state;
  const now = history.now;
  switch (action.do) {
    case "edit": {
      const next = {
        definition: action.definition,
        places: settle(action.definition, { ...now.places, ...action.places }),
      };
      // Letters typed into one field are one step back.
      const same = action.typing !== undefined && action.typing === state.typing;
      return { ...state, history: same ? amend(history, next) : record(history, next), typing: action.typing ?? null };
    }
    case "move":
      return { ...state, history: record(history, { ...now, places: action.places }), typing: null };
    case "arrange":
      return { ...state, history: record(history, { ...now, places: arrange(now.definition) }), typing: null };
    case "undo":
      return { ...state, history: undo(history), typing: null };
    case "redo":
      return { ...state, history: redo(history), typing: null };
    case "saved":
      // What is typed from here on is a step of its own: undoing it leads back to what was saved.
      return { ...state, saved: now.definition, typing: null };
  }
}

function first(journey: Schemas["JourneyDetail"]): State {
  const definition = readDefinition(journey.draft ?? journey.definition);
  return {
    history: begin({ definition, places: settle(definition, keptPlaces(journey.id)) }),
    saved: definition,
    typing: null,
  };
}

export function useWork(journey: Schemas["JourneyDetail"]) {
  const { t } = useWords();
  const [state, dispatch] = useReducer(reduce, journey, first);
  const { definition, places } = state.history.now;
  const dirty = definition !== state.saved;
  useEffect(() => keepPlaces(journey.id, places), [journey.id, places]);
  useEffect(() => {
    if (!dirty) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", ask);
    guardLeaving(() => window.confirm(t("canvas.leave")));
    return () => {
      window.removeEventListener("beforeunload", ask);
      guardLeaving(null);
    };
  }, [dirty, t]);
  const edit = useCallback(
    (next: Definition, typing?: string, at?: Places) => dispatch({ do: "edit", definition: next, typing, places: at }),
    [],
  );
  return {
    definition,
    places,
    dirty,
    canUndo: state.history.past.length > 0,
    canRedo: state.history.future.length > 0,
    edit,
    dispatch,
  };
}

export type Work = ReturnType<typeof useWork>;

/** Ctrl+Z and its kin, unless something is being typed into: fields have their own. */
export function useUndoKeys(dispatch: Work["dispatch"]) {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const typing = (event.target as Element | null)?.closest?.("input, textarea, select, .cm-editor, dialog");
      if (typing || !(event.ctrlKey || event.metaKey)) return;
      const key = event.key.toLowerCase();
      if (key !== "z" && key !== "y") return;
      event.preventDefault();
      dispatch({ do: key === "y" || event.shiftKey ? "redo" : "undo" });
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  }, [dispatch]);
}
