import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { api, type FieldFault } from "../../api/client";
import { say, useWords, type Language } from "../../i18n";
import { useMayEdit } from "../../shell/session";
import { Button, ButtonLink, FileField } from "../../ui/controls";
import { Note, Page, Panel } from "../../ui/layout";
import { Table, type Column } from "../../ui/table";
import { problemText } from "../../ui/problem-text";
import { Forbidden } from "../../ui/states";
import { Code, valueText } from "../../ui/values";
import { guess, isNamed, readCsv, rowOf, TARGETS, type Line, type Row, type Target } from "./csv";

type Read = { headings: string[]; lines: Line[] };
/** A contact to be, and where it stands in the file. */
type Wanted = { at: number; row: Row };
type Progress = { done: number; of: number; refused: string[]; ended: boolean };

type RowFaults = { row: number; errors: FieldFault[] };
type Answer = { accepted: number; refused: number; errors: RowFaults[] };

const AT_ONCE = 500;
const PREVIEWED = 8;
const EXAMPLE = "user_id,email,first_name,plan\nada,ada@example.com,Ada,pro\ngrace,grace@example.com,Grace,free";

export default function Import() {
  const { t } = useWords();
  const mayEdit = useMayEdit();
  const [read, setRead] = useState<Read | null>(null);
  const [targets, setTargets] = useState<Target[]>([]);
  const pick = async (file: File | undefined) => {
    if (!file) return;
    const [head, ...lines] = readCsv(await file.text());
    const headings = head?.cells ?? [];
    setRead({ headings, lines });
    setTargets(headings.map(guess));
  };
  return (
    <Page title={t("import.title")} lead={t("import.lead")} crumb={{ to: "/contacts", label: t("contacts.title") }}>
      {!mayEdit && (
        <Panel>
          <Forbidden />
        </Panel>
      )}
      {mayEdit && (
        <Panel>
          <FileField label={t("import.file")} accept=".csv,text/csv" onFiles={([file]) => void pick(file)} />
        </Panel>
      )}
      {mayEdit && !read && (
        <Panel title={t("import.example")}>
          <div className="stack">
            <p className="soft">{t("import.looks")}</p>
            <Code text={EXAMPLE} label={t("import.example")} />
          </div>
        </Panel>
      )}
      {read && <Mapping read={read} targets={targets} onChange={setTargets} />}
      {read && <Doing read={read} targets={targets} />}
    </Page>
  );
}

function Mapping({
  read,
  targets,
  onChange,
}: {
  read: Read;
  targets: Target[];
  onChange: (targets: Target[]) => void;
}) {
  const { t } = useWords();
  const columns: Column<number>[] = [
    { key: "column", title: t("import.column"), cell: (at) => <strong>{read.headings[at]}</strong> },
    {
      key: "example",
      title: t("import.example"),
      cell: (at) => <span className="soft">{read.lines[0]?.cells[at] ?? "–"}</span>,
    },
    {
      key: "as",
      title: t("import.becomes"),
      cell: (at) => (
        <select
          className="input"
          aria-label={`${read.headings[at]}: ${t("import.becomes")}`}
          value={targets[at]}
          onChange={(event) =>
            onChange(targets.map((target, index) => (index === at ? (event.target.value as Target) : target)))
          }
        >
          {TARGETS.map((target) => (
            <option key={target} value={target}>
              {t(`import.as.${target}`)}
            </option>
          ))}
        </select>
      ),
    },
  ];
  return (
    <Panel title={t("import.map")} flush>
      <Table label={t("import.map")} columns={columns} rows={read.headings.map((_, at) => at)} rowKey={String} />
    </Panel>
  );
}

