// Beside the canvas: the chosen node, or the journey itself.
import { useState } from "react";
import { address, type Schemas } from "../api/client";
import { useRead } from "../api/queries";
import { ExpressionField } from "../editor/field";
import { useWords } from "../i18n";
import { Link } from "../shell/router";
import { Button, SelectField, TextField } from "../ui/controls";
import { Code } from "../ui/values";
import type { NodeCount } from "./counts";
import { waysOf, type Definition, type Kind, type NodeDef } from "./definition";
import { FORMS } from "./forms";
import { wayName } from "./way-name";

type Fault = Schemas["FaultView"];

export function FaultList({ faults, onChoose }: { faults: Fault[]; onChoose?: (id: string) => void }) {
  const { t } = useWords();
  if (faults.length === 0) return null;
  const bad = faults.some((fault) => fault.severity === "fault");
  return (
    <div className="note" data-tone={bad ? "bad" : "warn"}>
      <ul className="faults" aria-label={t("canvas.faults")}>
        {faults.map((fault, index) => (
          <li key={index}>
            <span>
              {fault.node && onChoose && (
                <>
                  <button type="button" className="link" onClick={() => onChoose(fault.node ?? "")}>
                    {fault.node}
                  </button>{" "}
                </>
              )}
              {fault.field && <code>{fault.field}</code>}{" "}
              <span lang="en">
                {fault.message}
                {fault.suggestion ? `; ${fault.suggestion}` : ""}
              </span>
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}

export type NodeSideProps = {
  journey: string;
  definition: Definition;
  node: NodeDef;
  count: NodeCount | null;
  faults: Fault[];
  readOnly: boolean;
  onChange: (field: string, value: unknown) => void;
  onLead: (by: string, to: string | null) => void;
  onRename: (to: string) => void;
  onRemove: () => void;
};

export function NodeSide(props: NodeSideProps) {
  const { t, word } = useWords();
  const { node, readOnly } = props;
  const Form = FORMS[node.node_type];
  return (
    <div className="stack">
      <h2>{word("node", node.node_type)}</h2>
      {props.count && <Numbers journey={props.journey} node={node} count={props.count} />}
      <FaultList faults={props.faults} />
      <Identity node={node} readOnly={readOnly} onChange={props.onChange} onRename={props.onRename} />
      {Form && <Form key={node.id} node={node} change={props.onChange} readOnly={readOnly} />}
      <Ways {...props} />
      <details>
        <summary>{t("canvas.docs")}</summary>
        <p className="soft">{word("node.doc", node.node_type)}</p>
        <Example kind={node.node_type} />
      </details>
      {!readOnly && (
        <div>
          <Button kind="danger" icon="trash" onClick={props.onRemove}>
            {t("canvas.delete")}
          </Button>
        </div>
      )}
    </div>
  );
}

/** As it is written in YAML, from the server's own documentation. */
function Example({ kind }: { kind: Kind }) {
  const { t } = useWords();
  const kinds = useRead<{ data: { kind: string; example: string }[] }>("/api/v1/journey-nodes").data;
  const example = kinds?.data.find((one) => one.kind === kind)?.example;
  return example ? <Code text={example} label={t("canvas.docs")} /> : null;
}

function Identity({
  node,
  readOnly,
  onChange,
  onRename,
}: Pick<NodeSideProps, "node" | "readOnly" | "onChange" | "onRename">) {
  const { t } = useWords();
  const [id, setId] = useState(node.id);
  return (
    <>
      <TextField
        label={t("field.label")}
        value={node.label ?? ""}
        readOnly={readOnly}
        onChange={(event) => onChange("label", event.target.value)}
      />
      <TextField
        label={t("field.id")}
        value={id}
        readOnly={readOnly}
        onChange={(event) => setId(event.target.value)}
        onBlur={() => (id && id !== node.id ? onRename(id) : setId(node.id))}
      />
    </>
  );
}

function Numbers({ journey, node, count }: { journey: string; node: NodeDef; count: NodeCount }) {
  const { t } = useWords();
  const runs = `/journeys/${journey}/runs`;
  return (
    <ul className="side-numbers">
      <li>
        <Link to={address(runs, { node: node.id, status: "active" })}>
          {t("canvas.who")}: {t("canvas.here", { n: count.at })}
        </Link>
      </li>
      <li className="soft">
        {t("canvas.entered", { n: count.entered })}, {t("canvas.passed", { n: count.left })}
      </li>
      {node.node_type === "send_message" && (
        <li>
          <Link to={address("/messages", { journey, node: node.id })}>{t("canvas.messages")}</Link>
        </li>
      )}
    </ul>
  );
}

/** The same as drawing a line, for whoever has no mouse. */
function Ways({ definition, node, readOnly, onLead }: NodeSideProps) {
  const { t } = useWords();
  const words = useWords();
  const others = definition.nodes.filter((other) => other.id !== node.id && other.node_type !== "trigger");
  const choices = [
    { value: "", label: t("way.nowhere") },
    ...others.map((other) => ({ value: other.id, label: other.label ? `${other.label} (${other.id})` : other.id })),
  ];
  return waysOf(node).map((way) => (
    <SelectField
      key={way.by}
      label={t("way.leads", { by: wayName(way.by, words) })}
      value={way.to ?? ""}
      disabled={readOnly}
      onChange={(event) => onLead(way.by, event.target.value || null)}
      choices={choices}
    />
  ));
}

type JourneySideProps = {
  definition: Definition;
  faults: Fault[];
  readOnly: boolean;
  onChange: (field: string, value: unknown) => void;
  onChoose: (id: string) => void;
};

const POLICIES = ["skip", "restart", "parallel", "wait"];

export function JourneySide({ definition, faults, readOnly, onChange, onChoose }: JourneySideProps) {
  const { t, word } = useWords();
  const text = (name: string) => String(definition[name] ?? "");
  return (
    <div className="stack">
      <h2>{t("canvas.settings")}</h2>
      <p className="soft">{t("canvas.pick")}</p>
      <FaultList faults={faults} onChoose={onChoose} />
      <TextField
        label={t("field.description")}
        value={text("description")}
        readOnly={readOnly}
        onChange={(event) => onChange("description", event.target.value)}
      />
      <SelectField
        label={t("field.reentry_policy")}
        value={text("reentry_policy") || "skip"}
        disabled={readOnly}
        onChange={(event) => onChange("reentry_policy", event.target.value)}
        choices={POLICIES.map((value) => ({ value, label: word("field.reentry_policy", value) }))}
      />
      <TextField
        label={t("field.reentry_key")}
        hint={t("field.reentry_keyHint")}
        value={text("reentry_key")}
        readOnly={readOnly}
        onChange={(event) => onChange("reentry_key", event.target.value)}
      />
      <ExpressionField
        small
        label={t("field.exit_when")}
        place="journey"
        value={text("exit_when")}
        readOnly={readOnly}
        onChange={(value) => onChange("exit_when", value)}
      />
    </div>
  );
}
