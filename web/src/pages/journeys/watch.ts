// What is known of a journey while it is drawn: its faults, its runs, its simulation.
import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import { api, type Schemas } from "../../api/client";
import { useLive, type Link } from "../../api/live";
import { useRead } from "../../api/queries";
import { countsOf, type Counts } from "../../canvas/counts";
import type { FaultCounts } from "../../canvas/canvas";
import type { Definition } from "../../canvas/definition";
import { useSettled } from "../../ui/settled";

type Fault = Schemas["FaultView"];

const POLL_MS = 2000;
const NONE: Fault[] = [];

export function useFaults(definition: Definition): Fault[] {
  const settled = useSettled(definition);
  const check = useQuery({
    queryKey: ["journey-check", settled],
    queryFn: ({ signal }) => api.post<Schemas["DefinitionCheck"]>("/api/v1/journeys/check", settled, { signal }),
    placeholderData: keepPreviousData,
    gcTime: 0,
  });
  return check.data?.faults ?? NONE;
}

export function faultCounts(faults: Fault[]): FaultCounts {
  const counts: FaultCounts = new Map();
  for (const fault of faults) {
    if (!fault.node) continue;
    const one = counts.get(fault.node) ?? { faults: 0, warnings: 0 };
    if (fault.severity === "fault") one.faults++;
    else one.warnings++;
    counts.set(fault.node, one);
  }
  return counts;
}

export function useCounts(
  journey: string,
  version: number | null,
  published: boolean,
): { counts: Counts | null; link: Link } {
  const client = useQueryClient();
  const path = `/api/v1/journeys/${journey}/stats`;
  const query = version === null ? {} : { version };
  // The server tells of all versions together; for one of them it is asked.
  const link = useLive(
    ["counts"],
    { journey },
    (told) => client.setQueryData([path, {}], told.at(-1)?.data),
    published && version === null,
  );
  const stats = useRead<Schemas["StatsView"]>(path, query, {
    enabled: published,
    every: link === "live" ? undefined : POLL_MS,
  });
  const counts = useMemo(() => (stats.data ? countsOf(stats.data) : null), [stats.data]);
  return { counts, link };
}
