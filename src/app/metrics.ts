import { Counter, collectDefaultMetrics, Gauge, type Metric, Registry } from 'prom-client';

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

const NAME = 'card_checkout_request_duration_seconds';
/** Upper bounds, ascending; what takes longer is in the last bucket, which has none. */
const bucketsMs = [1, 5, 25, 100, 500, 2500] as const;

/** All requests with the same labels. */
interface Series {
  readonly labels: { readonly route: string; readonly method: string; readonly status: number };
  /** Requests per bucket: at most its bound and more than the one before; the last bucket has no bound. */
  readonly counts: number[];
  sumMs: number;
}

/**
 * Counts answered requests by how long they took, as a histogram in this registry. The library's own finds its labels
 * anew with every value, for 0.4 µs of each request; this looks them up.
 *
 * Labels are patterns of routes, known methods and statuses of ours, so the number of series has a bound.
 */
export function createRequestDurations(
  registry: Registry,
): (route: string, method: string, status: number, durationMs: number) => void {
  const routes = new Map<string, Map<string, Map<number, Series>>>();
  const all: Series[] = [];

  function addSeries(route: string, method: string, status: number): Series {
    const series = {
      labels: { route, method, status },
      counts: Array.from({ length: bucketsMs.length + 1 }, () => 0),
      sumMs: 0,
    };
    const methods = routes.get(route) ?? new Map<string, Map<number, Series>>();
    const statuses = methods.get(method) ?? new Map<number, Series>();
    routes.set(route, methods.set(method, statuses.set(status, series)));
    all.push(series);
    return series;
  }

  const metric = {
    name: NAME,
    help: 'Request duration by route pattern, method and status.',
    type: 'histogram',
    aggregator: 'sum',
  };
  // The registry asks this much of a metric, and its type asks for a class of the library's.
  const readable = { ...metric, get: async () => ({ ...metric, values: all.flatMap(valuesOf) }) };
  registry.registerMetric(readable as unknown as Metric);

  return (route, method, status, durationMs) => {
    const series = routes.get(route)?.get(method)?.get(status) ?? addSeries(route, method, status);
    let bucket = 0;
    while (bucket < bucketsMs.length && durationMs > (bucketsMs[bucket] as number)) bucket++;
    series.counts[bucket] = (series.counts[bucket] as number) + 1;
    series.sumMs += durationMs;
  };
}

/** As they are written out: buckets hold what is in those before as well. */
function valuesOf({ labels, counts, sumMs }: Series) {
  let count = 0;
  const buckets = counts.map((inBucket, index) => {
    const boundMs = bucketsMs[index];
    count += inBucket;
    const le = boundMs === undefined ? '+Inf' : boundMs / 1000;
    return { metricName: `${NAME}_bucket`, labels: { le, ...labels }, value: count };
  });
  return [
    ...buckets,
    { metricName: `${NAME}_sum`, labels, value: sumMs / 1000 },
    { metricName: `${NAME}_count`, labels, value: count },
  ];
}
