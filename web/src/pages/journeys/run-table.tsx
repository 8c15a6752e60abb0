import type { Schemas } from "../../api/client";
import { useWords } from "../../i18n";
import { Link } from "../../shell/router";
import { Badge, type Tone } from "../../ui/controls";
import { Table, type Column } from "../../ui/table";
import { shortId, Time } from "../../ui/values";
import { ContactName } from "../contacts/contact-name";

type Run = Schemas["InstanceView"];
const TONES: Record<string, Tone> = { active: "accent", completed: "good", cancelled: "idle" };

export function RunStatus({ run }: { run: Run }) {
  const { word } = useWords();
  return <Badge tone={TONES[run.status] ?? "idle"}>{word("run.status", run.status)}</Badge>;
}

export function RunTable({ runs, journeyName }: { runs: Run[]; journeyName?: (id: string) => string }) {
  const { t } = useWords();
  const columns: Column<Run>[] = [
    {
      key: "run",
      title: journeyName ? t("journeys.journey") : t("run.title"),
      cell: (row) => <Link to={`/runs/${row.id}`}>{journeyName ? journeyName(row.journey) : shortId(row.id)}</Link>,
    },
    { key: "status", title: t("run.status"), cell: (row) => <RunStatus run={row} /> },
    { key: "node", wide: true, title: t("run.node"), cell: (row) => row.node },
    {
      key: "waits",
      wide: true,
      title: t("run.awaits"),
      cell: (row) => row.awaits ?? (row.wake ? <Time at={row.wake} /> : "–"),
    },
    { key: "key", wide: true, title: t("run.key"), cell: (row) => row.key ?? "–" },
    { key: "entered", wide: true, title: t("run.entered"), right: true, cell: (row) => <Time at={row.entered_at} /> },
  ];
  // On a contact's page there is less room; the run's own page tells the rest.
  if (journeyName) columns.splice(3, 2);
  else
    columns.splice(1, 0, {
      key: "contact",
      title: t("runs.contact"),
      cell: (row) => (row.contact ? <ContactName id={row.contact} /> : "–"),
    });
  return (
    <Table
      label={t("canvas.runs")}
      columns={columns}
      rows={runs}
      rowKey={(row) => row.id}
      to={(row) => `/runs/${row.id}`}
    />
  );
}
