import { useState } from "react";
import { api, type Schemas } from "../../api/client";
import { useWords } from "../../i18n";
import { Button } from "../../ui/controls";
import { Note } from "../../ui/layout";
import { useTell } from "../../ui/toast";
import type { Work } from "./work";

/** What a simulation found; `running` until it has. */
export type Simulation = Schemas["SimulationView"] | "running" | null;

const DAYS = 30;
const DAY_MS = 86_400_000;

type SimulateProps = { journey: string; work: Work; bad: boolean; onSimulated: (simulation: Simulation) => void };

export function Simulate({ journey, work, bad, onSimulated }: SimulateProps) {
  const { t } = useWords();
  const tell = useTell();
  const [busy, setBusy] = useState(false);
  const run = async () => {
    setBusy(true);
    onSimulated("running");
    try {
      const from = new Date(Date.now() - DAYS * DAY_MS).toISOString();
      onSimulated(await api.post(`/api/v1/journeys/${journey}/simulate`, { definition: work.definition, from }));
    } catch (error) {
      onSimulated(null);
      tell.bad(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Button icon="play" busy={busy} disabled={bad} title={t("canvas.simulateWhat")} onClick={() => void run()}>
      {busy ? t("canvas.simulating") : t("canvas.simulate")}
    </Button>
  );
}

/** Over what it runs, and what came of it. */
export function SimulationNote({ of }: { of: Simulation }) {
  const { t, day } = useWords();
  if (of === null) return null;
  if (of === "running")
    return (
      <div role="status">
        <Note>{t("canvas.simulatingDays", { n: DAYS })}</Note>
      </div>
    );
  const messages = of.messages.reduce((sum, one) => sum + one.count, 0);
  return (
    <div role="status">
      <Note tone={of.truncated ? "warn" : undefined}>
        {t("canvas.simulated", {
          from: day(of.from),
          to: day(of.to),
          runs: of.runs,
          contacts: of.contacts,
          messages,
        })}
        {of.truncated && ` · ${t("canvas.truncated")}`}
      </Note>
    </div>
  );
}
