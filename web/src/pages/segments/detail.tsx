import { useState } from "react";
import type { PageProps } from "../../app";
import { address, api, type Schemas } from "../../api/client";
import { useAct, usePages, useRead } from "../../api/queries";
import { useWords } from "../../i18n";
import { Link, navigate } from "../../shell/router";
import { useMayEdit } from "../../shell/session";
import { LineChart } from "../../ui/charts";
import { Button, ButtonLink, TextField } from "../../ui/controls";
import { Confirm } from "../../ui/dialog";
import { Facts, Page, Panel } from "../../ui/layout";
import { Empty, Failure, Loading, Shown } from "../../ui/states";
import { EndlessTable, type Column } from "../../ui/table";
import { Code, Time } from "../../ui/values";
import { ContactName } from "../contacts/contact-name";

type Segment = Schemas["SegmentView"];
type Member = Schemas["MemberView"];

export default function SegmentPage({ params }: PageProps) {
  const { t } = useWords();
  const segment = useRead<Segment>(`/api/v1/segments/${params.id}`, {}, { every: 3000 });
  return (
    <Page
      title={segment.data?.name ?? t("segments.segment")}
      crumb={{ to: "/segments", label: t("segments.title") }}
      actions={segment.data && <Actions segment={segment.data} />}
    >
      <Shown of={segment} lines={8}>
        {(data) => (
          <div className="grid-aside">
            <div className="stack">
              {data.expression && (
                <Panel title={t("segments.expression")}>
                  <Code text={data.expression} wrap label={t("segments.expression")} />
                </Panel>
              )}
              <Members segment={data} />
            </div>
            <div className="stack">
              <About segment={data} />
              <Sizes segment={data} />
              {!data.expression && <AddMember segment={data} />}
            </div>
          </div>
        )}
      </Shown>
    </Page>
  );
}

function About({ segment }: { segment: Segment }) {
  const { t, number } = useWords();
  const used = segment.used_by.map((journey) => (
    <div key={journey.id}>
      <Link to={`/journeys/${journey.id}`}>{journey.name}</Link>
    </div>
  ));
  return (
    <Panel>
      <div className="stack">
        <div>
          <div className="big-number">{number(segment.size)}</div>
          <div className="soft">{t("segments.size")}</div>
        </div>
        <Facts
          facts={[
            [t("segments.usedBy"), used.length ? used : t("segments.nobodyUses")],
            [t("column.created"), <Time at={segment.created_at} />],
            [t("column.changed"), <Time at={segment.changed_at} />],
          ]}
        />
      </div>
    </Panel>
  );
}

function Sizes({ segment }: { segment: Segment }) {
  const { t, language } = useWords();
  const sizes = useRead<Schemas["SizeList"]>(`/api/v1/segments/${segment.id}/sizes`, {}, { every: 5000 });
  const clock = new Intl.DateTimeFormat(language, {
    day: "numeric",
    month: "short",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  });
  return (
    <Panel title={t("segments.history")} actions={<span className="soft small">{t("segments.historyNote")}</span>}>
      <Shown of={sizes}>
        {({ data }) => {
          const points = data.map((row) => ({ label: clock.format(new Date(row.hour)), value: row.size }));
          // A line needs a beginning and an end, also in the first hour.
          const before =
            points.length === 0 ? [{ label: clock.format(new Date(segment.created_at)), value: segment.size }] : points;
          const shown = [...before, { label: clock.format(new Date()), value: segment.size }];
          return (
            <LineChart
              label={t("segments.history")}
              series={[{ name: t("segments.size"), colour: 1, points: shown }]}
            />
          );
        }}
      </Shown>
    </Panel>
  );
}

function Members({ segment }: { segment: Segment }) {
  const { t } = useWords();
  const mayEdit = useMayEdit();
  const act = useAct();
  const pages = usePages<Member>(`/api/v1/segments/${segment.id}/members`, {}, 5000);
  const remove = (contact: string) =>
    act(() => api.post(`/api/v1/segments/${segment.id}/members`, { remove: [contact] }), [["/api/v1/segments"]]);
  const columns: Column<Member>[] = [
    { key: "contact", title: t("contacts.contact"), cell: (row) => <ContactName id={row.contact} /> },
    { key: "since", title: t("segments.entered"), right: true, cell: (row) => <Time at={row.entered_at} /> },
  ];
  if (mayEdit && !segment.expression)
    columns.push({
      key: "remove",
      title: "",
      right: true,
      cell: (row) => (
        <Button small onClick={() => void remove(row.contact).catch(() => {})}>
          {t("action.remove")}
        </Button>
      ),
    });
  return (
    <Panel title={t("segments.members")} flush>
      {pages.isError ? (
        <Failure error={pages.error} />
      ) : pages.isPending ? (
        <Loading />
      ) : pages.rows.length === 0 ? (
        <Empty title={t("segments.membersEmpty")} />
      ) : (
        <EndlessTable
          label={t("segments.members")}
          columns={columns}
          rows={pages.rows}
          rowKey={(row) => row.contact}
          to={(row) => `/contacts/${row.contact}`}
          hasMore={pages.hasNextPage}
          loading={pages.isFetchingNextPage}
          loadMore={() => void pages.fetchNextPage()}
        />
      )}
    </Panel>
  );
}

function AddMember({ segment }: { segment: Segment }) {
  const { t } = useWords();
  const mayEdit = useMayEdit();
  const act = useAct();
  const [userId, setUserId] = useState("");
  if (!mayEdit) return null;
  const add = async () => {
    await act(
      () => api.post(`/api/v1/segments/${segment.id}/members`, { add: [{ user_id: userId }] }),
      [["/api/v1/segments"]],
    );
    setUserId("");
  };
  return (
    <Panel>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          void add().catch(() => {});
        }}
      >
        <TextField label={t("segments.addMember")} value={userId} onChange={(event) => setUserId(event.target.value)} />
        <div className="actions">
          <Button type="submit" disabled={!userId}>
            {t("action.add")}
          </Button>
        </div>
      </form>
    </Panel>
  );
}

function Actions({ segment }: { segment: Segment }) {
  const { t } = useWords();
  const mayEdit = useMayEdit();
  const act = useAct();
  const [deleting, setDeleting] = useState(false);
  const remove = async () => {
    await act(() => api.del(`/api/v1/segments/${segment.id}`), [], t("segments.deleted"));
    navigate("/segments");
  };
  return (
    <>
      <a
        className="button"
        href={address(`/api/v1/segments/${segment.id}/members`, { format: "csv" })}
        download={`${segment.name}.csv`}
      >
        {t("segments.csv")}
      </a>
      {mayEdit && <ButtonLink to={`/segments/${segment.id}/edit`}>{t("action.edit")}</ButtonLink>}
      {mayEdit && (
        <Button kind="danger" icon="trash" onClick={() => setDeleting(true)}>
          {t("action.delete")}
        </Button>
      )}
      {deleting && (
        <Confirm
          title={t("segments.delete")}
          action={t("action.delete")}
          onConfirm={remove}
          onClose={() => setDeleting(false)}
        >
          <p>{t("segments.deleteWhat", { n: segment.size })}</p>
          <p className="soft">{t("segments.deleteNot")}</p>
        </Confirm>
      )}
    </>
  );
}
