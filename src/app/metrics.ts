import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { createRequestDurations } from './request-durations.ts';

/** What is counted; names begin with `card_checkout_`. */
export interface Metrics {
  readonly registry: Registry;
  observeRequest(route: string, method: string, status: number, durationMs: number): void;
  readonly scannedBlock: Gauge;
  readonly latestBlock: Gauge;
  readonly chainRewinds: Counter;
  readonly endpointDisagreements: Counter<'kind'>;
  readonly missedLogs: Counter;
  readonly unexplainedBalances: Counter;
  readonly relayPasses: Counter<'result'>;
  readonly relayIncidents: Counter<'kind'>;
  readonly webhooks: Counter<'outcome'>;
  readonly providerNotices: Counter<'provider' | 'outcome'>;
  readonly providerCalls: Counter<'provider' | 'outcome'>;
  readonly providersResting: Gauge<'provider'>;
  readonly taskFailures: Counter<'task'>;
  readonly relayerBalancePol: Gauge;
  readonly relayerLowBalancePol: Gauge;
}

/** What the providers do and tell. */
function createProviderMetrics(
  registers: Registry[],
): Pick<Metrics, 'providerNotices' | 'providerCalls' | 'providersResting'> {
  return {
    providerNotices: new Counter({
      name: 'card_checkout_provider_notices_total',
      help: 'Notices of the providers, by what became of them.',
      labelNames: ['provider', 'outcome'],
      registers,
    }),
    providerCalls: new Counter({
      name: 'card_checkout_provider_calls_total',
      help: 'Quotes and sessions asked of the providers, by how they ended.',
      labelNames: ['provider', 'outcome'],
      registers,
    }),
    providersResting: new Gauge({
      name: 'card_checkout_provider_resting',
      help: 'Whether a provider that kept failing is left alone (1) or not (0).',
      labelNames: ['provider'],
      registers,
    }),
  };
}

/** Each kind is there from the start, so that the first disagreement is an increase. */
function createDisagreementCounter(registers: Registry[]): Counter<'kind'> {
  const disagreements = new Counter({
    name: 'card_checkout_endpoint_disagreements_total',
    help: 'How often RPC endpoints contradicted or could not confirm each other, by how.',
    labelNames: ['kind'],
    registers,
  });
  for (const kind of ['hash', 'refuted', 'disputed', 'unconfirmed']) disagreements.inc({ kind }, 0);
  return disagreements;
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
    scannedBlock: gauge('card_checkout_scanned_block', 'Newest final block scanned.'),
    latestBlock: gauge('card_checkout_latest_block', 'Newest block of the chain.'),
    chainRewinds: counter(
      'card_checkout_chain_rewinds_total',
      'How often the chain lost blocks that it had called final.',
    ),
    endpointDisagreements: createDisagreementCounter(registers),
    missedLogs: counter(
      'card_checkout_missed_logs_total',
      'Events that a first scan of final blocks had missed.',
    ),
    unexplainedBalances: counter(
      'card_checkout_unexplained_balances_total',
      'Open payments whose address held another amount than the ledger knew of.',
    ),
    relayPasses: new Counter({
      name: 'card_checkout_relay_passes_total',
      help: 'Passes of the sender, by what they did.',
      labelNames: ['result'],
      registers,
    }),
    relayIncidents: new Counter({
      name: 'card_checkout_relay_incidents_total',
      help: 'What went otherwise than it should with releases, by what it was.',
      labelNames: ['kind'],
      registers,
    }),
    webhooks: new Counter({
      name: 'card_checkout_webhooks_total',
      help: 'Webhooks by the outcome of their one attempt.',
      labelNames: ['outcome'],
      registers,
    }),
    ...createProviderMetrics(registers),
    taskFailures: new Counter({
      name: 'card_checkout_task_failures_total',
      help: 'Steps of the worker that failed and are tried again.',
      labelNames: ['task'],
      registers,
    }),
    relayerBalancePol: gauge('card_checkout_relayer_balance_pol', 'Gas money of the relayer in POL.'),
    relayerLowBalancePol: gauge(
      'card_checkout_relayer_low_balance_pol',
      'The relayer needs gas money below this: three full batches at the present fees, in POL.',
    ),
  };
}
