// Contacts by their ids. Those asked for in the same moment are asked for in one request.
import { useQuery } from "@tanstack/react-query";
import { api, type Schemas } from "./client";

type Contact = Schemas["ContactView"];
type Waiting = { resolve: (contact: Contact) => void; reject: (error: unknown) => void };

// As many as the server answers at once.
const AT_ONCE = 100;
const MOMENT_MS = 5;
// Names seldom change, and the contact's own page shows them at once.
const KNOWN_MS = 60_000;

export function gathered(ask: (ids: string[]) => Promise<Contact[]>, askOne: (id: string) => Promise<Contact>) {
  let waiting = new Map<string, Waiting[]>();
  const settle = async (asked: Map<string, Waiting[]>) => {
    try {
      const found = new Map((await ask([...asked.keys()])).map((contact) => [contact.id, contact]));
      for (const [id, all] of asked) {
        const contact = found.get(id);
        if (contact) all.forEach((one) => one.resolve(contact));
        // Who was merged has become another: only the way to a single one leads there.
        else void askOne(id).then(...ends(all));
      }
    } catch (error) {
      for (const all of asked.values()) all.forEach((one) => one.reject(error));
    }
  };
  const go = () => {
    const now = waiting;
    waiting = new Map();
    void settle(now);
  };
  return (id: string): Promise<Contact> =>
    new Promise((resolve, reject) => {
      if (waiting.size === 0) setTimeout(() => waiting.size > 0 && go(), MOMENT_MS);
      waiting.set(id, [...(waiting.get(id) ?? []), { resolve, reject }]);
      if (waiting.size === AT_ONCE) go();
    });
}

const ends = (all: Waiting[]) =>
  [
    (contact: Contact) => all.forEach((one) => one.resolve(contact)),
    (error: unknown) => all.forEach((one) => one.reject(error)),
  ] as const;

const contactOf = gathered(
  async (ids) => (await api.get<Schemas["ContactList"]>("/api/v1/contacts", { ids: ids.join(",") })).data,
  (id) => api.get<Contact>(`/api/v1/contacts/${id}`),
);

export const useContact = (id: string) =>
  useQuery({ queryKey: [`/api/v1/contacts/${id}`, "gathered"], queryFn: () => contactOf(id), staleTime: KNOWN_MS });
