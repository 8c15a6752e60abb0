// CSV as spreadsheets write it: quotes doubled, line breaks inside quotes, comma or semicolon.
export function readCsv(text: string): string[][] {
  const clean = text.replace(/^\uFEFF/, "");
  const head = clean.slice(0, clean.indexOf("\n") + 1 || undefined);
  const separator = (head.match(/;/g)?.length ?? 0) > (head.match(/,/g)?.length ?? 0) ? ";" : ",";
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = "";
  let quoted = false;
  const endCell = () => {
    row.push(cell);
    cell = "";
  };
  const endRow = () => {
    endCell();
    if (row.some((one) => one !== "")) rows.push(row);
    row = [];
  };
  for (let at = 0; at < clean.length; at++) {
    const sign = clean[at];
    if (quoted) {
      if (sign !== '"') cell += sign;
      else if (clean[at + 1] === '"') cell += clean[at++];
      else quoted = false;
    } else if (sign === '"' && cell === "") quoted = true;
    else if (sign === separator) endCell();
    else if (sign === "\n") endRow();
    else if (sign !== "\r") cell += sign;
  }
  if (cell !== "" || row.length > 0) endRow();
  return rows;
}

export const TARGETS = ["user_id", "email", "anonymous_id", "attribute", "skip"] as const;
export type Target = (typeof TARGETS)[number];

/** A first guess from the heading. */
export function guess(heading: string): Target {
  const name = heading.toLowerCase().replace(/[^a-z]/g, "");
  if (["email", "emailaddress", "mail"].includes(name)) return "email";
  if (["userid", "id", "externalid", "customerid"].includes(name)) return "user_id";
  if (["anonymousid"].includes(name)) return "anonymous_id";
  return name === "" ? "skip" : "attribute";
}

export type Row = { user_id?: string; email?: string; anonymous_id?: string; attributes: Record<string, unknown> };

const NUMBER = /^-?(?:0|[1-9]\d{0,14})(?:\.\d+)?$/;

function valueOf(cell: string): unknown {
  if (NUMBER.test(cell)) return Number(cell);
  if (cell === "true" || cell === "false") return cell === "true";
  return cell;
}

export function rowOf(headings: string[], targets: Target[], cells: string[]): Row {
  const row: Row = { attributes: {} };
  targets.forEach((target, at) => {
    const cell = cells[at]?.trim() ?? "";
    if (cell === "" || target === "skip") return;
    if (target === "attribute") row.attributes[headings[at] ?? ""] = valueOf(cell);
    else row[target] = cell;
  });
  return row;
}

export const isNamed = (row: Row) => Boolean(row.user_id || row.email || row.anonymous_id);
