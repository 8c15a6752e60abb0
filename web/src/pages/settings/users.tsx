import { useState } from "react";
import { api, Problem, type FieldFault } from "../../api/client";
import { useAct, useRead } from "../../api/queries";
import { useWords } from "../../i18n";
import { useIsOwner, useSession, type Role, type User } from "../../shell/session";
import { Button, SelectField, TextField } from "../../ui/controls";
import { Confirm, Dialog } from "../../ui/dialog";
import { Panel } from "../../ui/layout";
import { Empty, Shown } from "../../ui/states";
import { Table, type Column } from "../../ui/table";
import { Time } from "../../ui/values";

type Known = User & { created_at: string };
const ROLES: Role[] = ["owner", "editor", "viewer"];
const PATH = "/api/v1/users";

export function Users() {
  const { t } = useWords();
  const owner = useIsOwner();
  const me = useSession().user.id;
  const act = useAct();
  const [adding, setAdding] = useState(false);
  const [removing, setRemoving] = useState<Known | null>(null);
  const [changing, setChanging] = useState<Known | null>(null);
  const users = useRead<{ data: Known[] }>(PATH);
  const setRole = (user: Known, role: string) => act(() => api.put(`${PATH}/${user.id}`, { role }), [[PATH]]);
  const columns: Column<Known>[] = [
    { key: "name", title: t("column.name"), cell: (row) => <strong>{row.name}</strong> },
    { key: "email", wide: true, title: t("signin.email"), cell: (row) => row.email },
    {
      key: "role",
      title: t("users.role"),
      cell: (row) =>
        owner ? (
          <select
            className="input"
            aria-label={`${row.name}: ${t("users.role")}`}
            value={row.role}
            onChange={(event) => void setRole(row, event.target.value).catch(() => {})}
          >
            {ROLES.map((role) => (
              <option key={role} value={role}>
                {t(`role.${role}`)}
              </option>
            ))}
          </select>
        ) : (
          t(`role.${row.role}`)
        ),
    },
    {
      key: "created",
      wide: true,
      title: t("column.created"),
      right: true,
      cell: (row) => <Time at={row.created_at} />,
    },
  ];
  if (owner)
    columns.push({
      key: "act",
      title: "",
      right: true,
      cell: (row) => (
        <span className="actions">
          <Button small onClick={() => setChanging(row)}>
            {t("users.password")}
          </Button>
          {row.id !== me && (
            <Button small kind="danger" onClick={() => setRemoving(row)}>
              {t("users.remove")}
            </Button>
          )}
        </span>
      ),
    });
  return (
    <Panel
      title={t("users.title")}
      flush
      actions={
        owner ? (
          <Button icon="plus" kind="primary" onClick={() => setAdding(true)}>
            {t("users.new")}
          </Button>
        ) : (
          <span className="soft small">{t("settings.ownerOnly")}</span>
        )
      }
    >
      <Shown of={users}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title={t("users.empty")} />
          ) : (
            <Table label={t("users.title")} columns={columns} rows={data} rowKey={(row) => row.id} />
          )
        }
      </Shown>
      {adding && <NewUser onClose={() => setAdding(false)} />}
      {changing && <NewPassword user={changing} onClose={() => setChanging(null)} />}
      {removing && (
        <Confirm
          title={t("users.removeTitle", { name: removing.name })}
          action={t("users.remove")}
          onConfirm={() => act(() => api.del(`${PATH}/${removing.id}`), [[PATH]])}
          onClose={() => setRemoving(null)}
        >
          <p>{t("users.removeWhat")}</p>
        </Confirm>
      )}
    </Panel>
  );
}

function NewPassword({ user, onClose }: { user: Known; onClose: () => void }) {
  const { t } = useWords();
  const act = useAct();
  const [password, setPassword] = useState("");
  const save = async () => {
    await act(() => api.put(`${PATH}/${user.id}`, { password }), [[PATH]], t("users.passwordChanged"));
    onClose();
  };
  return (
    <Dialog
      title={t("users.passwordOf", { name: user.name })}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t("action.cancel")}</Button>
          <Button kind="primary" disabled={!password} onClick={() => void save().catch(() => {})}>
            {t("action.save")}
          </Button>
        </>
      }
    >
      <TextField
        label={t("users.newPassword")}
        type="password"
        hint={t("setup.passwordHint")}
        autoComplete="new-password"
        value={password}
        onChange={(event) => setPassword(event.target.value)}
        autoFocus
      />
    </Dialog>
  );
}

function NewUser({ onClose }: { onClose: () => void }) {
  const { t } = useWords();
  const act = useAct();
  const [user, setUser] = useState({ name: "", email: "", password: "", role: "editor" });
  const [faults, setFaults] = useState<FieldFault[]>([]);
  const faultOf = (name: string) => faults.find((fault) => fault.pointer === `/${name}`)?.detail;
  const bind = (name: keyof typeof user) => ({
    value: user[name],
    fault: faultOf(name),
    onChange: (event: { target: { value: string } }) => setUser({ ...user, [name]: event.target.value }),
  });
  const save = async () => {
    try {
      await act(() => api.post(PATH, user), [[PATH]], t("users.added"));
      onClose();
    } catch (error) {
      setFaults(error instanceof Problem ? error.fieldFaults : []);
    }
  };
  return (
    <Dialog
      title={t("users.new")}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t("action.cancel")}</Button>
          <Button kind="primary" onClick={() => void save()}>
            {t("action.add")}
          </Button>
        </>
      }
    >
      <TextField label={t("column.name")} {...bind("name")} autoFocus />
      <TextField label={t("signin.email")} type="email" {...bind("email")} />
      <TextField
        label={t("signin.password")}
        type="password"
        hint={t("setup.passwordHint")}
        autoComplete="new-password"
        {...bind("password")}
      />
      <SelectField
        label={t("users.role")}
        hint={t("users.roleHint")}
        choices={ROLES.map((role) => ({ value: role, label: t(`role.${role}`) }))}
        {...bind("role")}
      />
    </Dialog>
  );
}
