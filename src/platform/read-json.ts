/** Parses JSON. Returns undefined for invalid text instead of throwing an error that would quote the text. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Reads a body. Throws `tooLong()` as soon as the body exceeds the limit. */
export async function readBounded(
  body: AsyncIterable<Uint8Array>,
  maximumBytes: number,
  tooLong: () => Error,
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > maximumBytes) throw tooLong();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}
