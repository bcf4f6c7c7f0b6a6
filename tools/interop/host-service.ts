/** Service in live mode on a failing machine, and a merchant who keeps sending requests. */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type LiveWorld, type Machine, startLiveWorld } from '../../test/support/live-service.ts';
import { createShop, runCommand, type ServiceEnvironment } from '../../test/support/service-process.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import type { Outcome } from './check-proxy.ts';

const root = join(import.meta.dirname, '../..');

/** Outcome of one request. */
export interface Answer {
  /** 0 if the connection was refused or closed; −1 without an answer within `ANSWER_MS`. */
  readonly status: number;
  readonly tookMs: number;
  /** Time of arrival by the wall clock. */
  readonly atMs: number;
  readonly body: Readonly<Record<string, string>>;
}

/** Longer than all time limits of the service. */
const ANSWER_MS = 60_000;
const SETTLED_MS = 120_000;

export type HostService = ReturnType<typeof hostServiceOf>;

/** A payment with its customer at the provider. */
export interface BegunPayment {
  readonly id: string;
  pay(): Promise<unknown>;
}

/** A request that is repeated. */
export interface Asking {
  readonly answers: readonly Answer[];
  stop(): Promise<readonly Answer[]>;
}

/** A world with one machine and an account. Its `stop` ends everything. */
export async function startHostService(
  changes: (world: LiveWorld) => ServiceEnvironment | Promise<ServiceEnvironment>,
  options: Parameters<LiveWorld['startMachine']>[1] = {},
): Promise<HostService> {
  const world = await startLiveWorld();
  try {
    const common = { SECRET_KEY: randomBytes(32).toString('hex'), RATE_LIMIT_CREATE_PER_MINUTE: '1000000' };
    const machine = await world.startMachine({ ...common, ...(await changes(world)) }, options);
    return hostServiceOf(world, machine, (await createShop(machine.environment, 'Interop')).apiKey);
  } catch (error) {
    await world.stop();
    throw error;
  }
}

function hostServiceOf(world: LiveWorld, machine: Machine, key: string) {
  const { environment } = machine;
  const url = `http://127.0.0.1:${environment['PORT']}`;
  const headers = { 'x-api-key': key, 'content-type': 'application/json', connection: 'close' };
  const order = { address: world.sandbox.merchantWallet, callback: world.receiver.url, amount: '80' };
  const body = JSON.stringify({ ...order, provider: 'moonpay' });
  const get = (path: string) => ask(`${url}${path}`, { headers });
  const create = () => ask(`${url}/api/v1/wallet`, { method: 'POST', headers, body });
  const readStatus = (id: string) => get(`/api/v1/payment-status?payment_id=${id}`);
  const webhooksOf = (id: string) => world.receiver.received.filter(({ rawBody }) => rawBody.includes(id));
  return {
    world,
    machine,
    /** Like `readStatus`, opens a connection per request. */
    create,
    readStatus,
    get,
    /** Received webhooks of a payment. */
    webhooksOf,
    /** Creates a payment, and takes its customer to the provider. */
    async begin(): Promise<BegunPayment> {
      const id = (await create()).body['payment_id'] ?? '';
      const order = await machine.beginSession(id);
      return { id, pay: () => world.sandbox.pay({ order }) };
    },
    /** Creates payments until `stop` is called: one at a time in each of `lanes`, with a pause after each. */
    startCreating: (lanes: number, pauseMs?: number) => startAsking(create, lanes, pauseMs),
    /** Waits until the payment is paid and its webhook has arrived, and returns the milliseconds. */
    async untilSettled(id: string) {
      const startMs = performance.now();
      await waitFor(`payment ${id} to be paid, with a webhook`, SETTLED_MS, async () => {
        const answer = await readStatus(id);
        return answer.body['status'] === 'paid' && webhooksOf(id).length > 0;
      });
      return performance.now() - startMs;
    },
    /** Throws if a payment is missing or has two webhooks, or if `verify` finds a discrepancy. */
    async requireAll(ids: readonly string[]) {
      for (const id of ids) {
        const { status } = await readStatus(id);
        if (status !== 200) throw new Error(`payment ${id} was answered, and its status is ${status} now`);
        const { length } = webhooksOf(id);
        if (length > 1) throw new Error(`payment ${id} has ${length} webhooks`);
      }
      await runCommand(environment, 'verify').catch(({ stdout, stderr }) => {
        throw new Error(`verify: ${String(stdout).slice(-800)} ${String(stderr).slice(-400)}`);
      });
      return `${ids.length} creates answered 200, none missing, verify finds no difference`;
    },
  };
}

