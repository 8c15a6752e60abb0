import type { PageProps } from "../../app";
import { useWords } from "../../i18n";
import { Tabs } from "../../ui/controls";
import { Page } from "../../ui/layout";
import { Audit } from "./audit";
import { Channels } from "./channels";
import { Keys } from "./keys";
import { Users } from "./users";

const TABS = ["channels", "keys", "users", "audit"] as const;

export default function Settings({ params }: PageProps) {
  const { t } = useWords();
  const tab = TABS.find((one) => one === params.tab) ?? "channels";
  return (
    <Page title={t("settings.title")}>
      <Tabs
        label={t("settings.title")}
        tabs={TABS.map((one) => ({ to: `/settings/${one}`, label: t(`settings.tab.${one}`), current: one === tab }))}
      />
      {tab === "channels" && <Channels />}
      {tab === "keys" && <Keys />}
      {tab === "users" && <Users />}
      {tab === "audit" && <Audit />}
    </Page>
  );
}
