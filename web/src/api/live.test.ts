import { expect, it } from "vitest";
import { perFrame } from "./live";

it("hands on once per frame, however many came, and keeps the newest", () => {
  const frames: (() => void)[] = [];
  const handed: number[][] = [];
  const push = perFrame<number>(3, (items) => handed.push(items), (run) => frames.push(run));
  for (let item = 1; item <= 1000; item++) push(item);
  expect(frames).toHaveLength(1);
  frames.shift()?.();
  expect(handed).toEqual([[998, 999, 1000]]);
  push(7);
  frames.shift()?.();
  expect(handed.at(-1)).toEqual([7]);
});
