import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startBalancer } from '../support/balancer.ts';
import { SOMEBODY } from '../support/e2e-service.ts';
import { type LiveInstance, type LiveInstances, openLiveInstances } from '../support/live-instances.ts';
import { createShop } from '../support/service-process.ts';
import { waitFor } from '../support/wait-for.ts';

/** Merchants' connections, each with one request at a time and hardly a pause in between. */
const CONNECTIONS = 8;
const PAUSE_MS = 30;

const unlimited = { RATE_LIMIT_CREATE_PER_MINUTE: '1000000' };

describe('a restart under load', () => {
  let live: LiveInstances;

  beforeAll(async () => {
    live = await openLiveInstances();
  });
  afterAll(() => live?.stop(), 60_000);

  /** As an operator would: SIGTERM, wait for the end, start again. */
  async function restart(instance: LiveInstance): Promise<void> {
    expect(await instance.process.end('SIGTERM')).toBe(0);
    await live.startAgain('all', instance);
  }

  /** Restarts one instance after the other behind a balancer, under load; nothing may fail and nothing be lost. */
  async function restartAllUnderLoad(instances: readonly LiveInstance[]): Promise<void> {
    const { environment } = instances[0] as LiveInstance;
    const { apiKey: key } = await createShop(environment);
    const balancer = await startBalancer(
      instances.map(({ url }) => url),
      { checkIntervalMs: instances.length === 1 ? 100 : 500 },
    );
    const load = startLoad(balancer.url, key);
    try {
      await load.untilMoreAnswers(200);
      for (const instance of instances) {
        await restart(instance);
        await waitFor('the balancer to use it again', 60_000, () => balancer.isReady(instance.url));
        await load.untilMoreAnswers(200);
      }
    } finally {
      await load.stop();
    }
    const unserved = await missing(balancer.url, key, load.created);
    await balancer.stop();
    expect(load.failures.slice(0, 10)).toEqual([]);
    expect(unserved).toEqual([]);
    expect(load.created.length).toBeGreaterThan(100);
    for (const { url } of instances) expect(balancer.answered.get(url)).toBeGreaterThan(100);
  }

  it('of one PostgreSQL instance after the other lets no request fail and loses no payment', async () => {
    const database = { ...unlimited, DATABASE_URL: await live.postgres.createDatabase() };
    await restartAllUnderLoad(await Promise.all([1, 2].map(() => live.start('all', database))));
  });

  it('of the only instance on SQLite makes requests wait behind the balancer, and none fail', async () => {
    await restartAllUnderLoad([await live.start('all', unlimited)]);
  });
});

/** Creates and status reads in turn, over connections that are kept as long as the other side keeps them. */
function startLoad(url: string, key: string) {
  const failures: string[] = [];
  const created: string[] = [];
  let answers = 0;
  let isStopping = false;

  async function merchant(): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    while (!isStopping) {
      const body = { address: SOMEBODY, callback: 'https://shop.example.com/hook', amount: '80' };
      const id = await answerOf(send(agent, url, key, '/api/v1/wallet', body));
      if (id !== null) {
        created.push(id);
        await answerOf(send(agent, url, key, `/api/v1/payment-status?payment_id=${id}`));
      }
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
    agent.destroy();
  }

  async function answerOf(sent: Promise<Answer>): Promise<string | null> {
    try {
      const { status, body } = await sent;
      answers++;
      if (status === 200) return (JSON.parse(body) as { payment_id: string }).payment_id;
      failures.push(`${status} ${body}`);
    } catch (error) {
      failures.push(String(error));
    }
    return null;
  }

  const merchants = Array.from({ length: CONNECTIONS }, merchant);
  return {
    failures,
    created,
    untilMoreAnswers(count: number) {
      const goal = answers + count;
      return waitFor('answers', 60_000, () => answers >= goal);
    },
    async stop() {
      isStopping = true;
      await Promise.all(merchants);
    },
  };
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

/** One request; rejects when the connection breaks off. Nothing is tried a second time. */
function send(agent: Agent, url: string, key: string, path: string, fields?: object): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { 'x-api-key': key, 'content-type': 'application/json' };
    const method = fields === undefined ? 'GET' : 'POST';
    const sent = request(`${url}${path}`, { agent, method, headers }, (answer) => {
      text(answer).then((body) => resolve({ status: answer.statusCode as number, body }), reject);
    });
    sent.once('error', reject);
    sent.end(fields === undefined ? undefined : JSON.stringify(fields));
  });
}

/** Which of the acknowledged payments cannot be read any more. */
async function missing(url: string, key: string, ids: readonly string[]): Promise<string[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const lost: string[] = [];
  await Promise.all(
    ids.map(async (id) => {
      const { status } = await send(agent, url, key, `/api/v1/payment-status?payment_id=${id}`);
      if (status !== 200) lost.push(id);
    }),
  );
  agent.destroy();
  return lost;
}
