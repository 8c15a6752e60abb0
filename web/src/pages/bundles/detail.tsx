import { useQuery } from "@tanstack/react-query";
import type { PageProps } from "../../app";
import { useRead } from "../../api/queries";
import { useWords, type Words } from "../../i18n";
import { Link } from "../../shell/router";
import { Badge, type Tone } from "../../ui/controls";
import { Facts, Note, Page, Panel } from "../../ui/layout";
import { Shown } from "../../ui/states";
import { Time } from "../../ui/values";
import { Away, type Version } from "./list";
import { canHash } from "./bytes";
import { check, STEPS, type Envelope, type Step } from "./proof";

type Bundle = {
  envelope: Envelope;
  confs: number | null;
  tip: { height: number; hash: string; ageSec: number | null } | null;
  unstable: boolean;
  state: string;
  ready: boolean;
  policyMinConfs: number;
  reorg: boolean;
  cache: { hit: boolean; ageSec: number };
};
type Verified = { verdict: string; blockHeight: number | null; reorg: boolean; verifiedAt: string };
type Detail = Version & {
  proofs: { txid: string; blockHeight: number | null; attachedAt: string }[];
  audit: Verified[];
};

const TONES: Record<string, Tone> = {
  confirmed: "good",
  off_chain: "bad",
  invalid_proof: "bad",
  unknown_header: "warn",
  unmined: "idle",
};
// Confirmations move with the chain: they are asked for anew all the time, and cost the server a lookup.
const LOOK_MS = 2000;

export default function BundlePage({ params }: PageProps) {
  const { t } = useWords();
  const id = params.id ?? "";
  const version = useRead<Detail>(`/api/v1/versions/${id}`, {}, { every: LOOK_MS });
  const bundle = useRead<Bundle>(`/bundle/${id}`, {}, { every: LOOK_MS });
  const download = bundle.data && (
    <a className="button" href={`/bundle/${id}?depth=32`} download={`bundle-${id.slice(0, 12)}.json`}>
      {t("bundles.download")}
    </a>
  );
  return (
    <Page
      title={version.data?.name ?? t("bundles.version")}
      crumb={{ to: "/bundles", label: t("bundles.title") }}
      lead={<code className="small soft">{id}</code>}
      actions={download}
    >
      {bundle.isError ? (
        <Panel>
          <Away error={bundle.error} retry={() => void bundle.refetch()} />
        </Panel>
      ) : (
        <Shown of={bundle} lines={8}>
          {(data) => (
            <div className="grid-aside">
              <div className="stack">
                {data.reorg && <Note tone="bad">{t("bundles.reorg")}</Note>}
                <Proof bundle={data} />
                {version.data && <Audit version={version.data} />}
              </div>
              <div className="stack">
                <Confirmations bundle={data} />
                {version.data && <About version={version.data} bundle={data} />}
              </div>
            </div>
          )}
        </Shown>
      )}
    </Page>
  );
}

function Confirmations({ bundle }: { bundle: Bundle }) {
  const { t, number, word } = useWords();
  return (
    <Panel
      title={t("bundles.confs")}
      label={t("bundles.confs")}
      actions={<Badge tone={TONES[bundle.state] ?? "idle"}>{word("bundle.state", bundle.state)}</Badge>}
    >
      <div className="stack" aria-live="polite">
        <div className="big-number" data-testid="confs">
          {bundle.confs === null ? "–" : number(bundle.confs)}
        </div>
        <progress
          className="progress"
          value={Math.max(0, Math.min(bundle.confs ?? 0, bundle.policyMinConfs))}
          max={bundle.policyMinConfs}
          aria-label={t("bundles.confs")}
        />
        <div className="actions">
          <Badge tone={bundle.ready ? "good" : "warn"}>{t(bundle.ready ? "bundles.ready" : "bundles.notReady")}</Badge>
          <span className="soft small">{t("bundles.needed", { n: bundle.policyMinConfs })}</span>
          {bundle.unstable && <Badge tone="warn">{t("bundles.unstable")}</Badge>}
        </div>
      </div>
    </Panel>
  );
}

