// The parts the forms of nodes are put together from.
import { useId, useState } from "react";
import { useRead } from "../api/queries";
import type { Place } from "../editor/editor";
import { ExpressionField } from "../editor/field";
import type { Names } from "../editor/words";
import { useWords, type Key } from "../i18n";
import { Button, IconButton, SelectField, TextField } from "../ui/controls";
import { valueText } from "../ui/values";
import type { NodeDef } from "./definition";

export type Change = (field: string, value: unknown) => void;
export type PartProps = { node: NodeDef; change: Change; readOnly: boolean };

const text = (value: unknown) => (typeof value === "string" || typeof value === "number" ? String(value) : "");

export function Text({ node, change, readOnly, field, hint }: PartProps & { field: string; hint?: Key }) {
  const { t } = useWords();
  return (
    <TextField
      label={t(`field.${field}` as Key)}
      hint={hint && t(hint)}
      value={text(node[field])}
      readOnly={readOnly}
      onChange={(event) => change(field, event.target.value)}
    />
  );
}

export function Number({ node, change, readOnly, field, hint }: PartProps & { field: string; hint?: Key }) {
  const { t } = useWords();
  return (
    <TextField
      label={t(`field.${field}` as Key)}
      hint={hint && t(hint)}
      type="number"
      value={text(node[field])}
      readOnly={readOnly}
      onChange={(event) => change(field, event.target.value === "" ? undefined : event.target.valueAsNumber)}
    />
  );
}

export function Choose({
  node,
  change,
  readOnly,
  field,
  options,
  fallback,
}: PartProps & { field: string; options: string[]; fallback: string }) {
  const { t, word } = useWords();
  return (
    <SelectField
      label={t(`field.${field}` as Key)}
      value={text(node[field]) || fallback}
      disabled={readOnly}
      onChange={(event) => change(field, event.target.value)}
      choices={options.map((value) => ({ value, label: word(`field.${field}`, value) }))}
    />
  );
}

export function Expression({ node, change, readOnly, field, place }: PartProps & { field: string; place: Place }) {
  const { t } = useWords();
  return (
    <ExpressionField
      small
      label={t(`field.${field}` as Key)}
      place={place}
      value={text(node[field])}
      readOnly={readOnly}
      onChange={(value) => change(field, value)}
    />
  );
}

/** Free text with what is known offered below it: an event may be named before the first one came. */
export function EventType(props: PartProps) {
  const { t } = useWords();
  const id = useId();
  const names = useRead<Names>("/api/v1/names").data;
  return (
    <>
      <TextField
        label={t("field.event_type")}
        list={id}
        value={text(props.node.event_type)}
        readOnly={props.readOnly}
        onChange={(event) => props.change("event_type", event.target.value)}
        autoComplete="off"
      />
      <datalist id={id}>
        {names?.events.map((event) => (
          <option key={event.name} value={event.name} />
        ))}
      </datalist>
    </>
  );
}

type PairsProps = PartProps & { field: string; hint: Key; read: (text: string) => unknown };

/** Names and values, a line for each. */
export function Pairs({ node, change, readOnly, field, hint, read }: PairsProps) {
  const { t } = useWords();
  const kept = Object.entries((node[field] as Record<string, unknown> | undefined) ?? {});
  const [open, setOpen] = useState<[string, string] | null>(null);
  const write = (entries: [string, unknown][]) =>
    change(field, entries.length ? Object.fromEntries(entries) : undefined);
  return (
    <fieldset className="pairs">
      <legend>{t(`field.${field}` as Key)}</legend>
      {kept.map(([name, value], at) => (
        <div className="pair" key={name}>
          <span className="chip">{name}</span>
          <input
            className="input"
            aria-label={`${name}: ${t("field.value")}`}
            value={valueText(value)}
            readOnly={readOnly}
            onChange={(event) =>
              write(kept.map((one, index) => (index === at ? [name, read(event.target.value)] : one)))
            }
          />
          {!readOnly && (
            <IconButton
              icon="close"
              label={`${t("action.remove")}: ${name}`}
              onClick={() => write(kept.filter((_, index) => index !== at))}
            />
          )}
        </div>
      ))}
      {open && (
        <div className="pair">
          <input
            className="input"
            aria-label={t("field.name")}
            placeholder={t("field.name")}
            value={open[0]}
            onChange={(event) => setOpen([event.target.value, open[1]])}
          />
          <input
            className="input"
            aria-label={t("field.value")}
            placeholder={t("field.value")}
            value={open[1]}
            onChange={(event) => setOpen([open[0], event.target.value])}
          />
          <IconButton
            icon="plus"
            label={t("action.add")}
            disabled={!open[0] || !open[1]}
            onClick={() => {
              write([...kept, [open[0], read(open[1])]]);
              setOpen(null);
            }}
          />
        </div>
      )}
      <span className="small soft">{t(hint)}</span>
      {!readOnly && !open && (
        <div>
          <Button small icon="plus" onClick={() => setOpen(["", ""])}>
            {t("field.addRow")}
          </Button>
        </div>
      )}
    </fieldset>
  );
}
