import { createServer as createTcpServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { createServer } from 'node:tls';
import { expect, it } from 'vitest';
import { createSelfSignedCertificate } from '../../test/support/certificates.ts';
import { listenOnLoopback } from '../../test/support/listen-on-loopback.ts';
import type { HourlyRate } from '../payment/base-currency.ts';
import { ServiceError } from '../payment/errors.ts';
import type { Currency } from '../payment/money.ts';
import { createMetrics } from './metrics.ts';
import { createCertificateTask, createGasTask, createIndexTask, createRateTask } from './worker-tasks.ts';

const POL = 10n ** 18n;

const GWEI = 10n ** 9n;
/** Cost of three full batches of 12,006,250 gas each, at 100 gwei. */
const LOW = 36_018_750n * 100n * GWEI;

const HOUR_MS = 3_600_000;

/** Runs the task once for each balance, with the given fees. Returns the log lines with their run and level. */
async function logged(balances: readonly bigint[], feesGwei: readonly bigint[] = []): Promise<string[]> {
  const lines: string[] = [];
  const shown: number[] = [];
  const lowest: number[] = [];
  let run = 0;
  const log = (level: string) => () => void lines.push(`${run}: ${level}`);
  const relayer = {
    address: '0xAbc',
    checkSigner: async () => {},
    signerFailure: () => null,
    readGasBalance: async () => balances[run] as bigint,
    quoteFees: async () => ({
      maxFeePerGas: (feesGwei[run] ?? 100n) * GWEI,
      maxPriorityFeePerGas: 25n * GWEI,
    }),
  };
  const parts = {
    metrics: {
      relayerSignerFailing: { set: () => {} },
      relayerBalancePol: { set: (_: unknown, pol: number) => void shown.push(pol) },
      relayerLowBalancePol: { set: (_: unknown, pol: number) => void lowest.push(pol) },
    },
    log: { error: log('error'), info: log('info') },
  };
  const task = createGasTask(parts as never, relayer as never);
  for (run = 0; run < balances.length; run++) await task.run(new AbortController().signal);
  expect(shown).toEqual(balances.map((balance) => Number(balance / 10n ** 12n) / 1e6));
  expect(lowest).toEqual(balances.map((_, index) => Number((feesGwei[index] ?? 100n) * 36_018_750n) / 1e9));
  return lines;
}

it('low gas balance of the relayer is an error, once for each time that it becomes low', async () => {
  expect(await logged([5n * POL, LOW, LOW - 1n, 0n, 0n, 4n * POL, 5n * POL, 1n])).toEqual([
    '2: error',
    '5: info',
    '7: error',
  ]);
});

it('a relayer that has none from the start is an error at once', async () => {
  expect(await logged([0n, 0n])).toEqual(['0: error']);
});

it('gas balance that no longer covers three full batches because fees have risen is an error', async () => {
  expect(await logged([LOW, LOW, LOW], [100n, 200n, 100n])).toEqual(['1: error', '2: info']);
});

const signal = new AbortController().signal;

it('a signer that signs again is shown by a process that no longer sends, too', async () => {
  const metrics = createMetrics();
  const balances = { readGasBalance: async () => POL, quoteFees: async () => ({ maxFeePerGas: GWEI }) };
  let failure: string | null = 'the signer does not answer';
  const checkSigner = async () => {
    failure = null;
  };
  const relayer = { address: '0xAbc', checkSigner, signerFailure: () => failure, ...balances };
  metrics.relayerSignerFailing.set({ relayer: '0xAbc' }, 1);
  await createGasTask({ metrics, log: { error() {}, info() {} } } as never, relayer as never).run(signal);
  expect(await metrics.registry.metrics()).toContain('relayer_signer_failing{relayer="0xAbc"} 0');
});

it('takes ten times as long for queued payments as the store, and goes on as long as there are full portions', async () => {
  const left = { changes: 3_000, payments: 60 };
  const take = async (of: keyof typeof left, limit: number) => {
    const taken = Math.min(limit, left[of]);
    left[of] -= taken;
    await delay(10);
    return taken;
  };
  const task = createIndexTask({
    search: {
      foldStatistics: (limit: number) => take('changes', limit),
      indexPayments: (limit: number) => take('payments', limit),
    },
  } as never);
  const startedMs = performance.now();
  expect(await task.run(signal)).toBe(true);
  expect(performance.now() - startedMs).toBeGreaterThan(190);
  expect(await task.run(signal)).toBe(false);
  expect(left).toEqual({ changes: 0, payments: 0 });
  const stopping = new AbortController();
  left.changes = 10_000;
  const last = task.run(stopping.signal);
  stopping.abort();
  expect(await last).toBe(true);
});

it('keeps the first exchange rate of each hour, and logs once an hour that one cannot be read while it tries again', async () => {
  const recorded: HourlyRate[] = [];
  const unreadable = new Set<Currency>(['INR']);
  let nowMs = Date.UTC(2026, 10, 23, 10, 59, 59);
  const warnings: unknown[] = [];
  const task = createRateTask({
    nowMs: () => nowMs,
    log: { warn: (fields: object) => void warnings.push(fields) },
    external: {
      rates: {
        usdRate: async (currency: Currency) => {
          if (unreadable.has(currency)) throw new ServiceError('conversion_failed');
          return 100n;
        },
      },
    },
    store: { search: { recordRates: async (rates: HourlyRate[]) => void recorded.push(...rates) } },
  } as never);
  const hourMs = Date.UTC(2026, 10, 23, 10);
  await task.run(signal);
  await task.run(signal);
  expect(recorded.map(({ currency }) => currency)).toEqual(['EUR', 'CAD']);
  expect(recorded.every((rate) => rate.hourMs === hourMs)).toBe(true);
  expect(warnings).toHaveLength(1);
  unreadable.clear();
  await task.run(signal);
  expect(recorded.at(-1)).toEqual({ currency: 'INR', hourMs, usdRate: 100n });
  nowMs += 1_000;
  await task.run(signal);
  expect(recorded).toHaveLength(6);
  expect(recorded.at(-1)?.hourMs).toBe(hourMs + HOUR_MS);
});

it('the end of the served certificate is recorded, also of an expired one, and stays while it cannot be read', async () => {
  const notAfter = new Date(1_700_000_000_000);
  const { certPem: cert, keyPem: key } = await createSelfSignedCertificate({
    names: ['127.0.0.1'],
    notBefore: new Date(1_600_000_000_000),
    notAfter,
  });
  const server = createServer({ cert, key });
  const [metrics, warned] = [createMetrics(), [] as string[]];
  const log = { warn: (_: object, text: string) => void warned.push(text) };
  const url = new URL((await listenOnLoopback(server)).replace('http', 'https'));
  const read = async (baseUrl: string, times: number) => {
    const task = createCertificateTask({
      metrics,
      log,
      baseUrl,
      config: { dataDir: '.', chain: null },
    } as never);
    for (let run = 0; run < times; run++) await task.run(new AbortController().signal);
    return (
      await metrics.registry.getSingleMetric('card_checkout_certificate_expiry_timestamp_seconds')?.get()
    )?.values;
  };
  expect(await read('http://127.0.0.1', 1)).toEqual([]);
  const recorded = [{ labels: { host: url.host }, value: notAfter.getTime() / 1000 }];
  expect(await read(url.origin, 1)).toMatchObject(recorded);
  expect(warned).toEqual([]);
  server.setSecureContext({});
  expect(await read(url.origin, 3)).toMatchObject(recorded);
  expect(warned).toEqual(['the certificate of BASE_URL could not be read']);
});

it('a stop ends the reading of a certificate from a host that hangs, without a warning', async () => {
  const silent = createTcpServer((socket) => socket.on('error', () => {}).resume());
  const url = (await listenOnLoopback(silent)).replace('http', 'https');
  const log = { warn: () => expect.unreachable() };
  const config = { dataDir: '.', chain: null };
  const task = createCertificateTask({ metrics: createMetrics(), log, baseUrl: url, config } as never);
  await task.run(AbortSignal.timeout(50));
});
