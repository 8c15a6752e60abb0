import type { Schemas } from "../../api/client";
import { useChannels, useJourneys, usePages, useTemplates } from "../../api/queries";
import { useWords } from "../../i18n";
import { useSearch } from "../../shell/router";
import { Button, SelectField, TextField, type Choice } from "../../ui/controls";
import { Page, Panel } from "../../ui/layout";
import { Empty, Failure, Loading } from "../../ui/states";
import { MessageTable } from "./table";

const STATES = ["queued", "sending", "sent", "retrying", "failed", "skipped", "unknown"];
const FILTERS = [
  "state",
  "channel",
  "template",
  "journey",
  "to",
  "node",
  "reason",
  "code",
  "contact",
  "instance",
] as const;
const CHANNELS = ["outbox", "email", "webhook", "slack", "sms"];

export default function Messages() {
  const { t } = useWords();
  const [search, setSearch] = useSearch();
  const query = Object.fromEntries(FILTERS.map((name) => [name, search.get(name)]).filter(([, value]) => value));
  const pages = usePages<Schemas["MessageView"]>("/api/v1/messages", query, 5000);
  const filtered = Object.keys(query).length > 0;
  return (
    <Page title={t("messages.title")} lead={t("messages.lead")}>
      <Filters search={search} onChange={setSearch} filtered={filtered} />
      <Panel flush label={t("messages.title")}>
        {pages.isError ? (
          <Failure error={pages.error} retry={() => void pages.refetch()} />
        ) : pages.isPending ? (
          <Loading lines={10} />
        ) : pages.rows.length > 0 ? (
          <MessageTable pages={pages} />
        ) : filtered ? (
          <Empty title={t("messages.none")} />
        ) : (
          <Empty title={t("messages.empty")}>{t("messages.emptyHint")}</Empty>
        )}
      </Panel>
    </Page>
  );
}

type FilterProps = { search: URLSearchParams; onChange: (change: Record<string, string>) => void; filtered: boolean };

function Filters({ search, onChange, filtered }: FilterProps) {
  const { t, word } = useWords();
  const all: Choice = { value: "", label: t("filter.all") };
  const named = (names: string[]) => [all, ...names.map((name) => ({ value: name, label: name }))];
  const channels = useChannels().data?.data.map((channel) => channel.name) ?? [];
  const templates = useTemplates().data?.data.map((template) => template.name) ?? [];
  const journeys = useJourneys().data?.data ?? [];
  const bind = (name: string) => ({
    value: search.get(name) ?? "",
    onChange: (event: { target: { value: string } }) => onChange({ [name]: event.target.value }),
  });
  return (
    <Panel>
      <div className="form-row">
        <SelectField
          label={t("column.state")}
          choices={[all, ...STATES.map((state) => ({ value: state, label: word("message.state", state) }))]}
          {...bind("state")}
        />
        <SelectField
          label={t("messages.channel")}
          choices={named([...new Set([...CHANNELS, ...channels])])}
          {...bind("channel")}
        />
        <SelectField label={t("messages.template")} choices={named(templates)} {...bind("template")} />
        <SelectField
          label={t("messages.journey")}
          choices={[all, ...journeys.map((journey) => ({ value: journey.id, label: journey.name }))]}
          {...bind("journey")}
        />
        <TextField label={t("messages.to")} type="search" {...bind("to")} />
        {filtered && (
          <Button onClick={() => onChange(Object.fromEntries(FILTERS.map((name) => [name, ""])))}>
            {t("action.clear")}
          </Button>
        )}
      </div>
    </Panel>
  );
}
