import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';

/** A load balancer such as operators have: it asks for the health of its backends and tries nothing a second time. */
export interface Balancer {
  readonly url: string;
  /** Whether this backend is sent requests at this moment. */
  isReady(backend: string): boolean;
  readonly answered: ReadonlyMap<string, number>;
  stop(): Promise<void>;
}

/** Checks in a row that decide: one success brings a backend in, so many failures take it out. */
const FAILURES_TO_LEAVE = 2;
const CHECK_TIMEOUT_MS = 1_000;

/** How long a request waits for a backend to be there at all. */
const WAIT_MS = 60_000;

/** Starts it before these backends (`http://host:port`); connections to both sides are kept. */
export async function startBalancer(
  backends: readonly string[],
  { checkIntervalMs }: { readonly checkIntervalMs: number },
): Promise<Balancer> {
  const agents = new Map(backends.map((backend) => [backend, new Agent({ keepAlive: true })]));
  const failures = new Map(backends.map((backend) => [backend, FAILURES_TO_LEAVE]));
  const answered = new Map(backends.map((backend) => [backend, 0]));
  const isReady = (backend: string) => (failures.get(backend) as number) < FAILURES_TO_LEAVE;
  const stopping = new AbortController();
  let turn = 0;

  async function checkForEver(backend: string): Promise<void> {
    while (!stopping.signal.aborted) {
      const isFine = await check(backend);
      failures.set(backend, isFine ? 0 : (failures.get(backend) as number) + 1);
      await delay(checkIntervalMs, null, { signal: stopping.signal }).catch(() => {});
    }
  }

  async function choose(): Promise<string | null> {
    const deadlineMs = performance.now() + WAIT_MS;
    while (performance.now() < deadlineMs) {
      const ready = backends.filter(isReady);
      if (ready.length > 0) return ready[turn++ % ready.length] as string;
      await delay(20);
    }
    return null;
  }

  const front = createServer(async (incoming, outgoing) => {
    const body = await text(incoming);
    const backend = await choose();
    if (backend === null) return outgoing.writeHead(503).end('no backend is ready');
    try {
      await pass(incoming, body, outgoing, backend, agents.get(backend) as Agent);
      answered.set(backend, (answered.get(backend) as number) + 1);
    } catch (error) {
      outgoing.writeHead(502).end(String(error));
    }
  });
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
  const checks = backends.map(checkForEver);

  return {
    url: `http://127.0.0.1:${(front.address() as AddressInfo).port}`,
    isReady,
    answered,
    async stop() {
      stopping.abort();
      await Promise.all(checks);
      for (const agent of agents.values()) agent.destroy();
      front.closeAllConnections();
      await new Promise((resolve) => front.close(resolve));
    },
  };
}

/** On a connection of its own, as a newcomer would come. */
function check(backend: string): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = request(
      `${backend}/health/ready`,
      { agent: false, timeout: CHECK_TIMEOUT_MS },
      (answer) => {
        answer.resume();
        resolve(answer.statusCode === 200);
      },
    );
    asked.once('timeout', () => asked.destroy());
    asked.once('error', () => resolve(false));
    asked.end();
  });
}

/** Passes one request on and its answer back; rejects when the backend's connection breaks off. */
async function pass(
  incoming: IncomingMessage,
  body: string,
  outgoing: ServerResponse,
  backend: string,
  agent: Agent,
): Promise<void> {
  const { method, headers } = incoming;
  const own = { ...headers, connection: 'keep-alive', 'content-length': Buffer.byteLength(body) };
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const passed = request(`${backend}${incoming.url}`, { agent, method, headers: own }, resolve);
    passed.once('error', reject);
    passed.end(body);
  });
  const answerBody = await text(answer);
  outgoing.writeHead(answer.statusCode as number, { 'content-type': answer.headers['content-type'] ?? '' });
  outgoing.end(answerBody);
}
