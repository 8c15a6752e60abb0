import type { PageProps } from "../../app";
import type { Schemas } from "../../api/client";
import { usePages, useRead } from "../../api/queries";
import { readDefinition } from "../../canvas/definition";
import { useWords } from "../../i18n";
import { useSearch } from "../../shell/router";
import { Button, SelectField } from "../../ui/controls";
import { Page, Panel } from "../../ui/layout";
import { Empty, Failure, Loading } from "../../ui/states";
import { RunTable } from "./run-table";

const STATUSES = ["active", "completed", "cancelled"];

export default function Runs({ params }: PageProps) {
  const { t, word } = useWords();
  const [search, setSearch] = useSearch();
  const journey = useRead<Schemas["JourneyDetail"]>(`/api/v1/journeys/${params.id}`);
  const node = search.get("node") ?? "";
  const status = search.get("status") ?? "";
  const pages = usePages<Schemas["InstanceView"]>(`/api/v1/journeys/${params.id}/instances`, { node, status }, 5000);
  const name = journey.data?.name ?? "";
  const nodes = readDefinition(journey.data?.definition).nodes;
  return (
    <Page
      title={t("runs.title", { name })}
      crumb={{ to: `/journeys/${params.id}`, label: name || t("journeys.journey") }}
    >
      <Panel>
        <div className="form-row">
          <SelectField
            label={t("run.node")}
            value={node}
            onChange={(event) => setSearch({ node: event.target.value })}
            choices={[
              { value: "", label: t("runs.allNodes") },
              ...nodes.map((one) => ({ value: one.id, label: one.label ? `${one.label} (${one.id})` : one.id })),
            ]}
          />
          <SelectField
            label={t("run.status")}
            value={status}
            onChange={(event) => setSearch({ status: event.target.value })}
            choices={[
              { value: "", label: t("filter.all") },
              ...STATUSES.map((one) => ({ value: one, label: word("run.status", one) })),
            ]}
          />
        </div>
      </Panel>
      <Panel flush label={t("canvas.runs")}>
        {pages.isError ? (
          <Failure error={pages.error} retry={() => void pages.refetch()} />
        ) : pages.isPending ? (
          <Loading />
        ) : pages.rows.length === 0 ? (
          <Empty title={t("runs.empty")}>{t("runs.emptyHint")}</Empty>
        ) : (
          <RunTable runs={pages.rows} />
        )}
      </Panel>
      {pages.hasNextPage && (
        <div>
          <Button busy={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
            {t("action.more")}
          </Button>
        </div>
      )}
    </Page>
  );
}
