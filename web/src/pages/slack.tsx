import { useState } from "react";
import { api, type Schemas } from "../api/client";
import { useAct, useRead } from "../api/queries";
import { useWords } from "../i18n";
import { useSearch } from "../shell/router";
import { useMayEdit } from "../shell/session";
import { Badge, Button, Tabs, TextField } from "../ui/controls";
import { Confirm, Dialog } from "../ui/dialog";
import { Page, Panel } from "../ui/layout";
import { Empty, Shown } from "../ui/states";
import { Beneath, Table, type Column } from "../ui/table";
import { Time } from "../ui/values";

type Workspace = Schemas["SlackWorkspaceView"];
const PATH = "/api/v1/slack-workspaces";

export default function SlackWorkspaces() {
  const { t, word } = useWords();
  const mayEdit = useMayEdit();
  const act = useAct();
  const [search] = useSearch();
  const archived = search.get("archived") === "true";
  const [editing, setEditing] = useState<Workspace | "new" | null>(null);
  const [archiving, setArchiving] = useState<Workspace | null>(null);
  const list = useRead<Schemas["SlackWorkspaceList"]>(PATH, { archived: archived || undefined }, { every: 5000 });
  const make = mayEdit && (
    <Button kind="primary" icon="plus" onClick={() => setEditing("new")}>
      {t("slack.new")}
    </Button>
  );
  const columns: Column<Workspace>[] = [
    {
      key: "name",
      title: t("column.name"),
      cell: (row) => (
        <>
          <strong>{row.name}</strong>
          <Beneath>
            {[row.category, row.default_channel, ...row.secrets.map((name) => word("slack.secret", name))]
              .filter(Boolean)
              .join(" · ")}
          </Beneath>
        </>
      ),
    },
    { key: "category", wide: true, title: t("slack.category"), cell: (row) => row.category ?? "–" },
    { key: "channel", wide: true, title: t("slack.channel"), cell: (row) => row.default_channel ?? "–" },
    {
      key: "secrets",
      wide: true,
      title: t("slack.secrets"),
      cell: (row) =>
        row.secrets.length
          ? row.secrets.map((name) => (
              <Badge key={name} tone="good">
                {word("slack.secret", name)}
              </Badge>
            ))
          : "–",
    },
    {
      key: "changed",
      wide: true,
      title: t("column.changed"),
      right: true,
      cell: (row) => <Time at={row.changed_at} />,
    },
  ];
  if (mayEdit) {
    columns.push({
      key: "act",
      title: "",
      right: true,
      cell: (row) => (
        <span className="actions">
          <Button small onClick={() => setEditing(row)}>
            {t("action.edit")}
          </Button>
          {!row.archived && (
            <Button small kind="danger" onClick={() => setArchiving(row)}>
              {t("slack.archive")}
            </Button>
          )}
        </span>
      ),
    });
  }
  return (
    <Page title={t("slack.title")} lead={t("slack.lead")} actions={make}>
      <Tabs
        label={t("slack.title")}
        tabs={[
          { to: "/slack-workspaces", label: t("slack.inUse"), current: !archived },
          { to: "/slack-workspaces?archived=true", label: t("slack.archived"), current: archived },
        ]}
      />
      <Panel flush label={t("slack.title")}>
        <Shown of={list}>
          {({ data }) =>
            data.length === 0 ? (
              <Empty title={t("slack.empty")} action={make}>
                {t("slack.emptyHint")}
              </Empty>
            ) : (
              <Table label={t("slack.title")} columns={columns} rows={data} rowKey={(row) => row.id} />
            )
          }
        </Shown>
      </Panel>
      {editing && <Form workspace={editing === "new" ? null : editing} onClose={() => setEditing(null)} />}
      {archiving && (
        <Confirm
          title={`${t("slack.archive")}: ${archiving.name}`}
          action={t("slack.archive")}
          onConfirm={() => act(() => api.del(`${PATH}/${archiving.id}`), [[PATH]])}
          onClose={() => setArchiving(null)}
        >
          <p>{t("slack.archiveWhat")}</p>
        </Confirm>
      )}
    </Page>
  );
}

function Form({ workspace, onClose }: { workspace: Workspace | null; onClose: () => void }) {
  const { t } = useWords();
  const act = useAct();
  const [name, setName] = useState(workspace?.name ?? "");
  const [category, setCategory] = useState(workspace?.category ?? "");
  const [channel, setChannel] = useState(workspace?.default_channel ?? "");
  const [token, setToken] = useState("");
  const [webhook, setWebhook] = useState("");
  const save = async () => {
    const secrets = { ...(token && { bot_token: token }), ...(webhook && { webhook_url: webhook }) };
    const body = { name, category: category || undefined, default_channel: channel || undefined, secrets };
    await act(
      () => (workspace ? api.put(`${PATH}/${workspace.id}`, body) : api.post(PATH, body)),
      [[PATH]],
      t("slack.saved"),
    );
    onClose();
  };
  return (
    <Dialog
      title={workspace?.name ?? t("slack.new")}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t("action.cancel")}</Button>
          <Button kind="primary" disabled={!name} onClick={() => void save().catch(() => {})}>
            {t("action.save")}
          </Button>
        </>
      }
    >
      <TextField
        label={t("column.name")}
        value={name}
        maxLength={100}
        onChange={(event) => setName(event.target.value)}
        autoFocus
      />
      <div className="form-row">
        <TextField
          label={t("slack.category")}
          value={category}
          maxLength={64}
          onChange={(event) => setCategory(event.target.value)}
        />
        <TextField
          label={t("slack.channel")}
          value={channel}
          maxLength={80}
          placeholder="#general"
          onChange={(event) => setChannel(event.target.value)}
        />
      </div>
      <TextField
        label={t("slack.token")}
        type="password"
        autoComplete="off"
        hint={t("slack.secretHint")}
        value={token}
        onChange={(event) => setToken(event.target.value)}
      />
      <TextField
        label={t("slack.webhook")}
        type="password"
        autoComplete="off"
        value={webhook}
        onChange={(event) => setWebhook(event.target.value)}
      />
    </Dialog>
  );
}
