import { connect } from 'node:net';
import type { Answer } from './answer-shape.ts';

/** Far above what any answer takes, and below the server's own limits for slow callers. */
const EXCHANGE_TIMEOUT_MS = 8_000;

/** Sends bytes, says that no more will come, and reads until the server closes. Rejects when it does not. */
export function exchange(port: number, bytes: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Error(`the connection stayed open for ${EXCHANGE_TIMEOUT_MS} ms`));
    }, EXCHANGE_TIMEOUT_MS);
    socket.on('data', (chunk) => chunks.push(chunk));
    // The server may reset a connection whose bytes it did not read; what it said before that counts.
    socket.on('error', () => {});
    socket.on('end', () => socket.end());
    socket.on('close', () => {
      clearTimeout(timer);
      resolve(Buffer.concat(chunks));
    });
    socket.end(bytes);
  });
}

const HEAD_END = '\r\n\r\n';

/**
 * The answers in the bytes of a connection, in their order. Throws when they are not whole answers with a length.
 *
 * @param mayBeHead whether a request could have been one of HEAD, whose answer has a length and no body
 */
export function parseAnswers(bytes: Buffer, mayBeHead: boolean): Answer[] {
  const answers: Answer[] = [];
  let rest = bytes.toString('latin1');
  while (rest !== '') {
    const end = rest.indexOf(HEAD_END);
    if (end === -1) throw new Error(`half an answer: ${rest.slice(0, 200)}`);
    const [statusLine = '', ...lines] = rest.slice(0, end).split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) [\w' -]+$/.exec(statusLine)?.[1]);
    if (Number.isNaN(status)) throw new Error(`no status line: ${statusLine}`);
    rest = rest.slice(end + HEAD_END.length);
    if (status < 200) continue;
    const headers = headersOf(lines);
    const length = status === 304 || status === 204 ? 0 : Number(headers['content-length'] ?? Number.NaN);
    if (Number.isNaN(length)) throw new Error(`an answer without a length: ${statusLine}`);
    const isWithoutBody = mayBeHead && (rest === '' || rest.startsWith('HTTP/1.1 '));
    if (!isWithoutBody && rest.length < length) throw new Error(`an answer that was cut off: ${statusLine}`);
    const body = isWithoutBody ? '' : rest.slice(0, length);
    answers.push({ status, headers, body: Buffer.from(body, 'latin1').toString('utf8') });
    rest = rest.slice(body.length);
  }
  return answers;
}

function headersOf(lines: readonly string[]): Readonly<Record<string, string>> {
  const headers: Record<string, string> = Object.create(null);
  for (const line of lines) {
    const [, name, value] = /^([\w-]+): (.*)$/.exec(line) ?? [];
    if (name === undefined || value === undefined) throw new Error(`no header: ${line}`);
    headers[name.toLowerCase()] = value;
  }
  return headers;
}
