import { useState } from "react";
import { api } from "../../api/client";
import { useAct, useRead } from "../../api/queries";
import { useWords } from "../../i18n";
import { useIsOwner } from "../../shell/session";
import { Badge, Button, SelectField, TextField } from "../../ui/controls";
import { Confirm, Dialog } from "../../ui/dialog";
import { Note, Panel } from "../../ui/layout";
import { Empty, Shown } from "../../ui/states";
import { Beneath, Table, type Column } from "../../ui/table";
import { Code, Time } from "../../ui/values";

export type ApiKey = {
  id: string;
  name: string;
  scopes: string[];
  created_at: string;
  expires_at: string | null;
  revoked_at: string | null;
  key?: string;
};

const SCOPES = ["ingest", "read", "admin"] as const;
const PATH = "/api/v1/api-keys";

export function Keys() {
  const { t, word } = useWords();
  const owner = useIsOwner();
  const [making, setMaking] = useState(false);
  const [revoking, setRevoking] = useState<ApiKey | null>(null);
  const act = useAct();
  const keys = useRead<{ data: ApiKey[] }>(PATH, {}, { enabled: owner });
  if (!owner)
    return (
      <Panel>
        <Empty title={t("settings.ownerOnly")} />
      </Panel>
    );
  const columns: Column<ApiKey>[] = [
    {
      key: "name",
      title: t("keys.name"),
      cell: (row) => (
        <>
          <strong>{row.name}</strong>
          <Beneath>
            {t(row.revoked_at ? "keys.revoked" : "keys.active")} · <Time at={row.created_at} />
          </Beneath>
        </>
      ),
    },
    {
      key: "scope",
      wrap: true,
      title: t("keys.scope"),
      cell: (row) => row.scopes.map((scope) => word("keys.scope", scope)).join(", "),
    },
    {
      key: "state",
      wide: true,
      title: t("column.state"),
      cell: (row) =>
        row.revoked_at ? <Badge>{t("keys.revoked")}</Badge> : <Badge tone="good">{t("keys.active")}</Badge>,
    },
    {
      key: "created",
      wide: true,
      title: t("column.created"),
      right: true,
      cell: (row) => <Time at={row.created_at} />,
    },
    {
      key: "act",
      title: "",
      right: true,
      cell: (row) =>
        !row.revoked_at && (
          <Button small kind="danger" onClick={() => setRevoking(row)}>
            {t("keys.revoke")}
          </Button>
        ),
    },
  ];
  return (
    <Panel
      title={t("keys.title")}
      flush
      actions={
        <>
          <a href="/docs">{t("keys.reference")}</a>
          <Button icon="plus" kind="primary" onClick={() => setMaking(true)}>
            {t("keys.new")}
          </Button>
        </>
      }
    >
      <Shown of={keys}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title={t("keys.empty")} />
          ) : (
            <Table label={t("keys.title")} columns={columns} rows={data} rowKey={(row) => row.id} />
          )
        }
      </Shown>
      {making && <NewKey onClose={() => setMaking(false)} />}
      {revoking && (
        <Confirm
          title={t("keys.revokeTitle", { name: revoking.name })}
          action={t("keys.revoke")}
          onConfirm={() => act(() => api.del(`${PATH}/${revoking.id}`), [[PATH]])}
          onClose={() => setRevoking(null)}
        >
          <p>{t("keys.revokeWhat")}</p>
        </Confirm>
      )}
    </Panel>
  );
}

function NewKey({ onClose }: { onClose: () => void }) {
  const { t } = useWords();
  const act = useAct();
  const [name, setName] = useState("");
  const [scope, setScope] = useState<string>("ingest");
  const [made, setMade] = useState<ApiKey | null>(null);
  const make = async () => setMade(await act(() => api.post<ApiKey>(PATH, { name, scopes: [scope] }), [[PATH]]));
  const footer = made ? (
    <Button kind="primary" onClick={onClose}>
      {t("action.close")}
    </Button>
  ) : (
    <>
      <Button onClick={onClose}>{t("action.cancel")}</Button>
      <Button kind="primary" disabled={!name} onClick={() => void make().catch(() => {})}>
        {t("keys.new")}
      </Button>
    </>
  );
  return (
    <Dialog title={t("keys.new")} onClose={onClose} footer={footer}>
      {made ? (
        <>
          <Note tone="warn">{t("keys.once")}</Note>
          <Code text={made.key ?? ""} label={t("keys.made")} wrap />
        </>
      ) : (
        <>
          <TextField label={t("keys.name")} value={name} onChange={(event) => setName(event.target.value)} autoFocus />
          <SelectField
            label={t("keys.scope")}
            value={scope}
            onChange={(event) => setScope(event.target.value)}
            choices={SCOPES.map((value) => ({ value, label: t(`keys.scope.${value}`) }))}
          />
        </>
      )}
    </Dialog>
  );
}
