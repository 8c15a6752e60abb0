// What the server tells by itself. Thousands of events a second must not mean thousands of renders:
// they are gathered and handed on once per animation frame.
import { useEffect, useRef, useState } from "react";
import { address } from "./client";

export type Link = "off" | "live" | "reconnecting";
export type Told = { name: string; data: unknown };

/** Hands items on in one go per frame, the newest `keep` of them. */
export function perFrame<T>(
  keep: number,
  hand: (items: T[]) => void,
  frame: (run: () => void) => number = requestAnimationFrame,
) {
  let waiting: T[] = [];
  let asked = false;
  return (item: T) => {
    waiting.push(item);
    if (waiting.length > keep) waiting = waiting.slice(-keep);
    if (asked) return;
    asked = true;
    frame(() => {
      asked = false;
      const items = waiting;
      waiting = [];
      hand(items);
    });
  };
}

/** Runs at once, and then at most once in `ms`; a call in between is made up for at the end. */
export function atMostEvery(ms: number, run: () => void) {
  let resting = false;
  let again = false;
  const go = () => {
    if (resting) {
      again = true;
      return;
    }
    resting = true;
    run();
    setTimeout(() => {
      resting = false;
      if (!again) return;
      again = false;
      go();
    }, ms);
  };
  return go;
}

type About = { contact?: string; journey?: string };

export function useLive(names: string[], about: About, hand: (told: Told[]) => void, enabled = true): Link {
  const [link, setLink] = useState<Link>("off");
  const latest = useRef(hand);
  latest.current = hand;
  const wanted = names.join(" ");
  const { contact, journey } = about;
  useEffect(() => {
    if (!enabled) return;
    const source = new EventSource(address("/api/v1/live", { contact, journey }));
    const push = perFrame<Told>(200, (told) => latest.current(told));
    source.onopen = () => setLink("live");
    // A server without this answers 404, and the browser gives up: pages then ask now and then.
    source.onerror = () => setLink(source.readyState === EventSource.CLOSED ? "off" : "reconnecting");
    for (const name of wanted.split(" ")) {
      source.addEventListener(name, (event) => push({ name, data: parse((event as MessageEvent<string>).data) }));
    }
    return () => source.close();
  }, [wanted, contact, journey, enabled]);
  return link;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
