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
  const pages = usePages<Message>("/api/v1/messages", { state: "sent" }, 3000);
  const outboxes =
    useChannels()
      .data?.data.filter((channel) => channel.kind === "outbox")
      .map((channel) => channel.name) ?? [];
  const kept = pages.rows.filter((message) => message.sent_by === "outbox" || outboxes.includes(message.sent_by ?? ""));
  const chosen = kept.find((message) => message.id === search.get("message")) ?? kept[0];
  return (
    <Page title={t("outbox.title")} lead={t("outbox.lead")}>
      {pages.isError ? (
        <Failure error={pages.error} retry={() => void pages.refetch()} />
      ) : pages.isPending ? (
        <Loading lines={10} />
      ) : kept.length === 0 ? (
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
          {chosen && <Letter key={chosen.id} message={chosen} />}
        </section>
      )}
    </Page>
  );
}

function Line({ message, current, open }: { message: Message; current: boolean; open: () => void }) {
  return (
    <li>
      <button type="button" className="mail-line" aria-current={current ? "true" : undefined} onClick={open}>
        <span className="top">
          <strong>{message.to ?? message.contact?.slice(0, 8) ?? "–"}</strong>
          <span className="small soft">
            <Time at={message.changed_at} />
          </span>
        </span>
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
