// Paths of the browser, and nothing more: a list of patterns does not need a library.
export { match, type Params } from "./match";
import { useSyncExternalStore, type AnchorHTMLAttributes, type MouseEvent } from "react";

const listeners = new Set<() => void>();
const changed = () => listeners.forEach((tell) => tell());
window.addEventListener("popstate", changed);

function subscribe(tell: () => void) {
  listeners.add(tell);
  return () => void listeners.delete(tell);
}

/** Asked before leaving a page; false keeps the reader there. */
let mayLeave: () => boolean = () => true;
export const guardLeaving = (ask: (() => boolean) | null) => void (mayLeave = ask ?? (() => true));

export function navigate(to: string, how: "push" | "replace" = "push") {
  const samePage = new URL(to, location.href).pathname === location.pathname;
  if (!samePage && !mayLeave()) return;
  if (how === "push") history.pushState(null, "", to);
  else history.replaceState(null, "", to);
  if (!samePage) window.scrollTo(0, 0);
  changed();
}

export const usePath = () => useSyncExternalStore(subscribe, () => location.pathname);
const useSearchText = () => useSyncExternalStore(subscribe, () => location.search);

/** What stands behind the question mark, and a way to change it; "" removes. */
export function useSearch(): [URLSearchParams, (change: Record<string, string>) => void] {
  const search = new URLSearchParams(useSearchText());
  const set = (change: Record<string, string>) => {
    const next = new URLSearchParams(location.search);
    for (const [key, value] of Object.entries(change)) {
      if (value) next.set(key, value);
      else next.delete(key);
    }
    const text = next.toString();
    navigate(location.pathname + (text ? `?${text}` : ""), "replace");
  };
  return [search, set];
}

type LinkProps = AnchorHTMLAttributes<HTMLAnchorElement> & { to: string };

export function Link({ to, onClick, ...rest }: LinkProps) {
  const follow = (event: MouseEvent<HTMLAnchorElement>) => {
    onClick?.(event);
    const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (event.defaultPrevented || !plain) return;
    event.preventDefault();
    navigate(to);
  };
  return <a href={to} onClick={follow} {...rest} />;
}
