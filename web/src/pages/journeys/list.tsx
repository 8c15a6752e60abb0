import { useState } from "react";
import { api, type Schemas } from "../../api/client";
import { useAct, useJourneys, useRead } from "../../api/queries";
import { firstDefinition } from "../../canvas/definition";
import { useWords } from "../../i18n";
import { Link, navigate } from "../../shell/router";
import { useMayEdit } from "../../shell/session";
import { Badge, Button, TextField, type Tone } from "../../ui/controls";
import { Dialog } from "../../ui/dialog";
import { Page, Panel } from "../../ui/layout";
import { Empty, Shown } from "../../ui/states";
import { Table, type Column } from "../../ui/table";
import { Time } from "../../ui/values";

type Journey = Schemas["JourneyView"];

const TONES: Record<string, Tone> = { active: "good", paused: "warn", retired: "idle", draft: "accent" };

export function Standing({ journey }: { journey: Journey }) {
  const { t, word } = useWords();
  return (
    <span className="actions">
      <Badge tone={TONES[journey.standing] ?? "idle"}>{word("journey.standing", journey.standing)}</Badge>
      {journey.has_draft && journey.version !== null && <Badge tone="accent">{t("journeys.hasDraft")}</Badge>}
    </span>
  );
}

export default function Journeys() {
  const { t, number } = useWords();
  const mayEdit = useMayEdit();
  const [making, setMaking] = useState(false);
  const journeys = useJourneys(5000);
  const make = mayEdit && (
    <Button kind="primary" icon="plus" onClick={() => setMaking(true)}>
      {t("journeys.new")}
    </Button>
  );
  const columns: Column<Journey>[] = [
    { key: "name", title: t("column.name"), cell: (row) => <Link to={`/journeys/${row.id}`}>{row.name}</Link> },
    { key: "standing", title: t("journeys.standing"), cell: (row) => <Standing journey={row} /> },
    {
      key: "version",
      wide: true,
      title: t("column.version"),
      right: true,
      cell: (row) => (row.version ? number(row.version) : "–"),
    },
    {
      key: "entered",
      wide: true,
      title: t("journeys.entered"),
      right: true,
      cell: (row) => <Count journey={row} of="entered" />,
    },
    { key: "active", title: t("journeys.active"), right: true, cell: (row) => <Count journey={row} of="active" /> },
    {
      key: "changed",
      wide: true,
      title: t("column.changed"),
      right: true,
      cell: (row) => <Time at={row.changed_at} />,
    },
  ];
  return (
    <Page title={t("journeys.title")} lead={t("journeys.lead")} actions={make}>
      <Panel flush label={t("journeys.title")}>
        <Shown of={journeys}>
          {({ data }) =>
            data.length === 0 ? (
              <Empty title={t("journeys.empty")} action={make}>
                {t("journeys.emptyHint")}
              </Empty>
            ) : (
              <Table
                label={t("journeys.title")}
                columns={columns}
                rows={data}
                rowKey={(row) => row.id}
                to={(row) => `/journeys/${row.id}`}
              />
            )
          }
        </Shown>
      </Panel>
      {making && <NewJourney onClose={() => setMaking(false)} />}
    </Page>
  );
}

function Count({ journey, of }: { journey: Journey; of: "entered" | "active" }) {
  const { number } = useWords();
  const stats = useRead<Schemas["StatsView"]>(
    `/api/v1/journeys/${journey.id}/stats`,
    {},
    { enabled: journey.version !== null, every: 5000 },
  );
  return <>{stats.data ? number(stats.data[of]) : "–"}</>;
}

function NewJourney({ onClose }: { onClose: () => void }) {
  const { t } = useWords();
  const act = useAct();
  const [name, setName] = useState("");
  const make = async () => {
    const made = await act(
      () => api.post<Schemas["JourneyDetail"]>("/api/v1/journeys", firstDefinition(name.trim())),
      [["/api/v1/journeys"]],
    );
    navigate(`/journeys/${made.id}`);
  };
  return (
    <Dialog
      title={t("journeys.new")}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t("action.cancel")}</Button>
          <Button kind="primary" form="new-journey" type="submit" disabled={!name.trim()}>
            {t("action.create")}
          </Button>
        </>
      }
    >
      <form
        id="new-journey"
        onSubmit={(event) => {
          event.preventDefault();
          void make().catch(() => {});
        }}
      >
        <TextField
          label={t("column.name")}
          value={name}
          onChange={(event) => setName(event.target.value)}
          maxLength={200}
          autoFocus
        />
      </form>
    </Dialog>
  );
}
