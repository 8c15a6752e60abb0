import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { api, type Schemas } from "../../api/client";
import { foundGood, type Checked } from "../../editor/checked";
import { unitAt } from "../../editor/span";
import { useWords } from "../../i18n";
import { Facts, Panel } from "../../ui/layout";
import { useSettled } from "../../ui/settled";
import { ContactName } from "../contacts/contact-name";

/** How many contacts the expression holds for, while it is typed. */
export function Preview({ expression, check }: { expression: string; check: Checked | null }) {
  const { t, number } = useWords();
  const settled = useSettled(expression);
  const preview = useQuery({
    queryKey: ["/api/v1/segments/preview", settled],
    queryFn: ({ signal }) =>
      api.post<Schemas["PreviewView"]>("/api/v1/segments/preview", { expression: settled }, { signal }),
    enabled: settled !== "" && foundGood(settled, check),
    placeholderData: keepPreviousData,
    retry: false,
    refetchInterval: 5000,
  });
  const data = expression && check?.ok ? preview.data : undefined;
  return (
    <div className="stack">
      <Panel title={t("segments.preview")}>
        <div className="stack" aria-live="polite">
          {data ? (
            <>
              <div>
                <div className="big-number">{number(data.count)}</div>
                <div className="soft">{t("segments.previewNow", { n: data.count })}</div>
                <div className="soft small">
                  {t("segments.previewTook", { ms: number(Math.round(data.took_us / 100) / 10) })}
                </div>
              </div>
              {data.sample.length > 0 && <Sample ids={data.sample.slice(0, 6)} />}
            </>
          ) : (
            <p className="soft">
              {t(expression && check && !check.ok ? "segments.previewFaulty" : "segments.previewEmpty")}
            </p>
          )}
        </div>
      </Panel>
      {check?.ok && check.reads && <Reads check={check} />}
    </div>
  );
}

function Sample({ ids }: { ids: string[] }) {
  const { t } = useWords();
  return (
    <div>
      <h3>{t("segments.sample")}</h3>
      <ul>
        {ids.map((id) => (
          <li key={id}>
            <ContactName id={id} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function Reads({ check }: { check: Checked }) {
  const { t } = useWords();
  const reads = check.reads;
  if (!reads) return null;
  const names = [
    ...reads.contact.map((name) => `contact.${name}`),
    ...reads.events,
    ...reads.properties.map((name) => `properties.${name}`),
  ];
  return (
    <Panel title={t("segments.reads")}>
      <div className="stack">
        <div className="chips">
          {names.map((name) => (
            <span className="chip" key={name}>
              {name}
            </span>
          ))}
        </div>
        {reads.time && <p className="soft small">{t("segments.readsTime")}</p>}
        <Facts facts={[[t("segments.canonical"), <code>{check.canonical}</code>]]} />
      </div>
    </Panel>
  );
}

export function Faults({ check }: { check: Checked }) {
  const { text, errors } = check;
  const { t } = useWords();
  return (
    <div className="note" data-tone="bad" role="status">
      <ul className="faults" aria-label={t("segments.faults")}>
        {errors.map((fault, index) => (
          <li key={index}>
            <code>{text.slice(unitAt(text, fault.span.start), unitAt(text, fault.span.end))}</code>
            <span lang="en">{fault.suggestion ? `${fault.message}; ${fault.suggestion}` : fault.message}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
