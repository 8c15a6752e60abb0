// Light or dark: as chosen, else as the system says.
import { useEffect, useState } from "react";

export type Theme = "light" | "dark";

const system = window.matchMedia("(prefers-color-scheme: dark)");

function current(): Theme {
  const kept = localStorage.getItem("kurier.theme");
  if (kept === "light" || kept === "dark") return kept;
  return system.matches ? "dark" : "light";
}

export function useTheme(): [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState<Theme>(current);
  useEffect(() => {
    const follow = () => setTheme(current());
    system.addEventListener("change", follow);
    return () => system.removeEventListener("change", follow);
  }, []);
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
  }, [theme]);
  const choose = (next: Theme) => {
    localStorage.setItem("kurier.theme", next);
    setTheme(next);
  };
  return [theme, choose];
}
