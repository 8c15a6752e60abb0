// What several pages ask for. A key is the path it was asked at, so invalidating is easy to reason about.
import { useInfiniteQuery, useQuery, useQueryClient, type QueryKey } from "@tanstack/react-query";
import { useMemo } from "react";
import { useTell } from "../ui/toast";
import { api, type Schemas } from "./client";

type Query = Record<string, string | number | boolean | null | undefined>;
export type PageOf<T> = { data: T[]; has_more: boolean; next_cursor?: string | number | null };

const PAGE = 100;
// Looking again means fetching every page that was read; who has scrolled far is reading, not watching.
const WATCHED_PAGES = 2;

/** All of a list, page after page. */
export function usePages<T>(path: string, query: Query = {}, every?: number) {
  const result = useInfiniteQuery({
    queryKey: [path, "pages", query],
    queryFn: ({ pageParam, signal }) => api.get<PageOf<T>>(path, { limit: PAGE, ...query, cursor: pageParam }, signal),
    initialPageParam: null as string | number | null,
    getNextPageParam: (last) => (last.has_more ? (last.next_cursor ?? null) : null),
    refetchInterval: (query) => ((query.state.data?.pages.length ?? 0) <= WATCHED_PAGES ? (every ?? false) : false),
  });
  const rows = useMemo(() => result.data?.pages.flatMap((page) => page.data) ?? [], [result.data]);
  return { ...result, rows };
}

export function useRead<T>(path: string, query: Query = {}, options: { every?: number; enabled?: boolean } = {}) {
  return useQuery({
    queryKey: [path, query],
    queryFn: ({ signal }) => api.get<T>(path, query, signal),
    refetchInterval: options.every,
    enabled: options.enabled ?? true,
  });
}

export const useSegments = (every?: number) => useRead<Schemas["SegmentList"]>("/api/v1/segments", {}, { every });
export const useJourneys = (every?: number) => useRead<Schemas["JourneyList"]>("/api/v1/journeys", {}, { every });
export const useTemplates = () => useRead<Schemas["TemplateList"]>("/api/v1/templates");
export const useChannels = (every?: number) => useRead<Schemas["ChannelList"]>("/api/v1/channels", {}, { every });

/** The name behind an id, as soon as it is known. */
export function useJourneyNames(): (id: string | null | undefined) => string {
  const journeys = useJourneys().data;
  return useMemo(() => {
    const names = new Map(journeys?.data.map((journey) => [journey.id, journey.name]));
    return (id) => (id ? (names.get(id) ?? id.slice(0, 8)) : "–");
  }, [journeys]);
}

/** Does something, then looks again at what it changed; failures are told. */
export function useAct() {
  const client = useQueryClient();
  const tell = useTell();
  return async <T>(work: () => Promise<T>, changes: QueryKey[], done?: string): Promise<T> => {
    try {
      const answer = await work();
      await Promise.all(
        changes.map((queryKey) =>
          client.invalidateQueries({ predicate: (query) => String(query.queryKey[0]).startsWith(String(queryKey[0])) }),
        ),
      );
      if (done) tell.good(done);
      return answer;
    } catch (error) {
      tell.bad(error);
      throw error;
    }
  };
}
