import { useState } from "react";
import { address, api, type Schemas } from "../../api/client";
import { useAct, useRead } from "../../api/queries";
import { useWords } from "../../i18n";
import { Link } from "../../shell/router";
import { useMayEdit } from "../../shell/session";
import { Badge, Button } from "../../ui/controls";
import { Confirm } from "../../ui/dialog";
import { Page, Panel } from "../../ui/layout";
import { Empty, Shown } from "../../ui/states";
import { Table, type Column } from "../../ui/table";
import { useTell } from "../../ui/toast";
import { toneOf, Why } from "./table";

type Cause = Schemas["CountView"];
type Doing = { what: "redrive" | "discard"; cause: Cause };

const filterOf = (cause: Cause) => ({
  channel: cause.channel,
  state: cause.state,
  reason: cause.reason ?? undefined,
  code: cause.code ?? undefined,
});
const keyOf = (cause: Cause) => [cause.channel, cause.state, cause.reason, cause.code].join("/");

export default function DeadLetters() {
  const { t, word, number } = useWords();
  const mayEdit = useMayEdit();
  const [doing, setDoing] = useState<Doing | null>(null);
  const causes = useRead<Schemas["CountList"]>(
    "/api/v1/messages/counts",
    { state: "failed,unknown", discarded: false },
    { every: 3000 },
  );
  const columns: Column<Cause>[] = [
    {
      key: "cause",
      wrap: true,
      title: t("dead.cause"),
      cell: (row) => (
        <Link to={address("/messages", filterOf(row))}>
          <Why of={row} none={t("dead.look")} />
        </Link>
      ),
    },
    {
      key: "state",
      wide: true,
      title: t("column.state"),
      cell: (row) => <Badge tone={toneOf(row.state)}>{word("message.state", row.state)}</Badge>,
    },
    { key: "channel", wide: true, title: t("messages.channel"), cell: (row) => row.channel },
    { key: "count", title: t("dead.count"), right: true, cell: (row) => number(row.count) },
  ];
  if (mayEdit) {
    columns.push({
      key: "act",
      title: "",
      right: true,
      cell: (row) => (
        <span className="actions">
          <Button small onClick={() => setDoing({ what: "redrive", cause: row })}>
            {t("dead.redrive")}
          </Button>
          <Button small kind="danger" onClick={() => setDoing({ what: "discard", cause: row })}>
            {t("dead.discard")}
          </Button>
        </span>
      ),
    });
  }
  return (
    <Page title={t("dead.title")} lead={t("dead.lead")}>
      <Panel flush label={t("dead.title")}>
        <Shown of={causes}>
          {({ data }) =>
            data.length === 0 ? (
              <Empty title={t("dead.empty")}>{t("dead.emptyHint")}</Empty>
            ) : (
              <Table label={t("dead.title")} columns={columns} rows={data} rowKey={keyOf} />
            )
          }
        </Shown>
      </Panel>
      {doing && <Ask doing={doing} onClose={() => setDoing(null)} />}
    </Page>
  );
}

function Ask({ doing, onClose }: { doing: Doing; onClose: () => void }) {
  const { t } = useWords();
  const act = useAct();
  const tell = useTell();
  const n = doing.cause.count;
  const confirm = async () => {
    const answer = await act(
      () => api.post<Schemas["Acted"]>(`/api/v1/messages/${doing.what}`, { filter: filterOf(doing.cause) }),
      [["/api/v1/messages"]],
    );
    tell.good(t(doing.what === "redrive" ? "dead.redriven" : "dead.discardedDone", { n: answer.messages }));
  };
  return (
    <Confirm
      title={t(doing.what === "redrive" ? "dead.redriveTitle" : "dead.discardTitle", { n })}
      action={t(doing.what === "redrive" ? "dead.redrive" : "dead.discard")}
      onConfirm={confirm}
      onClose={onClose}
    >
      <p>{t(doing.what === "redrive" ? "dead.redriveWhat" : "dead.discardWhat")}</p>
    </Confirm>
  );
}
