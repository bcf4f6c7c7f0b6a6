/** The value of a JSON text; undefined for an invalid one. The parser's error would quote the text. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Reads a body. Throws the error of `tooLong` as soon as it exceeds the limit. */
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
