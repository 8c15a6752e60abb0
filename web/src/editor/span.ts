const encoder = new TextEncoder();

/** The server counts bytes, the editor UTF-16 units. */
export function unitAt(text: string, byte: number): number {
  let bytes = 0;
  let units = 0;
  for (const character of text) {
    if (bytes >= byte) break;
    bytes += encoder.encode(character).length;
    units += character.length;
  }
  return units;
}
