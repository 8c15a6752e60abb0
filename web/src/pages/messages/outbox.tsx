import type { Schemas } from "../../api/client";
import { useChannels, usePages, useRead } from "../../api/queries";
import { useWords } from "../../i18n";
import { Link, useSearch } from "../../shell/router";
import { Button, ButtonLink } from "../../ui/controls";
import { Page } from "../../ui/layout";
import { Empty, Failure, Loading, Shown } from "../../ui/states";
import { Time } from "../../ui/values";
import { Content, type Said } from "./content";

type Message = Schemas["MessageView"];

/** A small mail client over what the outbox keeps. */
export default function Outbox() {
  const { t } = useWords();
  const [search, setSearch] = useSearch();
  const channels = useChannels().data?.data;
  const outboxes = ["outbox", ...(channels ?? []).filter((one) => one.kind === "outbox").map((one) => one.name)];
  const pages = usePages<Message>(
    "/api/v1/messages",
    { state: "sent", sent_by: [...new Set(outboxes)].join(","), subjects: true, limit: 50 },
    3000,
  );
  const kept = pages.rows;
  // A link may lead to one that is far down the list, or not in it any more.
  const linked = search.get("message");
  const listed = kept.find((message) => message.id === linked);
  const older = useRead<Message>(
    `/api/v1/messages/${linked}`,
    {},
    { enabled: linked !== null && !pages.isPending && listed === undefined },
  );
  const chosen = linked === null ? kept[0] : (listed ?? older.data);
  return (
    <Page title={t("outbox.title")} lead={t("outbox.lead")}>
      {pages.isError ? (
        <Failure error={pages.error} retry={() => void pages.refetch()} />
      ) : pages.isPending ? (
        <Loading lines={10} />
      ) : kept.length === 0 && !chosen ? (
        <section className="panel">
          <Empty title={t("outbox.empty")} action={<ButtonLink to="/start">{t("nav.start")}</ButtonLink>}>
            {t("outbox.emptyHint")}
          </Empty>
        </section>
      ) : (
        <section className="panel mail" aria-label={t("outbox.title")}>
          <nav className="mail-list" aria-label={t("outbox.list")}>
            <ul>
              {kept.map((message) => (
                <Line
                  key={message.id}
                  message={message}
                  current={message.id === chosen?.id}
                  open={() => setSearch({ message: message.id })}
                />
              ))}
            </ul>
            {pages.hasNextPage && (
              <Button small busy={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
                {t("action.more")}
              </Button>
            )}
          </nav>
          {chosen ? (
            <Letter key={chosen.id} message={chosen} />
          ) : (
            <div className="mail-letter">
              <Shown of={older}>{() => null}</Shown>
            </div>
          )}
        </section>
      )}
    </Page>
  );
}

function Line({ message, current, open }: { message: Message; current: boolean; open: () => void }) {
  const { t } = useWords();
  return (
    <li>
      <button type="button" className="mail-line" aria-current={current ? "true" : undefined} onClick={open}>
        <span className="top">
          <strong>{message.to ?? message.contact?.slice(0, 8) ?? "–"}</strong>
          <span className="small soft">
            <Time at={message.changed_at} />
          </span>
        </span>
        <span className="subject">{message.subject || t("messages.noSubject")}</span>
        <span className="small soft">{[message.template, message.channel].filter(Boolean).join(" · ")}</span>
      </button>
    </li>
  );
}

function Letter({ message }: { message: Message }) {
  const { t, time } = useWords();
  const content = useRead<Said>(`/api/v1/messages/${message.id}/content`);
  const head = (
    <p className="small soft">
      {t("messages.to")} {message.to ?? "–"} · {time(message.changed_at)} ·{" "}
      <Link to={`/messages/${message.id}`}>{t("outbox.details")}</Link>
    </p>
  );
  return (
    <div className="mail-letter">
      <Shown of={content}>{(said) => <Content said={said} head={head} />}</Shown>
    </div>
  );
}
