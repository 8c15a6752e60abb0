import type { PageProps } from "../../app";
import { api, type Schemas } from "../../api/client";
import { useAct, useJourneyNames, useRead } from "../../api/queries";
import { useWords } from "../../i18n";
import { Link } from "../../shell/router";
import { useMayEdit } from "../../shell/session";
import { Badge, Button } from "../../ui/controls";
import { Facts, Page, Panel } from "../../ui/layout";
import { Shown } from "../../ui/states";
import { Code, shortId, Time } from "../../ui/values";
import { ContactName } from "../contacts/contact-name";
import { Content, type Said } from "./content";
import { StateBadge, toneOf, Why } from "./table";

type Message = Schemas["MessageDetail"];

export default function MessagePage({ params }: PageProps) {
  const { t } = useWords();
  const id = params.id ?? "";
  const message = useRead<Message>(`/api/v1/messages/${id}`, {}, { every: 3000 });
  const content = useRead<Said>(`/api/v1/messages/${id}/content`);
  const title = message.data?.template ?? message.data?.to ?? t("messages.message");
  return (
    <Page
      title={title}
      crumb={{ to: "/messages", label: t("messages.title") }}
      lead={message.data && <StateBadge message={message.data} />}
      actions={message.data && <Redrive message={message.data} />}
    >
      <Shown of={message} lines={8}>
        {(data) => (
          <div className="grid-aside">
            <div className="stack">
              <Panel
                title={t("messages.preview")}
                actions={<span className="small soft">{t("messages.previewSandbox")}</span>}
              >
                <Shown of={content}>{(said) => <Content said={said} />}</Shown>
              </Panel>
              <Tries message={data} />
              <Events message={data} />
            </div>
            <div className="stack">
              <About message={data} />
              <Panel title={t("messages.inputs")}>
                <Code text={JSON.stringify(data.inputs, null, 2)} wrap label={t("messages.inputs")} />
              </Panel>
            </div>
          </div>
        )}
      </Shown>
    </Page>
  );
}

const ENDED_BADLY = new Set(["failed", "skipped", "unknown"]);

function Redrive({ message }: { message: Message }) {
  const { t } = useWords();
  const mayEdit = useMayEdit();
  const act = useAct();
  if (!mayEdit || !ENDED_BADLY.has(message.state)) return null;
  const redrive = () =>
    act(
      () => api.post("/api/v1/messages/redrive", { ids: [message.id] }),
      [["/api/v1/messages"]],
      t("dead.redriven", { n: 1 }),
    );
  return (
    <Button kind="primary" onClick={() => void redrive().catch(() => {})}>
      {t("dead.redrive")}
    </Button>
  );
}

function About({ message }: { message: Message }) {
  const { t, number } = useWords();
  const journeyName = useJourneyNames();
  const facts: [string, React.ReactNode][] = [
    [t("messages.to"), message.to],
    [t("messages.contact"), message.contact && <ContactName id={message.contact} />],
    [t("messages.channel"), message.channel],
    [t("messages.sentBy"), message.sent_by],
    [
      t("messages.template"),
      message.template && (
        <Link to={`/templates/${encodeURIComponent(message.template)}`}>
          {message.template} · {message.template_version}
        </Link>
      ),
    ],
    [t("messages.topic"), message.topic],
    [
      t("messages.journey"),
      message.journey && <Link to={`/journeys/${message.journey}`}>{journeyName(message.journey)}</Link>,
    ],
    [t("messages.node"), message.node],
    [t("messages.run"), message.instance && <Link to={`/runs/${message.instance}`}>{shortId(message.instance)}</Link>],
    [t("messages.priority"), number(message.priority)],
    [t("messages.requested"), <Time at={message.requested_at} />],
  ];
  if (message.reason) facts.push([t("messages.reason"), <Why of={message} />]);
  if (message.next_at) facts.push([t("messages.next"), <Time at={message.next_at} />]);
  if (message.receipt) facts.push([t("messages.receipt"), <span className="mono">{message.receipt}</span>]);
  return (
    <Panel title={t("messages.message")}>
      <Facts facts={facts} />
    </Panel>
  );
}

function Tries({ message }: { message: Message }) {
  const { t, word } = useWords();
  return (
    <Panel title={t("messages.tries")} label={t("messages.tries")}>
      {message.tries.length === 0 ? (
        <p className="soft">{t(message.state === "sent" ? "messages.sentAtOnce" : "messages.noTries")}</p>
      ) : (
        <ol className="timeline">
          {message.tries.map((attempt) => (
            <li key={attempt.attempt}>
              <div className="line">
                <strong>{t("messages.attempt", { n: attempt.attempt })}</strong>
                <Badge tone={toneOf(attempt.outcome)}>{word("message.state", attempt.outcome)}</Badge>
                <span className="soft small">
                  <Time at={attempt.began_at} />
                </span>
              </div>
              {(attempt.code || attempt.detail) && (
                <div className="soft">
                  {[attempt.category && word("refusal", attempt.category), attempt.code].filter(Boolean).join(" · ")}
                  {attempt.detail && (
                    <>
                      {" · "}
                      <span lang="en">{attempt.detail}</span>
                    </>
                  )}
                </div>
              )}
            </li>
          ))}
        </ol>
      )}
    </Panel>
  );
}

function Events({ message }: { message: Message }) {
  const { t, word, time } = useWords();
  return (
    <Panel title={t("messages.events")} label={t("messages.events")}>
      <ol className="timeline">
        {message.events.map((event) => (
          <li key={event.position}>
            <div className="line">
              <strong title={event.type}>{word("event", event.type)}</strong>
              {event.reason && <Badge>{word("message.reason", event.reason)}</Badge>}
              <span className="soft small">{time(event.occurred_at)}</span>
              <span className="soft small number">{t("messages.position", { n: event.position })}</span>
            </div>
          </li>
        ))}
      </ol>
    </Panel>
  );
}
