/** Merchants who create payments and read their status all the while. */
import { Agent as HttpAgent, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { text } from 'node:stream/consumers';
import { SOMEBODY } from './e2e-service.ts';
import { waitFor } from './wait-for.ts';

/** Merchants' connections, each with one request at a time and hardly a pause in between. */
const CONNECTIONS = 8;
const PAUSE_MS = 30;

/** The certificate to trust and the name to ask for, with an `https:` URL. */
type Tls = { readonly ca?: string; readonly servername?: string };

function agentFor(url: string, maxSockets: number, tls: Tls): HttpAgent {
  const options = { keepAlive: true, maxSockets };
  return url.startsWith('https:') ? new HttpsAgent({ ...options, ...tls }) : new HttpAgent(options);
}

/** Creates and status reads in turn, over connections that are kept as long as the other side keeps them. */
export function startLoad(url: string, key: string, tls: Tls = {}) {
  const failures: string[] = [];
  const created: string[] = [];
  let answers = 0;
  let isStopping = false;

  async function merchant(): Promise<void> {
    const agent = agentFor(url, 1, tls);
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
function send(agent: HttpAgent, url: string, key: string, path: string, fields?: object): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { 'x-api-key': key, 'content-type': 'application/json' };
    const method = fields === undefined ? 'GET' : 'POST';
    const request = url.startsWith('https:') ? requestHttps : requestHttp;
    const sent = request(`${url}${path}`, { agent, method, headers }, (answer) => {
      text(answer).then((body) => resolve({ status: answer.statusCode as number, body }), reject);
    });
    sent.once('error', reject);
    sent.end(fields === undefined ? undefined : JSON.stringify(fields));
  });
}

/** Which of the acknowledged payments cannot be read any more. */
export async function missing(
  url: string,
  key: string,
  ids: readonly string[],
  tls: Tls = {},
): Promise<string[]> {
  const agent = agentFor(url, CONNECTIONS, tls);
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
