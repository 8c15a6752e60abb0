import { useState } from "react";
import { api, type Schemas } from "../../api/client";
import { useAct } from "../../api/queries";
import { FaultList } from "../../canvas/side";
import { useWords, type Key } from "../../i18n";
import { useMayEdit } from "../../shell/session";
import { Button, TextField } from "../../ui/controls";
import { Confirm, Dialog } from "../../ui/dialog";
import { Simulate, type Simulation } from "./simulation";
import type { Work } from "./work";

type ActionProps = {
  journey: Schemas["JourneyDetail"];
  work: Work;
  faults: Schemas["FaultView"][];
  active: number;
  onSimulated: (simulation: Simulation) => void;
};
type Asking = "publish" | "pause" | "retire" | "trigger" | null;

export function JourneyActions({ journey, work, faults, active, onSimulated }: ActionProps) {
  const { t } = useWords();
  const mayEdit = useMayEdit();
  const act = useAct();
  const [asking, setAsking] = useState<Asking>(null);
  if (!mayEdit) return null;
  const path = `/api/v1/journeys/${journey.id}`;
  const changes = [["/api/v1/journeys"]];
  const bad = faults.some((fault) => fault.severity === "fault");
  const save = async () => {
    await act(() => api.put(path, work.definition), changes, t("canvas.saved"));
    work.dispatch({ do: "saved" });
  };
  const publish = async () => {
    const answer = await act(() => api.post<Schemas["PublishAnswer"]>(`${path}/publish`, work.definition), changes);
    work.dispatch({ do: "saved" });
    await act(
      async () => answer,
      [],
      t(answer.published ? "canvas.published" : "canvas.unchanged", { n: answer.version }),
    );
  };
  const stand = (verb: "pause" | "resume" | "retire", done: Key) =>
    act(() => api.post(`${path}/${verb}`), changes, t(done));
  return (
    <>
      <Simulate journey={journey.id} work={work} bad={bad} onSimulated={onSimulated} />
      {journey.version !== null && <Button onClick={() => setAsking("trigger")}>{t("canvas.trigger")}</Button>}
      {journey.standing === "active" && (
        <Button icon="pause" onClick={() => setAsking("pause")}>
          {t("action.pause")}
        </Button>
      )}
      {journey.standing === "paused" && (
        <Button icon="play" onClick={() => void stand("resume", "canvas.resumed").catch(() => {})}>
          {t("action.resume")}
        </Button>
      )}
      {(journey.standing === "active" || journey.standing === "paused") && (
        <Button kind="danger" onClick={() => setAsking("retire")}>
          {t("canvas.retire")}
        </Button>
      )}
      <Button disabled={!work.dirty} onClick={() => void save().catch(() => {})}>
        {t("canvas.save")}
      </Button>
      <Button kind="primary" disabled={bad} onClick={() => setAsking("publish")}>
        {t("canvas.publish")}
      </Button>
      {asking === "publish" && (
        <Publish active={active} faults={faults} onPublish={publish} onClose={() => setAsking(null)} />
      )}
      {asking === "pause" && (
        <Confirm
          title={t("canvas.pauseTitle")}
          action={t("action.pause")}
          onConfirm={() => stand("pause", "canvas.paused")}
          onClose={() => setAsking(null)}
        >
          <p>{t("canvas.pauseWhat", { n: active })}</p>
        </Confirm>
      )}
      {asking === "retire" && (
        <Confirm
          title={t("canvas.retireTitle")}
          action={t("canvas.retire")}
          onConfirm={() => stand("retire", "canvas.retired")}
          onClose={() => setAsking(null)}
        >
          <p>{t("canvas.retireWhat")}</p>
        </Confirm>
      )}
      {asking === "trigger" && <SendIn journey={journey.id} onClose={() => setAsking(null)} />}
    </>
  );
}

type PublishProps = {
  active: number;
  faults: Schemas["FaultView"][];
  onPublish: () => Promise<void>;
  onClose: () => void;
};

function Publish({ active, faults, onPublish, onClose }: PublishProps) {
  const { t } = useWords();
  const [busy, setBusy] = useState(false);
  const publish = () => {
    setBusy(true);
    onPublish().then(onClose, () => setBusy(false));
  };
  return (
    <Dialog
      title={t("canvas.publishTitle")}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t("action.cancel")}</Button>
          <Button kind="primary" busy={busy} onClick={publish}>
            {t("canvas.publish")}
          </Button>
        </>
      }
    >
      <p>{t("canvas.publishWhat", { n: active })}</p>
      <FaultList faults={faults} />
    </Dialog>
  );
}

function SendIn({ journey, onClose }: { journey: string; onClose: () => void }) {
  const { t } = useWords();
  const act = useAct();
  const [userId, setUserId] = useState("");
  const [key, setKey] = useState("");
  const send = async () => {
    const answer = await act(
      () =>
        api.post<Schemas["TriggerAnswer"]>(`/api/v1/journeys/${journey}/trigger`, {
          user_id: userId,
          key: key || undefined,
        }),
      [["/api/v1/journeys"]],
    );
    await act(async () => answer, [], t(answer.entered ? "canvas.triggered" : "canvas.notTriggered"));
    onClose();
  };
  return (
    <Dialog
      title={t("canvas.trigger")}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t("action.cancel")}</Button>
          <Button kind="primary" disabled={!userId} onClick={() => void send().catch(() => {})}>
            {t("canvas.trigger")}
          </Button>
        </>
      }
    >
      <TextField
        label={t("canvas.triggerUser")}
        value={userId}
        onChange={(event) => setUserId(event.target.value)}
        autoFocus
      />
      <TextField label={t("canvas.triggerKey")} value={key} onChange={(event) => setKey(event.target.value)} />
    </Dialog>
  );
}
