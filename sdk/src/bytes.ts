/** Bytes and their hexadecimal text, by the language alone: Buffer exists in some runtimes only. */

const encoder = new TextEncoder();

/** Text as UTF-8; bytes as they are. */
export function toBytes(data: string | Uint8Array | ArrayBuffer): Uint8Array {
  if (typeof data === 'string') return encoder.encode(data);
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);
}

/** Two lower-case digits for each byte, without a prefix. */
export function toHex(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += byte.toString(16).padStart(2, '0');
  return text;
}

/** The bytes of hexadecimal digits of either case, with or without `0x`; null when it is anything else. */
export function fromHex(text: string): Uint8Array | null {
  const digits = text.startsWith('0x') ? text.slice(2) : text;
  if (digits.length % 2 !== 0 || !/^[0-9a-fA-F]*$/.test(digits)) return null;
  const bytes = new Uint8Array(digits.length / 2);
  for (let index = 0; index < bytes.length; index++) {
    bytes[index] = Number.parseInt(digits.slice(2 * index, 2 * index + 2), 16);
  }
  return bytes;
}

/** One after the other. */
export function concatenate(...parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    all.set(part, offset);
    offset += part.length;
  }
  return all;
}

/** Whether both hold the same bytes, in a time that does not depend on where they differ. */
export function isEqualInConstantTime(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let index = 0; index < a.length; index++) difference |= (a[index] as number) ^ (b[index] as number);
  return difference === 0;
}