type Verdict = boolean | null | "away";

const verdictOf = (holds: Verdict, { t }: Words): [string, Tone] => {
  if (holds === "away") return [t("bundle.away"), "warn"];
  if (holds === null) return [t("bundle.open"), "idle"];
  return holds ? [t("bundle.holds"), "good"] : [t("bundle.fails"), "bad"];
};

function Proof({ bundle }: { bundle: Bundle }) {
  const { t, number } = useWords();
  const here = canHash();
  const { envelope } = bundle;
  const steps = useQuery({
    queryKey: ["proof", envelope.versionId, envelope.blockHash, envelope.tx?.txid],
    queryFn: async (): Promise<(Omit<Step, "holds"> & { holds: Verdict })[]> =>
      here ? check(envelope) : STEPS.map((name) => ({ name, holds: "away", shows: "" })),
    staleTime: Infinity,
  });
  const inChain = bundle.state === "confirmed" ? true : bundle.state === "off_chain" ? false : null;
  const told = t("bundle.toldByServer");
  const last = bundle.tip ? `${t("bundles.tip")} ${number(bundle.tip.height)} · ${told}` : told;
  return (
    <Panel title={t("bundles.steps")} label={t("bundles.steps")}>
      <div className="stack">
        {!here && <Note tone="warn">{t("bundles.noHashes")}</Note>}
        <Shown of={steps}>
          {(list) => (
            <ol className="proof">
              {list.map((step) => (
                <ProofStep key={step.name} {...step} />
              ))}
              <ProofStep name="chain" holds={inChain} shows={last} />
            </ol>
          )}
        </Shown>
        <p className="soft small">{t("bundles.stepsNote")}</p>
      </div>
    </Panel>
  );
}

function ProofStep({ name, holds, shows }: { name: Step["name"] | "chain"; holds: Verdict; shows: string }) {
  const words = useWords();
  const [word, tone] = verdictOf(holds, words);
  return (
    <li data-holds={typeof holds === "boolean" ? holds : undefined}>
      <div>
        <strong>{words.t(`bundle.step.${name}`)}</strong>
        <div className="small soft">
          <code>{shows}</code>
        </div>
      </div>
      <Badge tone={tone}>{word}</Badge>
    </li>
  );
}

function About({ version, bundle }: { version: Detail; bundle: Bundle }) {
  const { t, word, number } = useWords();
  const parents = version.parents.map((parent) => (
    <div key={parent}>
      <Link to={`/bundles/${parent}`}>{parent.slice(0, 16)}</Link>
    </div>
  ));
  const facts: [string, React.ReactNode][] = [
    [t("bundles.kind"), word("bundle.kind", version.kind)],
    [t("bundles.published"), <Time at={version.publishedAt} />],
    [t("bundles.parents"), parents.length ? parents : t("bundles.noParents")],
    [t("bundles.tip"), bundle.tip ? number(bundle.tip.height) : "–"],
    [t("bundles.cache"), bundle.cache.hit ? t("bundles.cacheAge", { n: bundle.cache.ageSec }) : t("bundles.fresh")],
  ];
  return (
    <Panel>
      <Facts facts={facts} />
    </Panel>
  );
}

function Audit({ version }: { version: Detail }) {
  const { t, word, number } = useWords();
  if (version.audit.length === 0) return null;
  return (
    <Panel title={t("bundles.audit")} flush>
      <ul className="list-links">
        {version.audit.map((row, index) => (
          <li key={index}>
            <span>
              <Badge tone={TONES[row.verdict] ?? "idle"}>{word("bundle.state", row.verdict)}</Badge>{" "}
              {row.blockHeight !== null && <span className="soft small">{number(row.blockHeight)}</span>}
            </span>
            <span className="soft small">
              <Time at={row.verifiedAt} />
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
