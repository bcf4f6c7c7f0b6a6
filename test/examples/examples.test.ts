import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runGrade } from '../../src/cli/grade/run-grade.ts';
import { type InstalledSdk, installPackedSdk } from '../sdk/pack-sdk.ts';
import { freePorts } from '../support/free-ports.ts';
import { waitFor } from '../support/wait-for.ts';

const root = join(import.meta.dirname, '..', '..');
const examples = join(root, 'examples');

/** Node's own request handler around the route handlers: what Next.js does with a path, and nothing else of it. */
const routeHandlers = `
import { serve } from '@hono/node-server';
import * as webhook from './next/app/webhook/route.js';
import * as orders from './next/app/orders/route.js';
import * as order from './next/app/orders/[paymentId]/route.js';
serve({
  port: Number(process.env.PORT),
  hostname: '127.0.0.1',
  fetch(request) {
    const { pathname } = new URL(request.url);
    if (pathname === '/webhook') return webhook.POST(request);
    if (pathname === '/orders') return orders.POST(request);
    return order.GET(request, { params: Promise.resolve({ paymentId: pathname.split('/')[2] }) });
  },
});
`;

let sdk: InstalledSdk;
/** The examples as somebody has them who has installed what their package.json says. */
let project: string;

beforeAll(() => {
  sdk = installPackedSdk();
  project = join(sdk.folder, 'javascript');
  cpSync(join(examples, 'javascript'), project, { recursive: true });
  writeFileSync(join(project, 'route-handlers.js'), routeHandlers);
  for (const name of ['express', 'fastify', 'hono', '@hono/node-server']) {
    const link = join(sdk.folder, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), link);
  }
});

afterAll(() => sdk.remove());

/** Starts the shop, has it graded, and ends it. */
async function gradeShop(command: string, parameters: (port: number) => readonly string[], folder: string) {
  const [servicePort, port] = (await freePorts(2)) as [number, number];
  const data = mkdtempSync(join(tmpdir(), 'card-checkout-shop-'));
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(command, parameters(port), {
    cwd: folder,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: {
      PATH: process.env['PATH'] ?? '',
      CARD_CHECKOUT_URL: `http://127.0.0.1:${servicePort}`,
      CARD_CHECKOUT_KEY: 'service_live_test',
      CALLBACK_URL: 'https://shop.example/webhook',
      PAYOUT_ADDRESS: '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65',
      ORDERS_FILE: join(data, 'orders.sqlite'),
      PORT: String(port),
      PHP_CLI_SERVER_WORKERS: '4',
      NODE_NO_WARNINGS: '1',
    },
    // A group of its own: PHP's server has workers that must end with it.
    detached: true,
  });
  try {
    const probeUrl = `${url}/orders/{payment_id}`;
    const someOrder = probeUrl.replace('{payment_id}', '01a1fbd7-b7b3-7002-be38-5df3e4ebf9f4');
    const isOpen = async () => (await fetch(someOrder).catch(() => null))?.status === 200;
    await waitFor('the shop', 60_000, isOpen);
    return await runGrade({
      url: `${url}/webhook`,
      orderUrl: `${url}/orders`,
      probeUrl,
      port: String(servicePort),
      timeLimitMs: 5_000,
      patienceMs: 2_000,
      tell: () => {},
    });
  } finally {
    await end(child);
    rmSync(data, { recursive: true });
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null) return;
  const ended = once(child, 'exit');
  process.kill(-child.pid, 'SIGKILL');
  await ended;
}

describe('the example shops', () => {
  it.concurrent.each(['express.js', 'fastify.js', 'hono.js', 'route-handlers.js'])(
    'get full marks: %s',
    async (file) => {
      const { met, findings } = await gradeShop(process.execPath, () => [file], project);
      expect(findings.filter(({ mark }) => mark !== 'met')).toEqual([]);
      expect(met).toBe(5);
    },
  );

  const others = [
    { name: 'python', command: 'python3', check: ['-c', 'import sqlite3'], start: () => ['shop.py'] },
    {
      name: 'php',
      command: 'php',
      check: ['-r', 'exit(extension_loaded("pdo_sqlite") ? 0 : 1);'],
      start: (port: number) => ['-q', '-S', `127.0.0.1:${port}`, 'shop.php'],
    },
  ];

  it.concurrent('get full marks in other languages, those whose runtime is here', async () => {
    for (const { name, command, check, start } of others) {
      if (spawnSync(command, check).status !== 0) {
        // Said in the output of every run: whoever reads it knows what was not looked at.
        console.warn(`not checked: examples/${name}, because ${command} with SQLite is not installed here`);
        continue;
      }
      const { findings } = await gradeShop(command, start, join(examples, name));
      expect(
        findings.filter(({ mark }) => mark !== 'met'),
        name,
      ).toEqual([]);
    }
  });
});
