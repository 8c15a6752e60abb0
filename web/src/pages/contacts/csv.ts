// CSV as spreadsheets write it: quotes doubled, line breaks inside quotes, comma or semicolon.
export type Line = { at: number; cells: string[] };

/** The lines of a file that say something, with their place in it: a cell may go over several. */
export function readCsv(text: string): Line[] {
  const clean = text.replace(/^\uFEFF/, "");
  const head = clean.slice(0, clean.indexOf("\n") + 1 || undefined);
  const separator = (head.match(/;/g)?.length ?? 0) > (head.match(/,/g)?.length ?? 0) ? ";" : ",";
  const rows: Line[] = [];
  let [at, began] = [1, 1];
  let row: string[] = [];
  let cell = "";
  let quoted = false;
  const endCell = () => {
    row.push(cell);
    cell = "";
  };
  const endRow = () => {
    endCell();
    if (row.some((one) => one !== "")) rows.push({ at: began, cells: row });
    row = [];
    began = at;
  };
  for (let place = 0; place < clean.length; place++) {
    const sign = clean[place];
    if (sign === "\n") at++;
    if (quoted) {
      if (sign !== '"') cell += sign;
      else if (clean[place + 1] === '"') cell += clean[place++];
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
