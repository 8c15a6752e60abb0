// One form for each kind of node.
import type { ComponentType } from "react";
import { useChannels, useSegments, useTemplates } from "../api/queries";
import { ExpressionField } from "../editor/field";
import { useWords } from "../i18n";
import { Button, IconButton, SelectField, TextField } from "../ui/controls";
import { branchesOf, type Branch, type Kind } from "./definition";
import { Choose, EventType, Expression, Number as NumberPart, Pairs, Text, type PartProps } from "./fields";
import { readValue } from "./read-value";

const asWritten = (text: string) => text;

function TriggerForm(props: PartProps) {
  const type = String(props.node.trigger_type ?? "event");
  return (
    <>
      <Choose
        {...props}
        field="trigger_type"
        options={["event", "segment_entered", "segment_left", "manual"]}
        fallback="event"
      />
      {type === "event" && <EventType {...props} />}
      {type === "event" && <Expression {...props} field="event_conditions" place="trigger" />}
      {type.startsWith("segment_") && <SegmentChoice {...props} />}
      {type === "event" && <Pairs {...props} field="state" hint="field.stateHint" read={asWritten} />}
    </>
  );
}

function SegmentChoice({ node, change, readOnly }: PartProps) {
  const { t } = useWords();
  const segments = useSegments().data?.data ?? [];
  const value = String(node.segment ?? "");
  const names = segments.map((segment) => ({ value: segment.name, label: segment.name }));
  const known = !value || segments.some((segment) => segment.name === value);
  return (
    <SelectField
      label={t("field.segment")}
      value={value}
      disabled={readOnly}
      onChange={(event) => change("segment", event.target.value)}
      choices={[{ value: "", label: "–" }, ...(known ? [] : [{ value, label: value }]), ...names]}
    />
  );
}

const ConditionForm = (props: PartProps) => <Expression {...props} field="condition" place="journey" />;

function WaitForm(props: PartProps) {
  const type = String(props.node.wait_type ?? "duration");
  return (
    <>
      <Choose {...props} field="wait_type" options={["duration", "event", "condition"]} fallback="duration" />
      {type === "duration" && <Text {...props} field="duration" hint="field.durationHint" />}
      {type === "event" && <EventType {...props} />}
      {type === "event" && <Expression {...props} field="event_conditions" place="journey_event" />}
      {type === "event" && <Pairs {...props} field="state" hint="field.stateHint" read={asWritten} />}
      {type === "condition" && <Expression {...props} field="wait_condition" place="journey" />}
      {type !== "duration" && <Text {...props} field="timeout" hint="field.durationHint" />}
    </>
  );
}

const CHANNELS = ["email", "webhook", "slack", "sms", "outbox"];

function SendForm(props: PartProps) {
  const { t } = useWords();
  const { node, change, readOnly } = props;
  const channels = useChannels().data?.data.map((channel) => channel.name) ?? [];
  const templates =
    useTemplates()
      .data?.data.filter((template) => !template.retired)
      .map((template) => template.name) ?? [];
  const named = (names: string[], value: string) =>
    [...new Set([...names, ...(value ? [value] : [])])].map((name) => ({ value: name, label: name }));
  const template = String(node.template ?? "");
  const channel = String(node.channel ?? "email");
  return (
    <>
      <SelectField
        label={t("field.channel")}
        value={channel}
        disabled={readOnly}
        onChange={(event) => change("channel", event.target.value)}
        choices={named([...CHANNELS, ...channels], channel)}
      />
      <SelectField
        label={t("field.template")}
        value={template}
        disabled={readOnly}
        onChange={(event) => change("template", event.target.value)}
        choices={[{ value: "", label: t("field.templateNone") }, ...named(templates, template)]}
      />
      <NumberPart {...props} field="priority" hint="field.priorityHint" />
    </>
  );
}

const UpdateForm = (props: PartProps) => <Pairs {...props} field="updates" hint="field.updatesHint" read={readValue} />;

function BranchForm({ node, change, readOnly }: PartProps) {
  const { t } = useWords();
  const branches = branchesOf(node);
  const write = (at: number, part: Partial<Branch>) =>
    change(
      "branches",
      branches.map((branch, index) => (index === at ? { ...branch, ...part } : branch)),
    );
  return (
    <>
      {branches.map((branch, at) => (
        <fieldset className="pairs" key={at}>
          <legend>{t("field.branch", { n: at + 1 })}</legend>
          <div className="pair">
            <TextField
              label={t("field.priority")}
              type="number"
              value={branch.priority ?? ""}
              readOnly={readOnly}
              onChange={(event) => write(at, { priority: event.target.valueAsNumber || undefined })}
            />
            {!readOnly && (
              <IconButton
                icon="trash"
                label={`${t("action.remove")}: ${t("field.branch", { n: at + 1 })}`}
                onClick={() =>
                  change(
                    "branches",
                    branches.filter((_, index) => index !== at),
                  )
                }
              />
            )}
          </div>
          <ExpressionField
            small
            label={t("field.condition")}
            place="journey"
            value={branch.condition ?? ""}
            readOnly={readOnly}
            onChange={(condition) => write(at, { condition })}
          />
        </fieldset>
      ))}
      {!readOnly && (
        <div>
          <Button
            small
            icon="plus"
            onClick={() => change("branches", [...branches, { priority: branches.length + 1, condition: "" }])}
          >
            {t("field.addBranch")}
          </Button>
        </div>
      )}
    </>
  );
}

const ExitForm = () => null;

export const FORMS: Record<Kind, ComponentType<PartProps>> = {
  trigger: TriggerForm,
  condition: ConditionForm,
  wait: WaitForm,
  send_message: SendForm,
  update_contact: UpdateForm,
  branch: BranchForm,
  exit: ExitForm,
};
