// Patterns of paths.
export type Params = Record<string, string>;

/** `/contacts/:id` against a path; `:rest*` takes all that follows. */
export function match(pattern: string, path: string): Params | null {
  const want = pattern.split("/").filter(Boolean);
  const have = path.split("/").filter(Boolean).map(decodeURIComponent);
  const params: Params = {};
  for (const [index, piece] of want.entries()) {
    if (piece.endsWith("*")) {
      params[piece.slice(1, -1)] = have.slice(index).join("/");
      return have.length > index ? params : null;
    }
    const found = have[index];
    if (found === undefined) return null;
    if (piece.startsWith(":")) params[piece.slice(1)] = found;
    else if (piece !== found) return null;
  }
  return have.length === want.length ? params : null;
}
