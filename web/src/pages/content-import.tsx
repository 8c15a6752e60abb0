import { useState } from "react";
import { api } from "../api/client";
import { useAct } from "../api/queries";
import { useWords } from "../i18n";
import { Badge, Button, type Tone } from "../ui/controls";
import { Dialog } from "../ui/dialog";
import { Note } from "../ui/layout";
import { Table, type Column } from "../ui/table";

type Source = { source: string; markdown: string };
type Outcome = {
  source: string;
  standing: "new" | "changed" | "unchanged" | "refused";
  new: string[];
  changed: string[];
  gone: string[];
  kept: number;
  reason?: string;
};
type Answer = { data: Outcome[] };

const TONES: Record<Outcome["standing"], Tone> = { new: "good", changed: "accent", unchanged: "idle", refused: "bad" };

/** Shows what would change by key before anything does. */
export function ContentImport({ onClose }: { onClose: () => void }) {
  const { t } = useWords();
  const act = useAct();
  const [documents, setDocuments] = useState<Source[]>([]);
  const [outcomes, setOutcomes] = useState<Outcome[] | null>(null);
  const pick = async (files: FileList | null) => {
    const read = await Promise.all(
      [...(files ?? [])].map(async (file) => ({
        source: file.webkitRelativePath || file.name,
        markdown: await file.text(),
      })),
    );
    if (read.length === 0) return;
    setDocuments(read);
    const answer = await act(() => api.post<Answer>("/api/v1/content?dry_run=true", { documents: read }), []);
    setOutcomes(answer.data);
  };
  const run = async () => {
    await act(
      () => api.post("/api/v1/content", { documents }),
      [["/api/v1/content"]],
      t("content.imported", { n: documents.length }),
    );
    onClose();
  };
  const refused = outcomes?.some((outcome) => outcome.standing === "refused") ?? true;
  return (
    <Dialog
      title={t("content.import")}
      onClose={onClose}
      wide
      footer={
        <>
          <Button onClick={onClose}>{t("action.cancel")}</Button>
          <Button kind="primary" disabled={refused} onClick={() => void run().catch(() => {})}>
            {t("content.importAction", { n: documents.length })}
          </Button>
        </>
      }
    >
      <div className="field">
        <label htmlFor="content-files">{t("content.files")}</label>
        <input
          id="content-files"
          type="file"
          accept=".md,.markdown,text/markdown"
          multiple
          onChange={(event) => void pick(event.target.files).catch(() => {})}
        />
      </div>
      {outcomes && <Outcomes of={outcomes} />}
    </Dialog>
  );
}

function Outcomes({ of }: { of: Outcome[] }) {
  const { t } = useWords();
  const columns: Column<Outcome>[] = [
    { key: "source", title: t("content.source"), cell: (row) => row.source },
    {
      key: "standing",
      title: t("column.state"),
      cell: (row) => <Badge tone={TONES[row.standing]}>{t(`content.standing.${row.standing}`)}</Badge>,
    },
    {
      key: "diff",
      title: t("content.look"),
      wrap: true,
      cell: (row) =>
        row.reason ??
        t("content.diff", {
          added: row.new.length,
          changed: row.changed.length,
          gone: row.gone.length,
          kept: row.kept,
        }),
    },
  ];
  return (
    <>
      <Table label={t("content.look")} columns={columns} rows={of} rowKey={(row) => row.source} />
      {of.some((outcome) => outcome.gone.length > 0) && <Note tone="warn">{t("content.goneWarn")}</Note>}
    </>
  );
}
