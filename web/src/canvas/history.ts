// Undo and redo over values that are never changed in place.
export type History<T> = { past: T[]; now: T; future: T[] };

const KEPT = 200;

export const begin = <T>(now: T): History<T> => ({ past: [], now, future: [] });

export function record<T>(history: History<T>, next: T): History<T> {
  if (next === history.now) return history;
  return { past: [...history.past, history.now].slice(-KEPT), now: next, future: [] };
}

/** Changes what is without a step to go back to: for typing, where every letter would be one. */
export const amend = <T>(history: History<T>, next: T): History<T> => ({ ...history, now: next, future: [] });

export function undo<T>(history: History<T>): History<T> {
  const before = history.past.at(-1);
  if (before === undefined) return history;
  return { past: history.past.slice(0, -1), now: before, future: [history.now, ...history.future] };
}

export function redo<T>(history: History<T>): History<T> {
  const after = history.future[0];
  if (after === undefined) return history;
  return { past: [...history.past, history.now], now: after, future: history.future.slice(1) };
}
