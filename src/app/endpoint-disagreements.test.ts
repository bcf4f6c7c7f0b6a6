import { expect, it } from 'vitest';
import type { FinalityDoubt } from '../settlement/chain/confirm-finality.ts';
import { createDisagreementReport } from './live-services.ts';
import type { Log } from './log.ts';
import { createMetrics } from './metrics.ts';

const NAME = 'card_checkout_endpoint_disagreements_total';

it('counts every disagreement by its kind and endpoint, from zero, and logs each once a minute', async () => {
  const metrics = createMetrics();
  const lines = async () => (await metrics.registry.getSingleMetricAsString(NAME)).split('\n').slice(2);
  metrics.beginEndpoints(['one']);
  expect(await lines()).toEqual([
    `${NAME}{endpoint="one",kind="hash"} 0`,
    `${NAME}{endpoint="one",kind="refuted"} 0`,
    `${NAME}{endpoint="one",kind="omitted"} 0`,
    `${NAME}{endpoint="one",kind="disputed"} 0`,
    `${NAME}{endpoint="one",kind="unconfirmed"} 0`,
  ]);

  let nowMs = 0;
  const logged: string[] = [];
  const log = { error: (_: object, text: string) => void logged.push(text) } as unknown as Log;
  const report = createDisagreementReport({ nowMs: () => nowMs, monotonicMs: () => nowMs }, log, metrics);
  const doubt = (kind: FinalityDoubt['kind'], endpoint: string): FinalityDoubt => ({
    kind,
    endpoint,
    message: `what ${endpoint} said`,
    block: { number: 1, hash: '0x1', timestampMs: 0 },
  });
  for (nowMs = 0; nowMs < 120_000; nowMs += 2_000) report(doubt('unconfirmed', 'one'));
  report(doubt('refuted', 'one'));
  report(doubt('refuted', 'other'));
  expect(logged).toEqual([
    'RPC endpoints do not agree (unconfirmed): what one said',
    'RPC endpoints do not agree (unconfirmed): what one said',
    'RPC endpoints do not agree (refuted): what one said',
    'RPC endpoints do not agree (refuted): what other said',
  ]);
  expect(await lines()).toContain(`${NAME}{endpoint="one",kind="unconfirmed"} 60`);
  expect(await lines()).toContain(`${NAME}{endpoint="other",kind="refuted"} 1`);
});
