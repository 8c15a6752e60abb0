import { useState } from "react";
import type { PageProps } from "../../app";
import { address, api, type Schemas } from "../../api/client";
import { useAct, useRead } from "../../api/queries";
import { readValue } from "../../canvas/read-value";
import { useWords } from "../../i18n";
import { navigate, useSearch } from "../../shell/router";
import { useIsOwner, useMayEdit } from "../../shell/session";
import { Button, Tabs, TextField } from "../../ui/controls";
import { Confirm } from "../../ui/dialog";
import { Facts, Note, Page, Panel } from "../../ui/layout";
import { Shown } from "../../ui/states";
import { Time, valueText } from "../../ui/values";
import { nameOf } from "./name";
import { ContactMessages, ContactRuns, ContactSegments } from "./tabs";
import { Timeline } from "./timeline";

type Contact = Schemas["ContactView"];
const TABS = ["timeline", "segments", "journeys", "messages"] as const;

export default function ContactPage({ params }: PageProps) {
  const { t } = useWords();
  const id = params.id ?? "";
  const contact = useRead<Contact>(`/api/v1/contacts/${id}`, {}, { every: 5000 });
  return (
    <Page
      title={contact.data ? nameOf(contact.data) : t("contacts.contact")}
      crumb={{ to: "/contacts", label: t("contacts.title") }}
      actions={contact.data && <Actions contact={contact.data} />}
    >
      <Shown of={contact} lines={8}>
        {(data) => <Detail contact={data} />}
      </Shown>
    </Page>
  );
}

function Detail({ contact }: { contact: Contact }) {
  const { t } = useWords();
  const [search] = useSearch();
  const tab = TABS.find((one) => one === search.get("tab")) ?? "timeline";
  return (
    <>
      {contact.erased_before && <Note tone="warn">{t("contacts.erasedBefore")}</Note>}
      <div className="grid-aside">
        <div className="stack">
          <Tabs
            label={nameOf(contact)}
            tabs={TABS.map((one) => ({
              to: `/contacts/${contact.id}?tab=${one}`,
              label: t(`contacts.tab.${one}`),
              current: one === tab,
            }))}
          />
          {tab === "timeline" && <Timeline contact={contact.id} />}
          {tab === "segments" && <ContactSegments contact={contact.id} />}
          {tab === "journeys" && <ContactRuns contact={contact.id} />}
          {tab === "messages" && <ContactMessages contact={contact.id} />}
        </div>
        <div className="stack">
          <About contact={contact} />
          <Attributes contact={contact} />
        </div>
      </div>
    </>
  );
}

function About({ contact }: { contact: Contact }) {
  const { t, number } = useWords();
  const facts: [string, React.ReactNode][] = [
    [t("contacts.userId"), contact.user_id && <span className="mono">{contact.user_id}</span>],
    [t("contacts.email"), contact.email],
    [t("contacts.phone"), contact.phone],
    [t("contacts.events"), number(contact.event_count)],
    [t("contacts.since"), <Time at={contact.created_at} />],
    [t("contacts.lastSeen"), <Time at={contact.last_seen_at} />],
  ];
  if (contact.anonymous_ids.length) facts.push([t("contacts.anonymousIds"), contact.anonymous_ids.join(", ")]);
  if (contact.former_user_ids.length) facts.push([t("contacts.formerIds"), contact.former_user_ids.join(", ")]);
  if (contact.groups.length) facts.push([t("contacts.groups"), contact.groups.join(", ")]);
  return (
    <Panel title={t("contacts.contact")}>
      <Facts facts={facts} />
    </Panel>
  );
}

function Attributes({ contact }: { contact: Contact }) {
  const { t } = useWords();
  const mayEdit = useMayEdit();
  const entries = Object.entries(contact.attributes as Record<string, unknown>);
  return (
    <Panel title={t("contacts.attributes")}>
      <div className="stack">
        {entries.length ? (
          <Facts facts={entries.map(([name, value]) => [name, valueText(value)])} />
        ) : (
          <p className="soft">{t("contacts.noAttributes")}</p>
        )}
        {mayEdit && contact.user_id && (
          <details>
            <summary>{t("contacts.setAttribute")}</summary>
            <SetAttribute contact={contact} />
          </details>
        )}
      </div>
    </Panel>
  );
}

function SetAttribute({ contact }: { contact: Contact }) {
  const { t } = useWords();
  const act = useAct();
  const [name, setName] = useState("");
  const [value, setValue] = useState("");
  const save = async () => {
    await act(
      () => api.post("/api/v1/contacts", { user_id: contact.user_id, attributes: { [name]: readValue(value) } }),
      [["/api/v1/contacts"]],
    );
    setName("");
    setValue("");
  };
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void save().catch(() => {});
      }}
    >
      <TextField label={t("contacts.attribute")} value={name} onChange={(event) => setName(event.target.value)} />
      <TextField
        label={t("contacts.value")}
        hint={t("contacts.valueHint")}
        value={value}
        onChange={(event) => setValue(event.target.value)}
      />
      <div className="actions">
        <Button small type="submit" disabled={!name || !value}>
          {t("contacts.setAttribute")}
        </Button>
      </div>
    </form>
  );
}

function Actions({ contact }: { contact: Contact }) {
  const { t } = useWords();
  const mayErase = useIsOwner();
  const act = useAct();
  const [erasing, setErasing] = useState(false);
  const erase = async () => {
    const answer = await act(() => api.del<Schemas["Erased"]>(`/api/v1/contacts/${contact.id}`), []);
    navigate("/contacts");
    await act(
      async () => answer,
      [["/api/v1/contacts"]],
      t("contacts.erased", { n: answer.contacts, events: answer.events }),
    );
  };
  return (
    <>
      <a
        className="button"
        href={address(`/api/v1/contacts/${contact.id}/export`)}
        download={`contact-${contact.id}.json`}
      >
        {t("contacts.export")}
      </a>
      {mayErase && (
        <Button kind="danger" icon="trash" onClick={() => setErasing(true)}>
          {t("contacts.erase")}
        </Button>
      )}
      {erasing && (
        <Confirm
          title={t("contacts.eraseTitle")}
          action={t("contacts.erase")}
          phrase={contact.user_id ?? contact.email ?? contact.id.slice(0, 8)}
          onConfirm={erase}
          onClose={() => setErasing(false)}
        >
          <p>{t("contacts.eraseWhat", { n: contact.event_count })}</p>
          <p className="soft">{t("contacts.eraseNot")}</p>
        </Confirm>
      )}
    </>
  );
}
