import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { PageProps } from "../../app";
import { api, part, type Schemas } from "../../api/client";
import { useAct, useRead } from "../../api/queries";
import { FaultList } from "../../canvas/side";
import { useWords } from "../../i18n";
import { navigate } from "../../shell/router";
import { useMayEdit } from "../../shell/session";
import { AreaField, Badge, Button, CheckField, SelectField, TextField } from "../../ui/controls";
import { Confirm } from "../../ui/dialog";
import { Page, Panel } from "../../ui/layout";
import { useSettled } from "../../ui/settled";
import { Shown } from "../../ui/states";
import { BODIES, readDocument, writeDocument, type Body, type Document } from "./document";
import { TemplatePreview, TestSend, Versions } from "./aside";

type Detail = Schemas["TemplateDetail"];

export default function TemplatePage({ params }: PageProps) {
  const { t } = useWords();
  const name = params.name ?? "";
  const template = useRead<Detail>(`/api/v1/templates/${part(name)}`, {}, { enabled: name !== "" });
  if (!name) return <Form template={null} />;
  if (!template.data)
    return (
      <Page title={name} crumb={{ to: "/templates", label: t("templates.title") }}>
        <Panel>
          <Shown of={template}>{() => null}</Shown>
        </Panel>
      </Page>
    );
  return <Form template={template.data} />;
}

function Form({ template }: { template: Detail | null }) {
  const { t } = useWords();
  const mayEdit = useMayEdit();
  const [document, setDocument] = useState<Document>(() => readDocument(template?.document));
  const settled = useSettled(document);
  const check = useQuery({
    queryKey: ["template-check", settled],
    queryFn: ({ signal }) =>
      api.post<Schemas["TemplateCheck"]>("/api/v1/templates/check", writeDocument(settled), { signal }),
    enabled: settled.name !== "" && settled.body !== "",
    placeholderData: keepPreviousData,
    gcTime: 0,
  });
  const faults = check.data?.faults ?? [];
  const bad = faults.filter((fault) => fault.severity !== "warning").length;
  const set = (change: Partial<Document>) => setDocument({ ...document, ...change });
  const lead = check.data && (
    <Badge tone={bad ? "bad" : "good"}>{bad ? t("templates.faults", { n: bad }) : t("templates.good")}</Badge>
  );
  return (
    <Page
      title={template?.name ?? t("templates.new")}
      crumb={{ to: "/templates", label: t("templates.title") }}
      lead={lead}
      actions={mayEdit && <Actions template={template} document={document} faulty={bad > 0} />}
    >
      <div className="grid-2">
        <Panel>
          <fieldset className="form plain" disabled={!mayEdit}>
            {!template && (
              <TextField
                label={t("column.name")}
                hint={t("templates.nameHint")}
                value={document.name}
                onChange={(event) => set({ name: event.target.value })}
              />
            )}
            <div className="form-row">
              <TextField
                label={t("messages.topic")}
                value={document.topic}
                onChange={(event) => set({ topic: event.target.value })}
              />
              <SelectField
                label={t("templates.bodyKind")}
                value={document.kind}
                onChange={(event) => set({ kind: event.target.value as Body })}
                choices={BODIES.map((kind) => ({ value: kind, label: t(`templates.kind.${kind}`) }))}
              />
            </div>
            <p className="small soft">{t("templates.topicHint")}</p>
            <TextField
              label={t("messages.subject")}
              value={document.subject}
              onChange={(event) => set({ subject: event.target.value })}
            />
            <TextField
              label={t("templates.preheader")}
              value={document.preheader}
              onChange={(event) => set({ preheader: event.target.value })}
            />
            <AreaField
              label={t("templates.body")}
              rows={16}
              value={document.body}
              onChange={(event) => set({ body: event.target.value })}
            />
            <FaultList faults={faults} />
            <TextField
              label={t("templates.description")}
              value={document.description}
              onChange={(event) => set({ description: event.target.value })}
            />
            <CheckField
              label={t("templates.strict")}
              checked={document.strict}
              onChange={(event) => set({ strict: event.target.checked })}
            />
          </fieldset>
        </Panel>
        <div className="stack">
          <TemplatePreview document={settled} good={check.isSuccess && !check.isPlaceholderData && bad === 0} />
          {template && mayEdit && <TestSend name={template.name} />}
          {template && <Versions name={template.name} />}
        </div>
      </div>
    </Page>
  );
}

function Actions({ template, document, faulty }: { template: Detail | null; document: Document; faulty: boolean }) {
  const { t } = useWords();
  const act = useAct();
  const [retiring, setRetiring] = useState(false);
  const [busy, setBusy] = useState(false);
  const path = `/api/v1/templates/${part(document.name)}`;
  const publish = async () => {
    const answer = await act(
      () => api.put<Schemas["TemplateAnswer"]>(path, writeDocument(document)),
      [["/api/v1/templates"]],
    );
    await act(
      async () => answer,
      [],
      t(answer.published ? "templates.published" : "templates.unchanged", { n: answer.version }),
    );
    if (!template) navigate(`/templates/${part(document.name)}`);
  };
  const retire = async () => {
    await act(() => api.del(path), [["/api/v1/templates"]]);
    navigate("/templates");
  };
  return (
    <>
      {template && !template.retired && (
        <Button kind="danger" onClick={() => setRetiring(true)}>
          {t("templates.retire")}
        </Button>
      )}
      <Button
        kind="primary"
        disabled={faulty || !document.name || !document.body}
        busy={busy}
        onClick={() => {
          setBusy(true);
          void publish()
            .catch(() => {})
            .finally(() => setBusy(false));
        }}
      >
        {t("templates.publish")}
      </Button>
      {retiring && (
        <Confirm
          title={`${t("templates.retire")}: ${document.name}`}
          action={t("templates.retire")}
          onConfirm={retire}
          onClose={() => setRetiring(false)}
        >
          <p>{t("templates.retireWhat")}</p>
        </Confirm>
      )}
    </>
  );
}
