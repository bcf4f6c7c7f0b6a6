import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** The service's metrics; names begin with `card_checkout_`. */
export type Metrics = ReturnType<typeof createMetrics>;

export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const gauge = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Gauge({ name, help, labelNames, registers });
  const counter = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Counter({ name, help, labelNames, registers });

  // Each RPC endpoint is labeled by its host and port.
  const endpointDisagreements = counter(
    'card_checkout_endpoint_disagreements_total',
    'Disagreements between RPC endpoints by kind and by the endpoint that was not confirmed.',
    'kind',
    'endpoint',
  );
  const endpointCalls = counter(
    'card_checkout_endpoint_calls_total',
    'JSON-RPC calls by endpoint and outcome.',
    'endpoint',
    'outcome',
  );

  return {
    registry,
    observeRequest: createRequestDurations(registry),
    scannedBlock: gauge('card_checkout_scanned_block', 'Latest final block scanned.'),
    latestBlock: gauge('card_checkout_latest_block', 'Latest block of the chain.'),
    chainRewinds: counter(
      'card_checkout_chain_rewinds_total',
      'Rewinds: the chain removed blocks that it had reported as final.',
    ),
    endpointDisagreements,
    endpointCalls,
    endpointLag: gauge(
      'card_checkout_endpoint_lag_blocks',
      'Final blocks by which an endpoint lags behind the highest reported one.',
      'endpoint',
    ),
    /** Begins the counters of these endpoints at zero, so that the first count is an increase. */
    beginEndpoints(labels: readonly string[]): void {
      for (const endpoint of labels) {
        for (const kind of ['hash', 'refuted', 'disputed', 'unconfirmed'])
          endpointDisagreements.inc({ kind, endpoint }, 0);
        for (const outcome of ['answered', 'refused', 'slow', 'failed'])
          endpointCalls.inc({ endpoint, outcome }, 0);
      }
    },
    missedLogs: counter(
      'card_checkout_missed_logs_total',
      'Events missed by the first scan and found by the second.',
    ),
    unexplainedBalances: counter(
      'card_checkout_unexplained_balances_total',
      'Open payments whose address balance differs from the recorded deposits.',
    ),
    relayPasses: counter('card_checkout_relay_passes_total', 'Passes of the relayer by result.', 'result'),
    relayIncidents: counter('card_checkout_relay_incidents_total', 'Relay incidents by kind.', 'kind'),
    webhooks: counter('card_checkout_webhooks_total', 'Webhooks by outcome.', 'outcome'),
    providerWebhooks: counter(
      'card_checkout_provider_webhooks_total',
      'Provider webhooks by outcome.',
      'provider',
      'outcome',
    ),
    providerCalls: counter(
      'card_checkout_provider_calls_total',
      'Quote and session requests to providers by outcome.',
      'provider',
      'outcome',
    ),
    providerCircuitOpen: gauge(
      'card_checkout_provider_circuit_open',
      'Whether the circuit breaker of a provider is open (1) or closed (0).',
      'provider',
    ),
    unsettledPayments: gauge(
      'card_checkout_unsettled_payments',
      'Payments with money that is not released yet, by forward status, up to 1,000 each.',
      'forward_status',
    ),
    releaseOverdueSeconds: gauge(
      'card_checkout_release_overdue_seconds',
      'Longest time for which a release is due, or its transaction under way.',
    ),
    taskFailures: counter(
      'card_checkout_task_failures_total',
      'Failed runs of worker tasks, which are retried.',
      'task',
    ),
    relayerBalancePol: gauge(
      'card_checkout_relayer_balance_pol',
      'Gas balance of each relayer in POL.',
      'relayer',
    ),
    relayerLowBalancePol: gauge(
      'card_checkout_relayer_low_balance_pol',
      'Low-balance mark of a relayer in POL: the cost of three full batches at current fees.',
      'relayer',
    ),
  };
}

/**
 * Counts answered requests by how long they took. Labels are patterns of routes, known methods and statuses of ours, so
 * the number of series has a bound.
 */
export function createRequestDurations(registry: Registry) {
  const histogram = new Histogram({
    name: 'card_checkout_request_duration_seconds',
    help: 'Request duration by route pattern, method and status.',
    labelNames: ['route', 'method', 'status'],
    buckets: [0.001, 0.005, 0.025, 0.1, 0.5, 2.5],
    registers: [registry],
  });
  return (route: string, method: string, status: number, durationMs: number): void =>
    histogram.observe({ route, method, status }, durationMs / 1000);
}
