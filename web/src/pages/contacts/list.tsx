import { useEffect, useState } from "react";
import { api, type Schemas } from "../../api/client";
import { useAct, usePages } from "../../api/queries";
import { useWords } from "../../i18n";
import { Link, navigate, useSearch } from "../../shell/router";
import { useMayEdit } from "../../shell/session";
import { Button, ButtonLink, TextField } from "../../ui/controls";
import { Dialog } from "../../ui/dialog";
import { Page, Panel } from "../../ui/layout";
import { Empty, Failure, Loading } from "../../ui/states";
import { EndlessTable, type Column } from "../../ui/table";
import { Time, valueText } from "../../ui/values";
import { nameOf } from "./name";

type Contact = Schemas["ContactView"];

/** `name:value` looks at attributes, anything else at the beginning of address and user id. */
export const filterOf = (text: string) => (/^[\w.-]+:\S/.test(text) ? { attribute: text } : { q: text });

export default function Contacts() {
  const { t, number } = useWords();
  const mayEdit = useMayEdit();
  const [search, setSearch] = useSearch();
  const [adding, setAdding] = useState(false);
  const wanted = search.get("q") ?? "";
  const pages = usePages<Contact>("/api/v1/contacts", filterOf(wanted));
  const actions = mayEdit && (
    <>
      <ButtonLink to="/contacts/import">{t("contacts.import")}</ButtonLink>
      <Button kind="primary" icon="plus" onClick={() => setAdding(true)}>
        {t("contacts.new")}
      </Button>
    </>
  );
  const columns: Column<Contact>[] = [
    { key: "name", title: t("contacts.contact"), cell: (row) => <Link to={`/contacts/${row.id}`}>{nameOf(row)}</Link> },
    { key: "email", wide: true, title: t("contacts.email"), cell: (row) => row.email ?? "–" },
    {
      key: "user",
      wide: true,
      title: t("contacts.userId"),
      cell: (row) => <span className="mono">{row.user_id ?? "–"}</span>,
    },
    { key: "plan", wide: true, title: t("contacts.attributes"), cell: (row) => <Some of={row.attributes} /> },
    { key: "events", wide: true, title: t("contacts.events"), right: true, cell: (row) => number(row.event_count) },
    { key: "seen", title: t("contacts.lastSeen"), right: true, cell: (row) => <Time at={row.last_seen_at} /> },
  ];
  return (
    <Page title={t("contacts.title")} lead={t("contacts.lead")} actions={actions}>
      <Panel flush actions={<Search value={wanted} onSearch={(q) => setSearch({ q })} />}>
        {pages.isError ? (
          <Failure error={pages.error} retry={() => void pages.refetch()} />
        ) : pages.isPending ? (
          <Loading lines={10} />
        ) : pages.rows.length === 0 ? (
          wanted ? (
            <Empty title={t("contacts.none")}>{t("contacts.noneHint")}</Empty>
          ) : (
            <Empty title={t("contacts.empty")} action={<ButtonLink to="/start">{t("nav.start")}</ButtonLink>}>
              {t("contacts.emptyHint")}
            </Empty>
          )
        ) : (
          <EndlessTable
            label={t("contacts.title")}
            columns={columns}
            rows={pages.rows}
            rowKey={(row) => row.id}
            to={(row) => `/contacts/${row.id}`}
            hasMore={pages.hasNextPage}
            loading={pages.isFetchingNextPage}
            loadMore={() => void pages.fetchNextPage()}
          />
        )}
      </Panel>
      {adding && <NewContact onClose={() => setAdding(false)} />}
    </Page>
  );
}

const SHOWN_ATTRIBUTES = 3;
const NAMES = new Set(["email", "first_name", "last_name", "name", "phone"]);

function Some({ of }: { of: Record<string, unknown> }) {
  const entries = Object.entries(of)
    .filter(([name]) => !NAMES.has(name))
    .slice(0, SHOWN_ATTRIBUTES);
  return <span className="soft">{entries.map(([name, value]) => `${name} ${valueText(value)}`).join(" · ")}</span>;
}

const TYPING_MS = 250;

function Search({ value, onSearch }: { value: string; onSearch: (text: string) => void }) {
  const { t } = useWords();
  const [text, setText] = useState(value);
  useEffect(() => {
    if (text === value) return;
    const timer = setTimeout(() => onSearch(text.trim()), TYPING_MS);
    return () => clearTimeout(timer);
  });
  return (
    <div className="search-bar" role="search">
      <input
        className="input"
        type="search"
        aria-label={t("contacts.search")}
        placeholder={t("contacts.searchHint")}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
    </div>
  );
}

function NewContact({ onClose }: { onClose: () => void }) {
  const { t } = useWords();
  const act = useAct();
  const [userId, setUserId] = useState("");
  const [email, setEmail] = useState("");
  const save = async () => {
    const contact = await act(
      () => api.post<Contact>("/api/v1/contacts", { user_id: userId || undefined, email: email || undefined }),
      [["/api/v1/contacts"]],
    );
    navigate(`/contacts/${contact.id}`);
  };
  const footer = (
    <>
      <Button onClick={onClose}>{t("action.cancel")}</Button>
      <Button kind="primary" disabled={!userId && !email} onClick={() => void save().catch(() => {})}>
        {t("action.create")}
      </Button>
    </>
  );
  return (
    <Dialog title={t("contacts.new")} onClose={onClose} footer={footer}>
      <TextField
        label={t("contacts.userId")}
        value={userId}
        onChange={(event) => setUserId(event.target.value)}
        autoFocus
      />
      <TextField
        label={t("contacts.email")}
        type="email"
        value={email}
        onChange={(event) => setEmail(event.target.value)}
      />
    </Dialog>
  );
}
