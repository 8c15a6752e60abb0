import { useState } from "react";
import { api } from "../api/client";
import { useAct } from "../api/queries";
import { useWords } from "../i18n";
import { Badge, Button, FileField, type Tone } from "../ui/controls";
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

type Busy = "looking" | "importing";

const TONES: Record<Outcome["standing"], Tone> = { new: "good", changed: "accent", unchanged: "idle", refused: "bad" };

/** Shows what would change by key before anything does. */
export function ContentImport({ onClose }: { onClose: () => void }) {
  const { t } = useWords();
  const act = useAct();
  const [documents, setDocuments] = useState<Source[]>([]);
  const [outcomes, setOutcomes] = useState<Outcome[] | null>(null);
  const [busy, setBusy] = useState<Busy | null>(null);
  const pick = async (files: File[]) => {
    const read = await Promise.all(
      files.map(async (file) => ({
        source: file.webkitRelativePath || file.name,
        markdown: await file.text(),
      })),
    );
    setDocuments(read);
    setOutcomes(null);
    const asked = () => api.post<Answer>("/api/v1/content?dry_run=true", { documents: read });
    setOutcomes((await working("looking", () => act(asked, []))).data);
  };
  const run = async () => {
    await working("importing", () =>
      act(
        () => api.post("/api/v1/content", { documents }),
        [["/api/v1/content"]],
        t("content.imported", { n: documents.length }),
      ),
    );
    onClose();
  };
  const working = async <T,>(what: Busy, work: () => Promise<T>): Promise<T> => {
    setBusy(what);
    try {
      return await work();
    } finally {
      setBusy(null);
    }
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
          <Button kind="primary" busy={busy !== null} disabled={refused} onClick={() => void run().catch(() => {})}>
            {t("content.importAction", { n: documents.length })}
          </Button>
        </>
      }
    >
      <FileField
        label={t("content.files")}
        accept=".md,.markdown,text/markdown"
        multiple
        onFiles={(files) => void pick(files).catch(() => {})}
      />
      {busy && (
        <p className="soft" role="status">
          {t(`content.busy.${busy}`, { n: documents.length })}
        </p>
      )}
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
