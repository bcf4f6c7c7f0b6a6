import { connect } from 'node:net';

/** An answer as it came over the wire. */
export interface RawAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
  /** Every byte, save for what differs between two answers to the same request: the date and the request's id. */
  readonly comparable: string;
}

/** How a request is written: its first line, and whatever goes beyond a Host and the end of the connection. */
export interface RawRequest {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const TIMEOUT_MS = 15_000;

/** Sends one request on a connection of its own, and reads until the server closes it. */
export function exchange(url: string, { method, path, headers = {}, body }: RawRequest): Promise<RawAnswer> {
  const lines = [
    `${method} ${path} HTTP/1.1`,
    `Host: ${new URL(url).host}`,
    'Connection: close',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(body === undefined ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]),
  ];
  return sendBytes(url, `${lines.join('\r\n')}\r\n\r\n${body ?? ''}`);
}

/** Sends these bytes, be they HTTP or not. */
export function sendBytes(url: string, bytes: string): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    const chunks: Buffer[] = [];
    socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error('the server did not close the connection')));
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', reject);
    socket.on('end', () => resolve(parseAnswer(Buffer.concat(chunks).toString('utf8'))));
    socket.write(bytes);
  });
}

function parseAnswer(text: string): RawAnswer {
  const end = text.indexOf('\r\n\r\n');
  const [first = '', ...lines] = text.slice(0, end).split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1]);
  if (end === -1 || Number.isNaN(status)) throw new Error(`no answer: ${text.slice(0, 200)}`);
  return {
    status,
    headers: new Map(
      lines.map((line) => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }),
    ),
    body: text.slice(end + 4),
    comparable: text.replace(/^(date|x-request-id): .*$/gim, '$1'),
  };
}
