import { expect, it, vi } from "vitest";
import { atMostEvery, perFrame } from "./live";

it("hands on once per frame, however many came, and keeps the newest", () => {
  const frames: (() => void)[] = [];
  const handed: number[][] = [];
  const push = perFrame<number>(
    3,
    (items) => handed.push(items),
    (run) => frames.push(run),
  );
  for (let item = 1; item <= 1000; item++) push(item);
  expect(frames).toHaveLength(1);
  frames.shift()?.();
  expect(handed).toEqual([[998, 999, 1000]]);
  push(7);
  frames.shift()?.();
  expect(handed.at(-1)).toEqual([7]);
});

it("runs at once, then rests, and makes up for what came meanwhile", () => {
  vi.useFakeTimers();
  const run = vi.fn();
  const go = atMostEvery(500, run);
  for (let call = 0; call < 100; call++) go();
  expect(run).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(500);
  expect(run).toHaveBeenCalledTimes(2);
  vi.advanceTimersByTime(5000);
  expect(run).toHaveBeenCalledTimes(2);
  vi.useRealTimers();
});
