/** Prometheus with the rules and the scrape configuration of the docs: it scrapes a running service, and notices its end. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { read } from '../../test/docs/markdown.ts';
import { freePorts } from '../../test/support/free-ports.ts';
import { startServiceProcess } from '../../test/support/service-process.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import type { Outcome } from './check-proxy.ts';
import { collectOutcomes } from './host-service.ts';
import { startPrometheus } from './neighbors.ts';

const SCRAPED_MS = 30_000;

interface Rule {
  readonly name: string;
  readonly health: string;
  readonly state: string;
}

/** The outcomes, or why it was not checked. */
export async function checkPrometheus(folder: string): Promise<readonly Outcome[] | string> {
  if (spawnSync('prometheus', ['--version']).error !== undefined) return 'Prometheus is not installed';
  const { outcomes, check } = collectOutcomes();
  await check('promtool: each alert fires and resolves on its series', () => {
    const vitest = join(import.meta.dirname, '../../node_modules/vitest/vitest.mjs');
    const words = [vitest, 'run', 'test/docs/monitoring.test.ts'];
    const { status, stdout } = spawnSync(process.execPath, words, { encoding: 'utf8' });
    if (status !== 0) throw new Error(stdout.slice(-1_500));
    return Promise.resolve(undefined);
  });
  const [port = 0, adminPort = 0] = await freePorts(2);
  const dataDir = join(folder, 'scraped');
  const ports = { PORT: String(port), ADMIN_PORT: String(adminPort) };
  const service = await startServiceProcess({ DATA_DIR: dataDir, ...ports });
  try {
    const prometheus = await startPrometheus(folder, adminPort);
    try {
      const query = <T>(path: string) => readData<T>(`${prometheus.url}/api/v1/${path}`);
      const isUp = async (value: string) => {
        const { result } = await query<{ result: { value: [number, string] }[] }>(
          'query?query=up{job="card-checkout"}',
        );
        return result[0]?.value[1] === value;
      };
      await check('scrapes the service', async () => {
        await waitFor('a scrape', SCRAPED_MS, () => isUp('1'));
        const names = await query<string[]>('label/__name__/values');
        const ours = names.filter((name) => name.startsWith('card_checkout_'));
        if (!ours.includes('card_checkout_scanned_block')) throw new Error(names.join(', '));
        return `${names.length} metrics, ${ours.length} of them card_checkout_…`;
      });
      const readRules = async () =>
        (await query<{ groups: { rules: Rule[] }[] }>('rules')).groups.flatMap(({ rules }) => rules);
      await check('evaluates each rule', async () => {
        const isEvaluated = async () => (await readRules()).every(({ health }) => health === 'ok');
        await waitFor('the rules to be evaluated', SCRAPED_MS, isEvaluated);
        const rules = await readRules();
        const written = read('docs/monitoring/alerts.yml').match(/- alert: /g)?.length;
        if (rules.length !== written) throw new Error(`${rules.length} of ${written}`);
        return `${rules.length} rules`;
      });
      await check('notices the end of the service', async () => {
        await service.end('SIGTERM');
        await waitFor('a failed scrape', SCRAPED_MS, () => isUp('0'));
        const isPending = async () =>
          (await readRules()).some(({ name, state }) => name === 'CardCheckoutDown' && state !== 'inactive');
        await waitFor('the alert', SCRAPED_MS, isPending);
        return 'CardCheckoutDown is pending';
      });
    } finally {
      await prometheus.stop();
    }
  } finally {
    await service.end('SIGTERM');
  }
  return outcomes;
}

async function readData<T>(url: string): Promise<T> {
  const response = await fetch(url);
  return ((await response.json()) as { readonly data: T }).data;
}
