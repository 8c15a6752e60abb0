export type Bytes = Uint8Array<ArrayBuffer>;

export function bytesOf(hex: string): Bytes {
  if (!/^(?:[0-9a-f]{2})*$/i.test(hex)) throw new Error("not hexadecimal");
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

export const hexOf = (bytes: Uint8Array) => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");

/** Browsers hash only on pages that came over https or from this machine. */
export const canHash = () => globalThis.crypto?.subtle !== undefined;

export async function sha256(bytes: Bytes): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

/** Reads bytes from the front, numbers as Bitcoin writes them. */
export function reader(bytes: Uint8Array) {
  let at = 0;
  const take = (count: number) => {
    if (at + count > bytes.length) throw new Error("it ends too early");
    at += count;
    return bytes.slice(at - count, at);
  };
  const little = (count: number) => take(count).reduceRight((sum, value) => sum * 256 + value, 0);
  const byte = () => little(1);
  const number = () => {
    const first = byte();
    if (first < 0xfd) return first;
    return little(first === 0xfd ? 2 : first === 0xfe ? 4 : 8);
  };
  return { take, little, byte, number, left: () => bytes.length - at };
}
