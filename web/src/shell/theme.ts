// The theme of the pages, which follows the choice and the system.
import { useEffect, useState } from "react";
import { currentTheme, systemTheme, type Theme } from "./current-theme";

export type { Theme };

export function useTheme(): [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState<Theme>(currentTheme);
  useEffect(() => {
    const follow = () => setTheme(currentTheme());
    systemTheme.addEventListener("change", follow);
    return () => systemTheme.removeEventListener("change", follow);
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
