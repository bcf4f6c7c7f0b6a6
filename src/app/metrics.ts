import { Counter, collectDefaultMetrics, Gauge, type Metric, Registry } from 'prom-client';

/** The service's metrics; names begin with `card_checkout_`. */
export interface Metrics {
  readonly registry: Registry;
  observeRequest(route: string, method: string, status: number, durationMs: number): void;
  readonly scannedBlock: Gauge;
  readonly latestBlock: Gauge;
  readonly chainRewinds: Counter;
  readonly endpointDisagreements: Counter<'kind' | 'endpoint'>;
  readonly endpointCalls: Counter<'endpoint' | 'outcome'>;
  readonly endpointLag: Gauge<'endpoint'>;
  /** Begins the counters of these endpoints at zero, so that the first count is an increase. */
  beginEndpoints(labels: readonly string[]): void;
  readonly missedLogs: Counter;
  readonly unexplainedBalances: Counter;
  readonly relayPasses: Counter<'result'>;
  readonly relayIncidents: Counter<'kind'>;
  readonly webhooks: Counter<'outcome'>;
  readonly providerWebhooks: Counter<'provider' | 'outcome'>;
  readonly providerCalls: Counter<'provider' | 'outcome'>;
  readonly providerCircuitOpen: Gauge<'provider'>;
  readonly taskFailures: Counter<'task'>;
  readonly relayerBalancePol: Gauge<'relayer'>;
  readonly relayerLowBalancePol: Gauge<'relayer'>;
}

/** Metrics of provider calls and provider webhooks. */
function createProviderMetrics(
  registers: Registry[],
): Pick<Metrics, 'providerWebhooks' | 'providerCalls' | 'providerCircuitOpen'> {
  return {
    providerWebhooks: new Counter({
      name: 'card_checkout_provider_webhooks_total',
      help: 'Provider webhooks by outcome.',
      labelNames: ['provider', 'outcome'],
      registers,
    }),
    providerCalls: new Counter({
      name: 'card_checkout_provider_calls_total',
      help: 'Quote and session requests to providers by outcome.',
      labelNames: ['provider', 'outcome'],
      registers,
    }),
    providerCircuitOpen: new Gauge({
      name: 'card_checkout_provider_circuit_open',
      help: 'Whether the circuit breaker of a provider is open (1) or closed (0).',
      labelNames: ['provider'],
      registers,
    }),
  };
}

/** Metrics of each RPC endpoint, by its host and port. */
function createEndpointMetrics(
  registers: Registry[],
): Pick<Metrics, 'endpointDisagreements' | 'endpointCalls' | 'endpointLag' | 'beginEndpoints'> {
  const endpointDisagreements = new Counter({
    name: 'card_checkout_endpoint_disagreements_total',
    help: 'Disagreements between RPC endpoints by kind and by the endpoint that was not confirmed.',
    labelNames: ['kind', 'endpoint'],
    registers,
  });
  const endpointCalls = new Counter({
    name: 'card_checkout_endpoint_calls_total',
    help: 'JSON-RPC calls by endpoint and outcome.',
    labelNames: ['endpoint', 'outcome'],
    registers,
  });
  const endpointLag = new Gauge({
    name: 'card_checkout_endpoint_lag_blocks',
    help: 'Final blocks by which an endpoint lags behind the highest reported one.',
    labelNames: ['endpoint'],
    registers,
  });
  return {
    endpointDisagreements,
    endpointCalls,
    endpointLag,
    beginEndpoints(labels) {
      for (const endpoint of labels) {
        for (const kind of ['hash', 'refuted', 'disputed', 'unconfirmed'])
          endpointDisagreements.inc({ kind, endpoint }, 0);
        for (const outcome of ['answered', 'refused', 'slow', 'failed'])
          endpointCalls.inc({ endpoint, outcome }, 0);
      }
    },
  };
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers });
  const counter = (name: string, help: string) => new Counter({ name, help, registers });
  return {
    registry,
    observeRequest: createRequestDurations(registry),
    scannedBlock: gauge('card_checkout_scanned_block', 'Latest final block scanned.'),
    latestBlock: gauge('card_checkout_latest_block', 'Latest block of the chain.'),
    chainRewinds: counter(
      'card_checkout_chain_rewinds_total',
      'Rewinds: the chain removed blocks that it had reported as final.',
    ),
    ...createEndpointMetrics(registers),
    missedLogs: counter(
      'card_checkout_missed_logs_total',
      'Events missed by the first scan and found by the second.',
    ),
    unexplainedBalances: counter(
      'card_checkout_unexplained_balances_total',
      'Open payments whose address balance differs from the recorded deposits.',
    ),
    relayPasses: new Counter({
      name: 'card_checkout_relay_passes_total',
      help: 'Passes of the relayer by result.',
      labelNames: ['result'],
      registers,
    }),
    relayIncidents: new Counter({
      name: 'card_checkout_relay_incidents_total',
      help: 'Relay incidents by kind.',
      labelNames: ['kind'],
      registers,
    }),
    webhooks: new Counter({
      name: 'card_checkout_webhooks_total',
      help: 'Webhooks by outcome.',
      labelNames: ['outcome'],
      registers,
    }),
    ...createProviderMetrics(registers),
    taskFailures: new Counter({
      name: 'card_checkout_task_failures_total',
      help: 'Failed runs of worker tasks, which are retried.',
      labelNames: ['task'],
      registers,
    }),
    relayerBalancePol: new Gauge({
      name: 'card_checkout_relayer_balance_pol',
      help: 'Gas balance of each relayer in POL.',
      labelNames: ['relayer'],
      registers,
    }),
    relayerLowBalancePol: new Gauge({
      name: 'card_checkout_relayer_low_balance_pol',
      help: 'Low-balance mark of a relayer in POL: the cost of three full batches at current fees.',
      labelNames: ['relayer'],
      registers,
    }),
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
