import { useState } from "react";
import type { PageProps } from "../app";
import { part, type Schemas } from "../api/client";
import { useRead } from "../api/queries";
import { useWords } from "../i18n";
import { Link } from "../shell/router";
import { useMayEdit } from "../shell/session";
import { Button, IconButton } from "../ui/controls";
import { Facts, Page, Panel } from "../ui/layout";
import { Empty, Failure, Loading, Shown } from "../ui/states";
import { Code } from "../ui/values";
import { framed } from "./messages/content";
import { ContentImport } from "./content-import";

type Item = {
  key: string;
  type: string;
  title?: string;
  document: string;
  source: string;
  nodes?: number;
  changed_at?: string;
};
type NodeView = Item & {
  text: string;
  path: string[];
  parent: string | null;
  next: string | null;
  previous: string | null;
  children: number;
  categories?: string[];
  authors?: string[];
  tags?: string[];
  rendered?: string;
};
type Listing = { data: Item[]; next_cursor?: string };
type Used = { templates: string[]; journeys: string[] };

const PATH = "/api/v1/content";
const nameOf = (item: Item) => item.title || item.key;

export default function Content({ params }: PageProps) {
  const { t } = useWords();
  const mayEdit = useMayEdit();
  const [importing, setImporting] = useState(false);
  const documents = useRead<Listing>(PATH, { limit: 500 });
  const built = !documents.isError;
  const action = mayEdit && built && (
    <Button kind="primary" icon="plus" onClick={() => setImporting(true)}>
      {t("content.import")}
    </Button>
  );
  return (
    <Page title={t("content.title")} lead={t("content.lead")} actions={action}>
      {documents.isError ? (
        <Panel>
          <Failure error={documents.error} retry={() => void documents.refetch()} />
        </Panel>
      ) : documents.isPending ? (
        <Panel>
          <Loading />
        </Panel>
      ) : documents.data.data.length === 0 ? (
        <Panel>
          <Empty title={t("content.empty")} action={action}>
            {t("content.emptyHint")}
          </Empty>
        </Panel>
      ) : (
        <div className="content-split">
          <Panel title={t("content.tree")} flush>
            <ul className="tree">
              {documents.data.data.map((item) => (
                <Branch key={item.key} item={item} chosen={params.key ?? null} />
              ))}
            </ul>
          </Panel>
          {params.key ? (
            <NodePanel key={params.key} node={params.key} />
          ) : (
            <Panel>
              <Empty title={t("content.pick")}>{t("content.pickHint")}</Empty>
            </Panel>
          )}
        </div>
      )}
      {importing && <ContentImport onClose={() => setImporting(false)} />}
    </Page>
  );
}

const HAS_CHILDREN = new Set(["doc", "ch", "para", "subpara"]);

function Branch({ item, chosen }: { item: Item; chosen: string | null }) {
  const { t, word } = useWords();
  const [open, setOpen] = useState(false);
  return (
    <li>
      <div className="tree-line" aria-current={item.key === chosen ? "true" : undefined}>
        {HAS_CHILDREN.has(item.type) ? (
          <IconButton
            icon={open ? "down" : "right"}
            label={t("content.expand", { name: nameOf(item) })}
            aria-expanded={open}
            onClick={() => setOpen(!open)}
          />
        ) : (
          <span className="tree-gap" />
        )}
        <Link to={`/content/${part(item.key)}`}>{nameOf(item)}</Link>
        <span className="small soft">
          {item.nodes !== undefined ? t("content.nodes", { n: item.nodes }) : word("content.type", item.type)}
        </span>
      </div>
      {open && <Children of={item.key} chosen={chosen} />}
    </li>
  );
}

function Children({ of, chosen }: { of: string; chosen: string | null }) {
  const children = useRead<Listing>(`${PATH}/${part(of)}/children`, { limit: 500 });
  return (
    <Shown of={children} lines={2}>
      {({ data }) => (
        <ul>
          {data.map((item) => (
            <Branch key={item.key} item={item} chosen={chosen} />
          ))}
        </ul>
      )}
    </Shown>
  );
}

function NodePanel({ node }: { node: string }) {
  const { t } = useWords();
  const shown = useRead<NodeView>(`${PATH}/${part(node)}`, { as: "html" });
  const used = useRead<Used>(`${PATH}/${part(node)}/used-by`);
  return (
    <div className="stack">
      <Panel title={shown.data ? nameOf(shown.data) : node} actions={shown.data && <Steps node={shown.data} />}>
        <Shown of={shown} lines={6}>
          {(data) => <About node={data} />}
        </Shown>
      </Panel>
      <Panel title={t("content.usedBy")}>
        <Shown of={used} lines={2}>
          {(data) => <UsedBy used={data} />}
        </Shown>
      </Panel>
    </div>
  );
}

function Steps({ node }: { node: NodeView }) {
  const { t } = useWords();
  return (
    <>
      {node.previous && <Link to={`/content/${part(node.previous)}`}>← {t("content.previous")}</Link>}
      {node.next && <Link to={`/content/${part(node.next)}`}>{t("content.next")} →</Link>}
    </>
  );
}

function About({ node }: { node: NodeView }) {
  const { t } = useWords();
  const facts: [string, React.ReactNode][] = [
    [t("content.key"), <code>{node.key}</code>],
    [t("content.source"), node.source],
    [t("content.path"), node.path.join(" › ") || "–"],
  ];
  return (
    <div className="stack">
      <Facts facts={facts} />
      <Code wrap text={`{{ content("${node.key}") }}`} label={t("content.quote")} />
      <h3>{t("content.text")}</h3>
      <Code text={node.text} wrap label={t("content.text")} />
      {node.rendered && (
        <>
          <h3>{t("content.rendered")}</h3>
          <iframe className="letter-frame" title={t("content.rendered")} sandbox="" srcDoc={framed(node.rendered)} />
        </>
      )}
    </div>
  );
}

function UsedBy({ used }: { used: Used }) {
  const { t } = useWords();
  const journeys = useRead<Schemas["JourneyList"]>("/api/v1/journeys").data?.data ?? [];
  if (used.templates.length + used.journeys.length === 0) return <p className="soft">{t("content.unused")}</p>;
  const idOf = (name: string) => journeys.find((journey) => journey.name === name)?.id;
  return (
    <ul>
      {used.templates.map((name) => (
        <li key={name}>
          <Link to={`/templates/${part(name)}`}>{name}</Link>{" "}
          <span className="soft small">{t("messages.template")}</span>
        </li>
      ))}
      {used.journeys.map((name) => (
        <li key={name}>
          <Link to={`/journeys/${idOf(name) ?? ""}`}>{name}</Link>{" "}
          <span className="soft small">{t("messages.journey")}</span>
        </li>
      ))}
    </ul>
  );
}
