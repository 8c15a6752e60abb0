// The overview: asked for once, then told by the server as it changes.
import { useQueryClient } from "@tanstack/react-query";
import { useLive, type Link, type Told } from "./live";
import { useRead } from "./queries";

type Counted = { events: number; entries: number; sends: number; failures: number };

export type Overview = {
  at: string;
  position: number;
  totals: Counted & { contacts: number; active_runs: number };
  minutes: (Counted & { at: string })[];
  days: (Counted & { day: string })[];
  projections: { name: string; position: number; lag: number; paused: boolean; failing: boolean }[];
  reactor: { position: number; lag: number };
  queue: { depth: number };
  channels: { channel: string; breaker: string; sent: number; failed: number; failing: number }[];
  keyspace: { kind: string; ok: boolean };
};

const PATH = "/api/v1/overview";
const POLL_MS = 2000;

export function useOverview(): { overview: ReturnType<typeof useRead<Overview>>; link: Link } {
  const client = useQueryClient();
  const link = useLive(["overview"], {}, (told: Told[]) => client.setQueryData([PATH, {}], told.at(-1)?.data));
  const overview = useRead<Overview>(PATH, {}, { every: link === "live" ? undefined : POLL_MS });
  return { overview, link };
}
