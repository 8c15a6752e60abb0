import { useState, type FormEvent } from "react";
import type { PageProps } from "../../app";
import { api, part, type Schemas } from "../../api/client";
import { useAct, useRead } from "../../api/queries";
import type { Checked } from "../../editor/checked";
import { ExpressionField } from "../../editor/field";
import { useWords } from "../../i18n";
import { navigate } from "../../shell/router";
import { useMayEdit } from "../../shell/session";
import { Button, ButtonLink, TextField } from "../../ui/controls";
import { Note, Page, Panel } from "../../ui/layout";
import { Forbidden, Shown } from "../../ui/states";
import { Faults, Preview } from "./preview";

type Segment = Schemas["SegmentView"];

export default function SegmentEdit({ params }: PageProps) {
  const { t } = useWords();
  const mayEdit = useMayEdit();
  const segment = useRead<Segment>(`/api/v1/segments/${part(params.id ?? "")}`, {}, { enabled: Boolean(params.id) });
  if (!mayEdit)
    return (
      <Page title={t("segments.title")} crumb={{ to: "/segments", label: t("segments.title") }}>
        <Panel>
          <Forbidden />
        </Panel>
      </Page>
    );
  if (!params.id) return <Form segment={null} />;
  return <Shown of={segment}>{(data) => <Form segment={data} />}</Shown>;
}

function Form({ segment }: { segment: Segment | null }) {
  const { t } = useWords();
  const act = useAct();
  const [name, setName] = useState(segment?.name ?? "");
  const [expression, setExpression] = useState(segment?.expression ?? "");
  const [check, setCheck] = useState<Checked | null>(null);
  const save = async () => {
    const body = { name, expression: expression.trim() || undefined };
    try {
      const saved = await act(
        () =>
          segment
            ? api.put<Segment>(`/api/v1/segments/${segment.id}`, body)
            : api.post<Segment>("/api/v1/segments", body),
        [["/api/v1/segments"]],
        t("segments.saved"),
      );
      navigate(`/segments/${saved.id}`);
    } catch {
      // It was told; what was typed stays.
    }
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void save();
  };
  const back = segment ? `/segments/${segment.id}` : "/segments";
  return (
    <Page title={segment?.name ?? t("segments.new")} crumb={{ to: back, label: segment?.name ?? t("segments.title") }}>
      <div className="grid-aside">
        <Panel>
          <form className="form" onSubmit={submit}>
            <TextField
              label={t("column.name")}
              value={name}
              onChange={(event) => setName(event.target.value)}
              maxLength={200}
              required
            />
            <ExpressionField
              label={t("segments.expression")}
              hint={t("segments.expressionHint")}
              place="segment"
              value={expression}
              onChange={setExpression}
              onCheck={setCheck}
            />
            {check && !check.ok && <Faults check={check} />}
            {!expression.trim() && <p className="soft small">{t("segments.byHand")}</p>}
            {segment && segment.used_by.length > 0 && (
              <Note tone="warn">{t("segments.changes", { n: segment.used_by.length })}</Note>
            )}
            <div className="actions">
              <Button kind="primary" type="submit" disabled={!name.trim() || (check !== null && !check.ok)}>
                {t("action.save")}
              </Button>
              <ButtonLink to={back}>{t("action.cancel")}</ButtonLink>
            </div>
          </form>
        </Panel>
        <Preview expression={expression.trim()} check={check} />
      </div>
    </Page>
  );
}
