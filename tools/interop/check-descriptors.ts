/** Tests a service without free file descriptors, because clients took them, while a merchant sends requests. */
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { connect, type Socket } from 'node:net';
import { waitFor } from '../../test/support/wait-for.ts';
import type { Outcome } from './check-proxy.ts';
import {
  collectOutcomes,
  countOf,
  createdBy,
  type HostService,
  requireAnswers,
  seconds,
  startHostService,
} from './host-service.ts';

/** Initial number of free files for a running service. */
const SPARE_FILES = 12;
const IDLE_CLIENTS = 100;
const RETRY_MS = 20;
const LANES = 4;
/** Longer than the service waits for a client, and shorter than a caller waits for an answer. */
const ANSWERED_MS = 35_000;
const RECOVERED_MS = 45_000;

/** Outcomes, or the reason why it was not checked. */
export async function checkDescriptors(): Promise<readonly Outcome[] | string> {
  if (process.platform !== 'linux' || spawnSync('prlimit', ['--version']).error !== undefined)
    return 'prlimit is not installed';
  const service = await startHostService(() => ({}));
  const clients = new Set<Socket>();
  try {
    return await checkOn(service, clients);
  } finally {
    for (const client of clients) client.destroy();
    await service.world.stop();
  }
}

async function checkOn(service: HostService, clients: Set<Socket>): Promise<readonly Outcome[]> {
  const { outcomes, check } = collectOutcomes();
  const { machine } = service;
  const { pid } = machine.process;
  const usualLimit = readLimit(pid);
  const begun = await service.begin();
  const creating = service.startCreating(LANES);
  await waitFor('creates', RECOVERED_MS, () => createdBy(creating.answers).length > 50);

  // Connects in advance, like a load balancer with persistent connections.
  const balancer = new Agent({ keepAlive: true, maxSockets: 1 });
  const readiness = () => readReadiness(balancer, machine.environment);
  if ((await readiness()).status !== 200) throw new Error('the service is not ready');
  limitFiles(pid, countFiles(pid) + SPARE_FILES);
  const stopClients = keepConnected(Number(machine.environment['PORT']), clients);
  await waitFor('the files to be used up', RECOVERED_MS, () => countFiles(pid) >= readLimit(pid));
  const before = creating.answers.length;
  await check('each request ends in time while no file can be opened', async () => {
    await waitFor('100 more requests', RECOVERED_MS, () => creating.answers.length >= before + 100);
    return requireAnswers(creating.answers.slice(before), [0, 200, 429, 500, 503], ANSWERED_MS);
  });
  await check('an open connection learns that the service is not ready', async () => {
    const { status, text } = await waitFor('503', RECOVERED_MS, async () => {
      const answer = await readiness();
      return answer.status === 503 && answer;
    });
    return `${status} ${text}`;
  });
  balancer.destroy();
  await check('the process lives', () => {
    if (machine.process.hasEnded()) throw new Error(machine.process.output().slice(-800));
    return Promise.resolve(undefined);
  });
  await begun.pay();

  await check('creates succeed again by themselves', async () => {
    const known = creating.answers.length;
    const freedMs = performance.now();
    stopClients();
    limitFiles(pid, usualLimit);
    await waitFor('a create', RECOVERED_MS, () => createdBy(creating.answers.slice(known)).length > 0);
    return `${seconds(performance.now() - freedMs)} after the clients were gone`;
  });
  await check('the service is ready again', async () =>
    requireAnswers([await service.get('/health/ready')], [200], ANSWERED_MS),
  );
  await check('a payment that was paid meanwhile is settled', async () =>
    seconds(await service.untilSettled(begun.id)),
  );
  const answers = await creating.stop();
  await check(`nothing answered is lost, ${countOf(answers)}`, () =>
    service.requireAll([begun.id, ...createdBy(answers)]),
  );
  return outcomes;
}

/** Keeps `IDLE_CLIENTS` clients with incomplete requests connected, until the returned function is called. */
function keepConnected(port: number, clients: Set<Socket>): () => void {
  let isOver = false;
  const open = () => {
    if (isOver) return;
    const client = connect(port, '127.0.0.1');
    clients.add(client);
    client.on('error', () => {});
    client.on('close', () => {
      clients.delete(client);
      setTimeout(open, RETRY_MS);
    });
    client.write('GET /health/live HTTP/1.1\r\nhost: ');
  };
  for (let number = 0; number < IDLE_CLIENTS; number++) open();
  return () => {
    isOver = true;
    for (const client of clients) client.destroy();
  };
}

function readReadiness(
  agent: Agent,
  environment: Readonly<Record<string, string>>,
): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const url = `http://127.0.0.1:${environment['PORT']}/health/ready`;
    get(url, { agent }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    }).on('error', reject);
  });
}

function limitFiles(pid: number, files: number): void {
  execFileSync('prlimit', ['--pid', String(pid), `--nofile=${files}:`]);
}

function readLimit(pid: number): number {
  const words = ['--pid', String(pid), '--nofile', '--noheadings', '--output', 'SOFT'];
  return Number(execFileSync('prlimit', words, { encoding: 'utf8' }));
}

function countFiles(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}
