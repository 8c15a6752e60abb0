import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, part, type Schemas } from "../../api/client";
import { useAct, useChannels, useRead } from "../../api/queries";
import { useWords } from "../../i18n";
import { Button, SelectField, TextField } from "../../ui/controls";
import { Panel } from "../../ui/layout";
import { useSettled } from "../../ui/settled";
import { Empty, Failure, Shown } from "../../ui/states";
import { Time } from "../../ui/values";
import { Content } from "../messages/content";
import { writeDocument, type Document } from "./document";

/** Rendered by what sends messages, for a contact that is there. */
export function TemplatePreview({ document, good }: { document: Document; good: boolean }) {
  const { t } = useWords();
  const [typed, setUserId] = useState("");
  const userId = useSettled(typed);
  const preview = useQuery({
    queryKey: ["template-preview", document, userId],
    queryFn: ({ signal }) =>
      api.post<Schemas["RenderedView"]>(
        `/api/v1/templates/${part(document.name)}/preview`,
        { document: writeDocument(document), user_id: userId || undefined },
        { signal },
      ),
    enabled: document.name !== "" && document.body !== "" && good,
    placeholderData: keepPreviousData,
    retry: false,
    gcTime: 0,
  });
  return (
    <Panel title={t("templates.preview")}>
      <div className="stack">
        <TextField
          label={t("templates.previewFor")}
          placeholder={t("templates.previewNobody")}
          value={typed}
          onChange={(event) => setUserId(event.target.value)}
        />
        {preview.isError ? (
          <Failure error={preview.error} />
        ) : preview.data ? (
          <>
            <Content said={preview.data} />
            {preview.data.missing.length > 0 && (
              <p className="small soft">{t("templates.missing", { names: preview.data.missing.join(", ") })}</p>
            )}
          </>
        ) : (
          <Empty title={t("messages.noContent")} />
        )}
      </div>
    </Panel>
  );
}

const CHANNELS = ["email", "outbox", "webhook", "slack", "sms"];

export function TestSend({ name }: { name: string }) {
  const { t } = useWords();
  const act = useAct();
  const channels = useChannels().data?.data.map((channel) => channel.name) ?? [];
  const [channel, setChannel] = useState("email");
  const [to, setTo] = useState("");
  const send = () =>
    act(
      () => api.post("/api/v1/messages", { channel, to, template: name, priority: 10 }),
      [["/api/v1/messages"]],
      t("templates.testSent"),
    );
  return (
    <Panel title={t("templates.test")}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          void send().catch(() => {});
        }}
      >
        <div className="form-row">
          <SelectField
            label={t("templates.testChannel")}
            value={channel}
            onChange={(event) => setChannel(event.target.value)}
            choices={[...new Set([...CHANNELS, ...channels])].map((value) => ({ value, label: value }))}
          />
          <TextField
            label={t("templates.testTo")}
            value={to}
            onChange={(event) => setTo(event.target.value)}
            required
          />
        </div>
        <p className="small soft">{t("templates.testPublished")}</p>
        <div className="actions">
          <Button type="submit" disabled={!to}>
            {t("templates.test")}
          </Button>
        </div>
      </form>
    </Panel>
  );
}

export function Versions({ name }: { name: string }) {
  const { t } = useWords();
  const versions = useRead<Schemas["TemplateVersionList"]>(`/api/v1/templates/${part(name)}/versions`);
  return (
    <Panel title={t("templates.versions")} label={t("templates.versions")} flush>
      <Shown of={versions}>
        {({ data }) => (
          <ul className="list-links">
            {data.map((version) => (
              <li key={version.version}>
                <span>
                  {t("canvas.versionN", { n: version.version })}{" "}
                  <code className="small soft">{version.hash.slice(0, 12)}</code>
                </span>
                <span className="soft small">
                  <Time at={version.published_at} />
                </span>
              </li>
            ))}
          </ul>
        )}
      </Shown>
    </Panel>
  );
}
