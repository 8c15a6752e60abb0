import { useState } from "react";
import { api, part, type Schemas } from "../../api/client";
import { useAct } from "../../api/queries";
import { useWords } from "../../i18n";
import { AreaField, Button, CheckField, SelectField, TextField } from "../../ui/controls";
import { Dialog } from "../../ui/dialog";

type Channel = Schemas["ChannelView"];

const KINDS = ["email", "webhook", "slack", "sms", "outbox"];

// What a new channel of a kind needs first; everything else has a default.
const FIRST: Record<string, unknown> = {
  email: { host: "mail.example.com", security: "starttls", username: "", from: { name: "", address: "" } },
  webhook: { url: "https://" },
  slack: { channel: "" },
  sms: {},
  outbox: {},
};

function jsonOf(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text || "{}");
    return value !== null && typeof value === "object" && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

export function ChannelForm({ channel, onClose }: { channel: Channel | null; onClose: () => void }) {
  const { t } = useWords();
  const act = useAct();
  const [name, setName] = useState(channel?.name ?? "email");
  const [kind, setKind] = useState(channel?.kind ?? "email");
  const [enabled, setEnabled] = useState(channel?.enabled ?? true);
  const [rate, setRate] = useState(String(channel?.rate_limit_per_minute ?? ""));
  const [settings, setSettings] = useState(JSON.stringify(channel?.settings ?? FIRST.email, null, 2));
  const [secrets, setSecrets] = useState("{}");
  const choose = (next: string) => {
    if (!channel && name === kind) setName(next);
    if (!channel) setSettings(JSON.stringify(FIRST[next] ?? {}, null, 2));
    setKind(next);
  };
  const [given, hidden] = [jsonOf(settings), jsonOf(secrets)];
  const save = async () => {
    const body = {
      kind,
      enabled,
      settings: given,
      secrets: hidden,
      rate_limit_per_minute: rate ? Number(rate) : undefined,
      contact_limit: channel?.contact_limit ?? undefined,
      max_retries: channel?.max_retries,
      on_unknown: channel?.on_unknown,
      breaker: channel?.breaker,
    };
    await act(
      () => api.put(`/api/v1/channels/${part(name)}`, body),
      [["/api/v1/channels"]],
      t("channels.saved", { name }),
    );
    onClose();
  };
  const set = Object.keys(channel?.secrets ?? {}).join(", ") || t("channels.noSecrets");
  return (
    <Dialog
      title={channel ? t("channels.edit", { name: channel.name }) : t("channels.new")}
      onClose={onClose}
      wide
      footer={
        <>
          <Button onClick={onClose}>{t("action.cancel")}</Button>
          <Button kind="primary" disabled={!name || !given || !hidden} onClick={() => void save().catch(() => {})}>
            {t("action.save")}
          </Button>
        </>
      }
    >
      <div className="form-row">
        <SelectField
          label={t("channels.kind")}
          value={kind}
          disabled={channel !== null}
          onChange={(event) => choose(event.target.value)}
          choices={KINDS.map((value) => ({ value, label: value }))}
        />
        <TextField
          label={t("column.name")}
          value={name}
          readOnly={channel !== null}
          onChange={(event) => setName(event.target.value)}
        />
        <TextField
          label={t("channels.rate")}
          type="number"
          min={1}
          value={rate}
          onChange={(event) => setRate(event.target.value)}
        />
      </div>
      <CheckField
        label={t("channels.enabled")}
        checked={enabled}
        onChange={(event) => setEnabled(event.target.checked)}
      />
      <AreaField
        label={t("channels.settings")}
        rows={8}
        value={settings}
        fault={given ? null : t("channels.badJson")}
        onChange={(event) => setSettings(event.target.value)}
      />
      <AreaField
        label={t("channels.secretsJson")}
        rows={3}
        hint={t("channels.secretsHint", { names: set })}
        value={secrets}
        fault={hidden ? null : t("channels.badJson")}
        onChange={(event) => setSecrets(event.target.value)}
        autoComplete="off"
      />
    </Dialog>
  );
}
