import { expect, it } from 'vitest';
import { createMetrics } from './metrics.ts';

it('begins its counters at zero, so that the first count is an increase', async () => {
  const metrics = createMetrics();
  metrics.beginEndpoints(['one']);
  metrics.beginProviders(['moonpay']);
  metrics.beginTasks([{ name: 'rescan' }]);
  metrics.observeRequest('/pay/:id', 'GET', 200, 30);
  const lines = new Set((await metrics.registry.metrics()).split('\n'));
  for (const line of [
    'card_checkout_request_duration_seconds_bucket{le="0.1",route="/pay/:id",method="GET",status="200"} 1',
    'card_checkout_webhooks_total{outcome="failed"} 0',
    'card_checkout_relay_passes_total{result="abandoned"} 0',
    'card_checkout_relay_incidents_total{kind="no_op_batch"} 0',
    'card_checkout_provider_webhooks_total{provider="moonpay",outcome="refused"} 0',
    'card_checkout_provider_calls_total{provider="moonpay",outcome="failed"} 0',
    'card_checkout_endpoint_disagreements_total{endpoint="one",kind="unconfirmed"} 0',
    'card_checkout_endpoint_calls_total{endpoint="one",outcome="slow"} 0',
    'card_checkout_task_failures_total{task="rescan"} 0',
  ])
    expect(lines).toContain(line);
});
