import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** How a provider or node answers; all but `helpful` repeat whatever they were told, credentials first. */
export const quotingMoods = ['text', 'json', 'rpc', 'code'] as const;
type Mood = 'helpful' | (typeof quotingMoods)[number];

/** A server between the service and somebody whose errors quote the request. */
export interface TalkativeServer {
  readonly url: string;
  setMood(mood: Mood): void;
  /** Answers that quoted something. */
  quoted(): number;
  stop(): Promise<void>;
}

/** @param target gets what is asked below the server's root; what it is asked with stays its own */
export async function startTalkativeServer(target: string): Promise<TalkativeServer> {
  let mood: Mood = 'helpful';
  let quoted = 0;

  async function answer(request: IncomingMessage, body: string): Promise<[number, string, string]> {
    const said = `${request.headers.authorization} ${request.url} ${body}`;
    if (mood !== 'helpful') quoted++;
    switch (mood) {
      case 'text':
        return [
          401,
          'text/plain',
          `${request.headers.authorization?.replace(/^\S+ /, '')} is no key: ${said}`,
        ];
      case 'json':
        return [422, 'application/json', JSON.stringify({ error: said, message: said })];
      case 'code':
        return [422, 'application/json', JSON.stringify({ error: { code: said, message: said } })];
      case 'rpc':
        return [200, 'application/json', JSON.stringify({ id: 1, error: { code: -32000, message: said } })];
      case 'helpful': {
        const { method = 'GET', headers } = request;
        const passed = { 'content-type': 'application/json', authorization: headers.authorization ?? '' };
        const given = method === 'GET' ? {} : { body };
        const response = await fetch(target + pathBelow(request.url), { method, headers: passed, ...given });
        return [response.status, 'application/json', await response.text()];
      }
    }
  }

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const [status, type, text] = await answer(request, Buffer.concat(chunks).toString('utf8')).catch(
      (): [number, string, string] => [502, 'text/plain', 'nobody there'],
    );
    response.writeHead(status, { 'content-type': type }).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    setMood: (next) => {
      mood = next;
    },
    quoted: () => quoted,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The first two parts of the path are for this server alone, as hosts of nodes do it: `/v2/KEY`. */
function pathBelow(path = '/'): string {
  return path.replace(/^\/[^/?]+\/[^/?]+/, '').replace(/^\?.*$/, '');
}
