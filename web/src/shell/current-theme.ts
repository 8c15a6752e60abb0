// Light or dark: as chosen, else as the system says.
export type Theme = "light" | "dark";

export const systemTheme = window.matchMedia("(prefers-color-scheme: dark)");

export function currentTheme(): Theme {
  const kept = localStorage.getItem("kurier.theme");
  if (kept === "light" || kept === "dark") return kept;
  return systemTheme.matches ? "dark" : "light";
}