async function ask(url: string, init: RequestInit): Promise<Answer> {
  const startMs = performance.now();
  const times = () => ({ tookMs: performance.now() - startMs, atMs: Date.now() });
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(ANSWER_MS) });
    const text = await response.text();
    const body = text.startsWith('{') ? (JSON.parse(text) as Record<string, string>) : {};
    return { status: response.status, ...times(), body };
  } catch (error) {
    const isLate = (error as Error).name === 'TimeoutError';
    return { status: isLate ? -1 : 0, ...times(), body: {} };
  }
}

/** Repeats the request until `stop` is called: one at a time in each of `lanes`, with a pause after each. */
export function startAsking(ask: () => Promise<Answer>, lanes: number, pauseMs = 0): Asking {
  const answers: Answer[] = [];
  let isOver = false;
  const running = Array.from({ length: lanes }, async () => {
    while (!isOver) {
      answers.push(await ask());
      if (pauseMs > 0) await delay(pauseMs);
    }
  });
  return {
    answers,
    async stop() {
      isOver = true;
      await Promise.all(running);
      return answers;
    },
  };
}

/** Acknowledged payments. */
export function createdBy(answers: readonly Answer[]): string[] {
  return answers.filter(({ status }) => status === 200).map(({ body }) => body['payment_id'] ?? '');
}

/** Counts per status, and the slowest answer: `200: 41, 500: 97, slowest 84 ms`. */
export function countOf(answers: readonly Answer[]): string {
  const counts = Map.groupBy(answers, ({ status }) => status);
  const parts = [...counts].sort(([one], [other]) => one - other);
  const slowestMs = Math.max(0, ...answers.map(({ tookMs }) => tookMs));
  const named = (status: number) => (status > 0 ? status : status === 0 ? 'closed' : 'no answer');
  return [
    ...parts.map(([status, those]) => `${named(status)}: ${those.length}`),
    `slowest ${Math.round(slowestMs)} ms`,
  ].join(', ');
}

/** Throws if an answer has another status or took longer. */
export function requireAnswers(
  answers: readonly Answer[],
  allowed: readonly number[],
  boundMs: number,
): string {
  const isWrong = ({ status, tookMs }: Answer) => !allowed.includes(status) || tookMs > boundMs;
  const wrong = answers.find(isWrong);
  if (wrong !== undefined || answers.length === 0)
    throw new Error(`${countOf(answers)}; ${JSON.stringify(wrong?.body ?? {})}`);
  return countOf(answers);
}

export const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;

/** Runs tests of the project that need the program. Outcome, or the reason why it was not checked. */
export function checkTests(name: string, program: string, ...files: string[]): readonly Outcome[] | string {
  if (spawnSync(program, ['--version']).error !== undefined) return `${program} is not installed`;
  const words = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...files];
  const { status, stdout } = spawnSync(process.execPath, words, { cwd: root, encoding: 'utf8' });
  return [{ name, problem: status === 0 ? null : stdout.slice(-1_500) }];
}

/** Runs steps in order, and adds the figures that a step returns to its name. */
export function collectOutcomes() {
  const outcomes: Outcome[] = [];
  const check = async (name: string, run: () => Promise<string | undefined>): Promise<void> => {
    try {
      const figures = await run();
      outcomes.push({ name: figures === undefined ? name : `${name} (${figures})`, problem: null });
    } catch (error) {
      const problem = String(error instanceof Error ? error.message : error).slice(0, 1_500);
      outcomes.push({ name, problem });
    }
  };
  return { outcomes, check };
}
