/** The text of a body in UTF-8. Throws as soon as it is longer than the limit. */
export async function readBounded(
  body: AsyncIterable<Uint8Array>,
  maximumBytes: number,
  tooLong = () => new Error(`the answer is longer than ${maximumBytes} bytes`),
): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > maximumBytes) throw tooLong();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length).toString('utf8');
}
