/** Prometheus with the rules and the scrape configuration of the docs: it scrapes a running service, and notices its end. */
import { join } from 'node:path';
import { read } from '../../test/docs/markdown.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { startSandboxProcess } from '../sandbox-process.ts';
import type { Outcome } from './check-proxy.ts';
import { checkTests, collectOutcomes } from './host-service.ts';
import { startPrometheus } from './neighbors.ts';

const SCRAPED_MS = 30_000;

type Rule = Readonly<Record<'name' | 'health' | 'state', string>>;

/** Outcomes, or the reason why it was not checked. */
export async function checkPrometheus(folder: string): Promise<readonly Outcome[] | string> {
  const rules = 'promtool: each alert fires and resolves on its series';
  const tested = checkTests(rules, 'prometheus', 'test/docs/monitoring.test.ts');
  if (typeof tested === 'string') return tested;
  const { outcomes, check } = collectOutcomes();
  const service = await startSandboxProcess(join(folder, 'scraped'));
  try {
    const prometheus = await startPrometheus(folder, service.adminPort);
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
  return [...tested, ...outcomes];
}

async function readData<T>(url: string): Promise<T> {
  const response = await fetch(url);
  return ((await response.json()) as { readonly data: T }).data;
}
