import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useLayoutEffect, useRef, useState, type ReactNode } from "react";
import { navigate } from "../shell/router";
import { useWords } from "../i18n";

export type Column<T> = {
  key: string;
  title: string;
  cell: (row: T) => ReactNode;
  right?: boolean;
  wrap?: boolean;
  /** A phone has no room for it; the row's own page shows it. */
  wide?: boolean;
};

/** On a phone, what the columns it has no room for would say. */
export const Beneath = ({ children }: { children: ReactNode }) => <div className="beneath soft small">{children}</div>;

type TableProps<T> = {
  label: string;
  columns: Column<T>[];
  rows: T[];
  rowKey: (row: T) => string;
  /** Where a click on the row leads; its first cell should hold the same link for the keyboard. */
  to?: (row: T) => string;
};

const classOf = <T,>(column: Column<T>) =>
  [column.right && "right", column.wrap && "wrap", column.wide && "wide"].filter(Boolean).join(" ") || undefined;

function Head<T>({ columns }: { columns: Column<T>[] }) {
  return (
    <thead>
      <tr>
        {columns.map((column) => (
          <th key={column.key} scope="col" className={classOf(column)}>
            {column.title}
          </th>
        ))}
      </tr>
    </thead>
  );
}

function Row<T>({ row, columns, to }: { row: T; columns: Column<T>[]; to?: (row: T) => string }) {
  const open = (event: React.MouseEvent) => {
    // Links, buttons and selected text inside the row keep their own meaning.
    if ((event.target as Element).closest("a, button, input, label") || getSelection()?.toString()) return;
    if (to) navigate(to(row));
  };
  return (
    <tr data-link={to ? true : undefined} onClick={to ? open : undefined}>
      {columns.map((column) => (
        <td key={column.key} className={classOf(column)}>
          {column.cell(row)}
        </td>
      ))}
    </tr>
  );
}

export function Table<T>({ label, columns, rows, rowKey, to }: TableProps<T>) {
  return (
    <div className="table-wrap" tabIndex={0} role="region" aria-label={label}>
      <table className="table" aria-label={label}>
        <Head columns={columns} />
        <tbody>
          {rows.map((row) => (
            <Row key={rowKey(row)} row={row} columns={columns} to={to} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

type EndlessProps<T> = TableProps<T> & { hasMore: boolean; loadMore: () => void; loading: boolean };

const ROW_PX = 36;

/** Only the rows in sight are in the page, however many there are; the next page is fetched near the end. */
export function EndlessTable<T>({ label, columns, rows, rowKey, to, hasMore, loadMore, loading }: EndlessProps<T>) {
  const { t } = useWords();
  const wrap = useRef<HTMLDivElement>(null);
  const [offset, setOffset] = useState(0);
  useLayoutEffect(() => setOffset(wrap.current?.offsetTop ?? 0), []);
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => ROW_PX,
    overscan: 20,
    scrollMargin: offset,
  });
  const items = virtual.getVirtualItems();
  const lastShown = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (hasMore && !loading && lastShown >= rows.length - 30) loadMore();
  }, [hasMore, loading, lastShown, rows.length, loadMore]);
  const above = items[0] ? items[0].start - offset : 0;
  const below = items.length ? virtual.getTotalSize() - ((items.at(-1)?.end ?? 0) - offset) : 0;
  return (
    <div className="table-wrap" ref={wrap} tabIndex={0} role="region" aria-label={label}>
      <table className="table" aria-label={label} aria-rowcount={hasMore ? -1 : rows.length}>
        <Head columns={columns} />
        <tbody>
          {above > 0 && (
            <tr aria-hidden="true">
              <td className="spacer" colSpan={columns.length} style={{ height: above }} />
            </tr>
          )}
          {items.map((item) => {
            const row = rows[item.index];
            return row !== undefined && <Row key={rowKey(row)} row={row} columns={columns} to={to} />;
          })}
          {below > 0 && (
            <tr aria-hidden="true">
              <td className="spacer" colSpan={columns.length} style={{ height: below }} />
            </tr>
          )}
        </tbody>
      </table>
      {loading && (
        <p className="table more" role="status">
          {t("state.loadingMore")}
        </p>
      )}
    </div>
  );
}
