import { useEffect, useState } from "react";

const TYPING_MS = 300;

/** What was typed, once the typing has paused: nobody is asked about half a word. */
export function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), TYPING_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