function Doing({ read, targets }: { read: Read; targets: Target[] }) {
  const { t, language } = useWords();
  const client = useQueryClient();
  const [progress, setProgress] = useState<Progress | null>(null);
  const rows = useMemo(
    () => read.lines.map(({ at, cells }): Wanted => ({ at, row: rowOf(read.headings, targets, cells) })),
    [read, targets],
  );
  const good = useMemo(() => rows.filter(({ row }) => isNamed(row)), [rows]);
  const run = async () => {
    await importAll(good, language, setProgress);
    await client.invalidateQueries({ predicate: (query) => String(query.queryKey[0]).startsWith("/api/v1/contacts") });
  };
  const trial = useQuery({
    queryKey: ["import-trial", good],
    queryFn: () => api.post<Answer>("/api/v1/contacts/import?dry_run=true", rowsOf(good.slice(0, AT_ONCE))),
    enabled: good.length > 0 && progress === null,
    gcTime: 0,
  });
  const named = targets.some((target) => target !== "attribute" && target !== "skip");
  return (
    <Panel
      title={t("import.preview")}
      actions={<span className="soft small">{t("import.rows", { n: rows.length })}</span>}
    >
      <div className="stack">
        {!named && <Note tone="warn">{t("import.needId")}</Note>}
        {named && rows.length > good.length && (
          <Note tone="warn">{t("import.faulty", { n: rows.length - good.length })}</Note>
        )}
        {!progress && trial.data && trial.data.refused > 0 && (
          <Note tone="warn">
            {t("import.wouldRefuse", { n: trial.data.refused })}:{" "}
            {trial.data.errors
              .slice(0, 3)
              .map((fault) => whyRefused(language, fault, good))
              .join("; ")}
          </Note>
        )}
        {good.length > 0 && <PreviewRows rows={rowsOf(good.slice(0, PREVIEWED))} />}
        {progress && <Shown progress={progress} />}
        <div className="actions">
          <Button kind="primary" disabled={good.length === 0 || progress !== null} onClick={() => void run()}>
            {t("import.start", { n: good.length })}
          </Button>
          {progress?.ended && <ButtonLink to="/contacts">{t("contacts.title")}</ButtonLink>}
        </div>
      </div>
    </Panel>
  );
}

function PreviewRows({ rows }: { rows: Row[] }) {
  const { t } = useWords();
  const columns: Column<Row>[] = [
    { key: "user", title: t("contacts.userId"), cell: (row) => row.user_id ?? row.anonymous_id ?? "–" },
    { key: "email", title: t("contacts.email"), cell: (row) => row.email ?? "–" },
    {
      key: "rest",
      title: t("contacts.attributes"),
      cell: (row) =>
        Object.entries(row.attributes)
          .map(([name, value]) => `${name} ${valueText(value)}`)
          .join(" · "),
    },
  ];
  return <Table label={t("import.preview")} columns={columns} rows={rows} rowKey={(row) => JSON.stringify(row)} />;
}

function Shown({ progress }: { progress: Progress }) {
  const { t } = useWords();
  return (
    <div className="stack" role="status">
      <progress className="progress" value={progress.done} max={progress.of} aria-label={t("import.title")} />
      <span>
        {progress.ended
          ? t("import.done", { n: progress.done - progress.refused.length })
          : t("import.doing", { done: progress.done, of: progress.of })}
      </span>
      {progress.refused.length > 0 && (
        <Note tone="bad">
          {t("import.refused", { n: progress.refused.length })}: {progress.refused.slice(0, 3).join("; ")}
        </Note>
      )}
    </div>
  );
}

/** In parts, one after another: a bad line is told, and does not stop the others. */
async function importAll(rows: Wanted[], language: Language, tell: (progress: Progress) => void) {
  const refused: string[] = [];
  let done = 0;
  tell({ done, of: rows.length, refused, ended: false });
  for (; done < rows.length; done += AT_ONCE) {
    const part = rows.slice(done, done + AT_ONCE);
    try {
      const answer = await api.post<Answer>("/api/v1/contacts/import", rowsOf(part));
      refused.push(...answer.errors.map((fault) => whyRefused(language, fault, part)));
    } catch (error) {
      refused.push(...part.map(({ at }) => `${say(language, "import.line", { at })}: ${problemText(language, error)}`));
    }
    tell({ done: Math.min(rows.length, done + part.length), of: rows.length, refused: [...refused], ended: false });
  }
  tell({ done: rows.length, of: rows.length, refused, ended: true });
}

const rowsOf = (wanted: Wanted[]) => wanted.map(({ row }) => row);

/** Rows are counted from 0 within what was sent; people look for the line of their file. */
const whyRefused = (language: Language, fault: RowFaults, sent: Wanted[]) =>
  `${say(language, "import.line", { at: String(sent[fault.row]?.at ?? "") })}: ${fault.errors
    .map((one) => `${one.pointer} ${one.detail}`)
    .join(", ")}`;
