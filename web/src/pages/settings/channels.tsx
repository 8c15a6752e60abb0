import { useState } from "react";
import { api, part, type Schemas } from "../../api/client";
import { useAct, useChannels } from "../../api/queries";
import { useWords } from "../../i18n";
import { useIsOwner, useMayEdit } from "../../shell/session";
import { Badge, Button, TextField } from "../../ui/controls";
import { Confirm, Dialog } from "../../ui/dialog";
import { Note, Panel } from "../../ui/layout";
import { Empty, Shown } from "../../ui/states";
import { Table, type Column } from "../../ui/table";
import { Time } from "../../ui/values";
import { ChannelForm } from "./channel-form";

type Channel = Schemas["ChannelView"];
type Doing = { what: "edit" | "test" | "remove"; channel: Channel } | { what: "new" } | null;

export function Channels() {
  const { t } = useWords();
  const owner = useIsOwner();
  const mayEdit = useMayEdit();
  const act = useAct();
  const [doing, setDoing] = useState<Doing>(null);
  const channels = useChannels(3000);
  const close = () => setDoing(null);
  const make = owner && (
    <Button kind="primary" icon="plus" onClick={() => setDoing({ what: "new" })}>
      {t("channels.new")}
    </Button>
  );
  const columns: Column<Channel>[] = [
    { key: "name", title: t("column.name"), cell: (row) => <strong>{row.name}</strong> },
    { key: "kind", wide: true, title: t("channels.kind"), cell: (row) => row.kind },
    { key: "health", title: t("channels.health"), cell: (row) => <Health channel={row} /> },
    {
      key: "changed",
      wide: true,
      title: t("column.changed"),
      right: true,
      cell: (row) => <Time at={row.changed_at} />,
    },
    {
      key: "act",
      title: "",
      right: true,
      cell: (row) => (
        <span className="actions">
          {mayEdit && (
            <Button small onClick={() => setDoing({ what: "test", channel: row })}>
              {t("channels.test")}
            </Button>
          )}
          {owner && (
            <Button small onClick={() => setDoing({ what: "edit", channel: row })}>
              {t("action.edit")}
            </Button>
          )}
          {owner && (
            <Button small kind="danger" onClick={() => setDoing({ what: "remove", channel: row })}>
              {t("channels.remove")}
            </Button>
          )}
        </span>
      ),
    },
  ];
  return (
    <Panel title={t("settings.tab.channels")} flush actions={make}>
      <Shown of={channels}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title={t("channels.empty")} action={make}>
              {t("channels.emptyHint")}
            </Empty>
          ) : (
            <Table label={t("settings.tab.channels")} columns={columns} rows={data} rowKey={(row) => row.name} />
          )
        }
      </Shown>
      {doing?.what === "new" && <ChannelForm channel={null} onClose={close} />}
      {doing?.what === "edit" && <ChannelForm channel={doing.channel} onClose={close} />}
      {doing?.what === "test" && <Test channel={doing.channel} onClose={close} />}
      {doing?.what === "remove" && (
        <Confirm
          title={t("channels.removeTitle", { name: doing.channel.name })}
          action={t("channels.remove")}
          phrase={doing.channel.name}
          onConfirm={() => act(() => api.del(`/api/v1/channels/${part(doing.channel.name)}`), [["/api/v1/channels"]])}
          onClose={close}
        >
          <p>{t("channels.removeWhat")}</p>
        </Confirm>
      )}
    </Panel>
  );
}

function Health({ channel }: { channel: Channel }) {
  const { t, word } = useWords();
  if (!channel.enabled) return <Badge>{t("channels.off")}</Badge>;
  if (channel.fault)
    return (
      <span title={channel.fault}>
        <Badge tone="bad">
          <span lang="en">{channel.fault}</span>
        </Badge>
      </span>
    );
  const breaker = channel.gate.breaker;
  const failing = channel.health?.failing ?? 0;
  return (
    <>
      <Badge tone={breaker !== "closed" ? "bad" : failing > 0 ? "warn" : "good"}>
        {breaker === "closed" && failing > 0 ? t("overview.failing") : word("breaker", breaker)}
      </Badge>
      {channel.health && (
        <span className="wide soft small">
          {" "}
          {t("overview.sentOf", { sent: channel.health.sent, failed: channel.health.refused })}
        </span>
      )}
    </>
  );
}

function Test({ channel, onClose }: { channel: Channel; onClose: () => void }) {
  const { t, word } = useWords();
  const act = useAct();
  const [to, setTo] = useState("");
  const [busy, setBusy] = useState(false);
  const [seen, setSeen] = useState<Schemas["TestView"] | null>(null);
  const send = async () => {
    setBusy(true);
    try {
      setSeen(
        await act(
          () => api.post<Schemas["TestView"]>(`/api/v1/channels/${part(channel.name)}/test`, { to: to || undefined }),
          [["/api/v1/channels"]],
        ),
      );
    } catch {
      setSeen(null);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={t("channels.testTitle", { name: channel.name })}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t("action.close")}</Button>
          <Button kind="primary" busy={busy} onClick={() => void send()}>
            {t("channels.testSend")}
          </Button>
        </>
      }
    >
      <TextField label={t("channels.testTo")} value={to} onChange={(event) => setTo(event.target.value)} autoFocus />
      {seen && (
        <Note tone={seen.outcome === "sent" ? "good" : "bad"}>
          {t("channels.testTook", { outcome: word("channels.outcome", seen.outcome), n: seen.took_ms })}{" "}
          <span lang="en">{[seen.code, seen.detail].filter(Boolean).join(" · ")}</span>
        </Note>
      )}
    </Dialog>
  );
}
