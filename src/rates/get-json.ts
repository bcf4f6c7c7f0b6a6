import { type Agent, request } from 'undici';

const MAXIMUM_ANSWER_BYTES = 256 * 1024;

/** One bounded GET that must answer 200 with JSON; follows no redirect, throws otherwise. */
export async function getJson(agent: Agent, url: string, timeoutMs: number): Promise<unknown> {
  const { statusCode, body } = await request(url, {
    dispatcher: agent,
    method: 'GET',
    headers: { accept: 'application/json' },
    signal: AbortSignal.timeout(timeoutMs),
  });
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    if (length > MAXIMUM_ANSWER_BYTES)
      throw new Error(`the answer is longer than ${MAXIMUM_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  if (statusCode !== 200) throw new Error(`answered ${statusCode}`);
  return JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown;
}
