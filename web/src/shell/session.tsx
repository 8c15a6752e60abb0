// Who looks at the pages, and what they may do.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { createContext, useContext, useEffect, type ReactNode } from "react";
import { api, Problem, setCsrf, whenSignedOut } from "../api/client";

export type Role = "owner" | "editor" | "viewer";
export type User = { id: string; email: string; name: string; role: Role };
export type Session = { user: User; workspace: { id: string; name: string } | string; csrf: string; demo: boolean };

export type Standing =
  | { is: "loading" }
  | { is: "signed_out"; demo: boolean }
  | { is: "setup" }
  | { is: "unreachable"; error: unknown; retry: () => void }
  | { is: "signed_in"; session: Session };

export const SESSION = ["session"];

/** A server without sessions is spoken to with a key by the development proxy: everything is allowed. */
const PROXY: Session = {
  user: { id: "proxy", email: "", name: "API key", role: "owner" },
  workspace: "default",
  csrf: "",
  demo: false,
};

async function fetchSession(): Promise<Session> {
  try {
    return await api.get<Session>("/api/v1/session");
  } catch (error) {
    if (error instanceof Problem && error.isUnbuilt) return PROXY;
    throw error;
  }
}

export function useStanding(): Standing {
  const client = useQueryClient();
  const query = useQuery({ queryKey: SESSION, queryFn: fetchSession, staleTime: Infinity, retry: false });
  useEffect(() => whenSignedOut(() => void client.invalidateQueries({ queryKey: SESSION })), [client]);
  useEffect(() => setCsrf(query.data?.csrf ?? null), [query.data]);
  if (query.error) return standingOf(query.error, () => void query.refetch());
  if (!query.data) return { is: "loading" };
  // The token must be there before the first page asks for anything.
  setCsrf(query.data.csrf);
  return { is: "signed_in", session: query.data };
}

function standingOf(error: unknown, retry: () => void): Standing {
  if (!(error instanceof Problem) || error.status !== 401) return { is: "unreachable", error, retry };
  if (error.code === "setup_required") return { is: "setup" };
  return { is: "signed_out", demo: Boolean((error.body as { demo?: boolean }).demo) };
}

const SessionContext = createContext<Session>(PROXY);

export function SessionProvider({ session, children }: { session: Session; children: ReactNode }) {
  return <SessionContext value={session}>{children}</SessionContext>;
}

export const useSession = () => useContext(SessionContext);
export const useMayEdit = () => useSession().user.role !== "viewer";
export const useIsOwner = () => useSession().user.role === "owner";
