import { useState } from "react";
import { api, part, type Schemas } from "../api/client";
import { useAct, useJourneys, useRead } from "../api/queries";
import { useWords } from "../i18n";
import { Link } from "../shell/router";
import { useIsOwner, useMayEdit } from "../shell/session";
import { Badge, Button, ButtonLink, TextField } from "../ui/controls";
import { Page, Panel } from "../ui/layout";
import { Code, Time } from "../ui/values";
import { curl, event, journey, JOURNEY, snippet, template, TEMPLATE, USER } from "./start-text";
import type { ApiKey } from "./settings/keys";

const KEY = "kurier.write-key";

/** From the first event to the first message. */
export default function Start() {
  const { t } = useWords();
  const [key, setKey] = useState(() => sessionStorage.getItem(KEY) ?? "");
  const keep = (next: string) => {
    // Only for this tab: a write key that is shown once must not lie about for ever.
    sessionStorage.setItem(KEY, next);
    setKey(next);
  };
  return (
    <Page title={t("start.title")} lead={t("start.lead")}>
      <div className="stack narrow">
        <KeyStep keyText={key} onKey={keep} />
        <EventStep keyText={key} />
        <JourneyStep />
        <MessageStep keyText={key} />
      </div>
    </Page>
  );
}

function Done({ when }: { when: boolean }) {
  const { t } = useWords();
  return when ? <Badge tone="good">{t("start.done")}</Badge> : null;
}

function KeyStep({ keyText, onKey }: { keyText: string; onKey: (key: string) => void }) {
  const { t } = useWords();
  const owner = useIsOwner();
  const act = useAct();
  const make = async () => {
    const made = await act(
      () => api.post<ApiKey>("/api/v1/api-keys", { name: "first steps", scopes: ["ingest"] }),
      [["/api/v1/api-keys"]],
    );
    onKey(made.key ?? "");
  };
  return (
    <Panel title={t("start.step.key")} label={t("start.step.key")} actions={<Done when={keyText !== ""} />}>
      <div className="step">
        {keyText ? (
          <Code text={keyText} label={t("start.key")} />
        ) : (
          owner && (
            <div>
              <Button kind="primary" onClick={() => void make().catch(() => {})}>
                {t("start.makeKey")}
              </Button>
            </div>
          )
        )}
        {!keyText && <OwnKey onKey={onKey} />}
        <p className="soft small">{t("start.keyHint")}</p>
      </div>
    </Panel>
  );
}

function OwnKey({ onKey }: { onKey: (key: string) => void }) {
  const { t } = useWords();
  const [text, setText] = useState("");
  return (
    <form
      className="form-row"
      onSubmit={(submit) => {
        submit.preventDefault();
        onKey(text.trim());
      }}
    >
      <TextField
        label={t("start.ownKey")}
        autoComplete="off"
        value={text}
        onChange={(change) => setText(change.target.value)}
      />
      <Button type="submit" disabled={!text.trim()}>
        {t("start.useKey")}
      </Button>
    </form>
  );
}

async function sendEvent(key: string) {
  const answer = await fetch("/v1/batch", {
    method: "POST",
    headers: { Authorization: `Basic ${btoa(`${key}:`)}`, "Content-Type": "application/json" },
    body: JSON.stringify({ batch: event() }),
  });
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
}

function SendButton({ keyText }: { keyText: string }) {
  const { t } = useWords();
  const act = useAct();
  const [busy, setBusy] = useState(false);
  const send = async () => {
    setBusy(true);
    await act(() => sendEvent(keyText), [["/api/v1/contacts"]]).catch(() => {});
    setBusy(false);
  };
  return (
    <Button kind="primary" icon="play" busy={busy} disabled={!keyText} onClick={() => void send()}>
      {t("start.send")}
    </Button>
  );
}

function EventStep({ keyText }: { keyText: string }) {
  const { t } = useWords();
  const contact = useRead<Schemas["ContactList"]>("/api/v1/contacts", { user_id: USER }, { every: 1000 }).data?.data[0];
  const shown = keyText || "kur_…";
  return (
    <Panel title={t("start.step.event")} label={t("start.step.event")} actions={<Done when={contact !== undefined} />}>
      <div className="step">
        <p className="soft">{t("start.step.eventHint")}</p>
        <h3>{t("start.curl")}</h3>
        <Code text={curl(location.origin, shown)} label={t("start.curl")} />
        <details>
          <summary>{t("start.snippet")}</summary>
          <div className="step">
            <Code text={snippet(location.origin, shown)} label={t("start.snippet")} />
          </div>
        </details>
        <div className="actions" aria-live="polite">
          <SendButton keyText={keyText} />
          {contact ? (
            <span>
              <Badge tone="good">{t("start.arrived")}</Badge>{" "}
              <Link to={`/contacts/${contact.id}`}>{t("start.contact", { name: USER })}</Link>{" "}
              <span className="soft small">
                <Time at={contact.last_seen_at} />
              </span>
            </span>
          ) : (
            <span className="soft">{t("start.waiting")}</span>
          )}
        </div>
      </div>
    </Panel>
  );
}

function JourneyStep() {
  const { t } = useWords();
  const mayEdit = useMayEdit();
  const act = useAct();
  const [busy, setBusy] = useState(false);
  const made = useJourneys(2000).data?.data.find((one) => one.name === JOURNEY && one.version !== null);
  const publish = async () => {
    await api.put(`/api/v1/templates/${part(TEMPLATE)}`, template);
    const draft = await api.post<Schemas["JourneyDetail"]>("/api/v1/journeys", journey);
    await api.post(`/api/v1/journeys/${draft.id}/publish`);
  };
  const run = async () => {
    setBusy(true);
    await act(publish, [["/api/v1/journeys"], ["/api/v1/templates"]], t("start.journeyDone")).catch(() => {});
    setBusy(false);
  };
  return (
    <Panel title={t("start.step.journey")} label={t("start.step.journey")} actions={<Done when={made !== undefined} />}>
      <div className="step">
        <p className="soft">{t("start.step.journeyHint")}</p>
        <div className="actions">
          {made ? (
            <ButtonLink to={`/journeys/${made.id}`}>{t("start.openJourney")}</ButtonLink>
          ) : (
            mayEdit && (
              <Button kind="primary" busy={busy} onClick={() => void run()}>
                {t("start.makeJourney")}
              </Button>
            )
          )}
        </div>
      </div>
    </Panel>
  );
}

function MessageStep({ keyText }: { keyText: string }) {
  const { t } = useWords();
  const message = useRead<Schemas["MessageList"]>(
    "/api/v1/messages",
    { template: TEMPLATE, state: "sent", limit: 1 },
    { every: 1000 },
  ).data?.data[0];
  return (
    <Panel
      title={t("start.step.message")}
      label={t("start.step.message")}
      actions={<Done when={message !== undefined} />}
    >
      <div className="step">
        <p className="soft">{t("start.step.messageHint")}</p>
        <div className="actions" aria-live="polite">
          <SendButton keyText={keyText} />
          {message ? (
            <ButtonLink to={`/outbox?message=${message.id}`}>{t("start.openOutbox")}</ButtonLink>
          ) : (
            <span className="soft">{t("start.waitingMessage")}</span>
          )}
        </div>
      </div>
    </Panel>
  );
}
