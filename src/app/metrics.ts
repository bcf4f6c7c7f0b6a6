import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import packageDescription from '#package' with { type: 'json' };
import type { ProviderId } from '../payment/provider-catalog.ts';
import { callOutcomes } from '../providers/circuit-breaker.ts';
import { providerWebhookOutcomes } from '../providers/handle-provider-webhook.ts';
import { doubtKinds } from '../settlement/chain/confirm-finality.ts';
import { endpointOutcomes } from '../settlement/chain/endpoint-rotation.ts';
import { relayIncidentKinds, relayPasses } from '../settlement/relay/relay-context.ts';
import { failedSteps } from '../web/signed-in/context.ts';
import { deliveryOutcomes } from '../webhooks/delivery-types.ts';

/** Starts a counter's series at zero for these label values, so that the first count appears as an increase. */
function begin<Label extends string>(
  counts: Counter<Label>,
  label: NoInfer<Label>,
  values: readonly string[],
  otherLabels: Partial<Record<NoInfer<Label>, string>> = {},
): void {
  for (const value of values) counts.inc({ ...otherLabels, [label as string]: value }, 0);
}

export type Metrics = ReturnType<typeof createMetrics>;

export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const gauge = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Gauge({ name: `card_checkout_${name}`, help, labelNames, registers });
  const counter = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Counter({ name: `card_checkout_${name}_total`, help, labelNames, registers });

  /** Creates a counter whose series start at zero for these label values. */
  const counts = <Label extends string>(
    name: string,
    help: string,
    label: Label,
    values: readonly string[],
  ) => {
    const created = counter(name, help, label);
    begin(created, label, values);
    return created;
  };
  /** Creates a gauge that is read at each scrape. It has no series while there is no value. */
  const measured = (name: string, help: string, read: () => number | null) =>
    new Gauge({
      name: `card_checkout_${name}`,
      help,
      registers,
      collect() {
        const value = read();
        if (value === null) this.remove();
        else this.set(value);
      },
    });

  // Labels are route patterns, known methods and the service's statuses, so the number of series is bounded.
  const requestDurations = new Histogram({
    name: 'card_checkout_request_duration_seconds',
    help: 'Request duration by route pattern, method and status.',
    labelNames: ['route', 'method', 'status'],
    buckets: [0.001, 0.005, 0.025, 0.1, 0.5, 2.5],
    registers,
  });
  let scannedAtMs: number | null = null;
  measured(
    'scanned_block_age_seconds',
    'Age of the newest scanned block in the database, in every process.',
    () => (scannedAtMs === null ? null : Math.max(0, (Date.now() - scannedAtMs) / 1000)),
  );
  measured('clock_seconds', 'Wall clock of the process, in seconds since 1970.', () => Date.now() / 1000);
  gauge('build_info', 'Version of the service, with the value 1.', 'version', 'node').set(
    { version: packageDescription.version, node: process.versions.node },
    1,
  );
  const taskFailures = counter('task_failures', 'Failed runs of worker tasks, which are retried.', 'task');
  const providerWebhooks = counter(
    'provider_webhooks',
    'Provider webhooks by outcome.',
    'provider',
    'outcome',
  );
  const providerCalls = counter(
    'provider_calls',
    'Quote and session requests to providers by outcome.',
    'provider',
    'outcome',
  );
  const endpointDisagreements = counter(
    'endpoint_disagreements',
    'Disagreements between RPC endpoints by kind and by the endpoint that was not confirmed.',
    'kind',
    'endpoint',
  );
  const endpointCalls = counter(
    'endpoint_calls',
    'JSON-RPC calls by endpoint and outcome.',
    'endpoint',
    'outcome',
  );

  return {
    registry,
    observeRequest: (route: string, method: string, status: number, durationMs: number) =>
      requestDurations.observe({ route, method, status }, durationMs / 1000),
    /** @param atMs time of the newest scanned block; null before the first one */
    setScannedAt(atMs: number | null): void {
      scannedAtMs = atMs;
    },
    scannedBlock: gauge('scanned_block', 'Latest final block scanned.'),
    rescanBlocks: gauge('rescan_blocks', 'Blocks that a second scan has still to read.'),
    latestBlock: gauge('latest_block', 'Latest block of the chain.'),
    chainRewinds: counter(
      'chain_rewinds',
      'Rewinds: the chain removed blocks that it had reported as final.',
    ),
    endpointDisagreements,
    endpointCalls,
    deploymentVerified: gauge(
      'deployment_verified',
      'Whether RPC endpoints confirm the deposit factory: 0 after a start without one, until one answers.',
    ),
    endpointLag: gauge(
      'endpoint_lag_blocks',
      'Final blocks by which an endpoint lags behind the highest reported one.',
      'endpoint',
    ),
    beginEndpoints(labels: readonly string[]): void {
      for (const endpoint of labels) {
        begin(endpointDisagreements, 'kind', doubtKinds, { endpoint });
        begin(endpointCalls, 'outcome', endpointOutcomes, { endpoint });
      }
    },
    beginProviders(providers: Iterable<ProviderId>): void {
      for (const provider of providers) {
        begin(providerCalls, 'outcome', callOutcomes, { provider });
        begin(providerWebhooks, 'outcome', providerWebhookOutcomes, { provider });
      }
    },
    beginTasks(tasks: readonly { readonly name: string }[]): void {
      const names = tasks.map(({ name }) => name);
      begin(taskFailures, 'task', names);
    },
    failedSignIns: counts('failed_sign_ins', 'Wrong passwords and second factors.', 'step', failedSteps),
    missedLogs: counter('missed_logs', 'Events missed by the first scan and found by the second.'),
    unexplainedBalances: counter(
      'unexplained_balances',
      'Open payments whose address balance differs from the recorded deposits.',
    ),
    relayPasses: counts('relay_passes', 'Passes of the relayer by result.', 'result', relayPasses),
    relayIncidents: counts('relay_incidents', 'Relay incidents by kind.', 'kind', relayIncidentKinds),
    webhooksWaiting: gauge('webhooks_waiting', 'Webhooks that wait to be sent, up to 1,000 of each account.'),
    webhooks: counts('webhooks', 'Webhooks by outcome.', 'outcome', deliveryOutcomes),
    providerWebhooks,
    providerCalls,
    providerDrift: gauge(
      'provider_drift',
      'Whether provider watch last found that a provider answers otherwise than recorded (1) or not (0).',
      'provider',
    ),
    providerCircuitOpen: gauge(
      'provider_circuit_open',
      'Whether the circuit breaker of a provider is open (1) or closed (0).',
      'provider',
    ),
    unsettledPayments: gauge(
      'unsettled_payments',
      'Payments with money that is not released yet, by forward status, up to 1,000 each.',
      'forward_status',
    ),
    releaseOverdueSeconds: gauge(
      'release_overdue_seconds',
      'Longest time for which a release is due, or its transaction under way.',
    ),
    taskFailures,
    databaseBytes: gauge('database_bytes', 'Size of the database on disk; of SQLite also its log.', 'part'),
    databaseCalls: gauge('database_calls', 'Calls to PostgreSQL that run or wait for a connection.', 'state'),
    diskFreeRatio: gauge('disk_free_ratio', 'Free share of the disk with DATA_DIR.', 'folder'),
    certificateExpiry: gauge(
      'certificate_expiry_timestamp_seconds',
      'End of the certificate that BASE_URL serves, in seconds since 1970.',
      'host',
    ),
    relayerBalancePol: gauge('relayer_balance_pol', 'Gas balance of each relayer in POL.', 'relayer'),
    relayerSignerFailing: gauge(
      'relayer_signer_failing',
      'Whether the last signature of a relayer failed (1) or not (0): its releases wait.',
      'relayer',
    ),
    relayerLowBalancePol: gauge(
      'relayer_low_balance_pol',
      'Low-balance mark of a relayer in POL: the cost of three full batches at current fees.',
      'relayer',
    ),
  };
}
