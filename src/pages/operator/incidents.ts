import { providerCatalog } from '../../payment/provider-catalog.ts';
import { LATE_SCAN_MS } from '../../settlement/chain/chain.ts';
import { counts } from '../../web/signed-in/format.ts';
import type { OperatorContext } from './operator-page.ts';
import { readProviders } from './providers-page.ts';
import * as settlement from './settlement-page.ts';

const BATCHES_READ = 200;
/** Maximum age of failed events that count as incidents. */
const WEBHOOK_ALERT_MS = 24 * 3_600_000;
const WEBHOOKS_READ = 500;

export interface Incident {
  /** Severity. `bad` is an outage: customers cannot pay, or merchants receive nothing. */
  readonly tone: 'bad' | 'warn';
  readonly text: string;
  readonly sinceMs: number | null;
  /** Link to the console section where the operator can act; its path is relative to the console. */
  readonly link: Link;
}

type Link = readonly [label: string, path: string];
const links = {
  rpc: ['RPC endpoints', '/settlement#endpoints'],
  waiting: ['Payments', '/settlement#waiting'],
} as const;

type Facts = Awaited<ReturnType<typeof readFacts>>;
export type Situation = Facts & Readonly<{ incidents: readonly Incident[] }>;

export async function readSituation(context: OperatorContext): Promise<Situation> {
  const facts = await readFacts(context);
  return { ...facts, incidents: incidentsOf(facts, context.nowMs()) };
}

async function readFacts(context: OperatorContext) {
  const { search, observations, relay, chain, nowMs } = context;
  const [waiting, batches, providers, relayers, cursor, webhooks] = await Promise.all([
    settlement.readWaiting(context),
    relay.listOpenBatches(BATCHES_READ),
    readProviders(context),
    settlement.readRelayers(context),
    observations.readCursor(),
    search.listFailingWebhooks(null, WEBHOOKS_READ),
  ]);
  const inFlight = batches.flatMap(({ attempts: [first], paymentIds }) =>
    paymentIds.map(() => first?.signedAtMs),
  );
  const due = waiting.flatMap(({ forwardStatus, releaseDueAtMs }) =>
    forwardStatus === 'manual_required' ? [] : releaseDueAtMs,
  );
  return {
    manual: waiting.filter(({ forwardStatus }) => forwardStatus === 'manual_required').length,
    /** Times since which the overdue releases have been due or in flight. */
    overdue: [...due, ...inFlight].filter((atMs) => settlement.isOverdue(atMs, nowMs())),
    providers,
    relayers,
    endpoints: chain.listEndpoints(),
    cursor,
    failed: webhooks.filter(({ finishedAtMs }) => nowMs() - finishedAtMs < WEBHOOK_ALERT_MS),
  };
}

/** Lists one incident per cause, outages first. Omits consequences of a dead endpoint or an empty relayer. */
function incidentsOf(facts: Facts, nowMs: number): readonly Incident[] {
  const { manual, providers, relayers, cursor, failed, endpoints } = facts;
  const unwell = endpoints.filter((endpoint) => !settlement.isWell(endpoint));
  const isBehind = cursor !== null && nowMs - cursor.timestampMs > LATE_SCAN_MS;
  const isUnreachable = relayers.some(({ balanceWei }) => balanceWei === null);
  const isLow = relayers.some((relayer) => relayer.isLow);
  const paused = providers.filter(({ health }) => health?.isCircuitOpen === true);
  const isClosed = providers.every((one) => one.state !== 'offered' || paused.includes(one));
  const isDown = isBehind || isUnreachable;
  // Keeps releases that became overdue before the chain was lost, which have another cause.
  const overdue = facts.overdue.filter(
    (atMs) => !isDown || settlement.isOverdue(atMs, cursor?.timestampMs ?? 0),
  );
  const late = `${countOf(overdue.length, 'release')} overdue`;

  const found: Incident[] = [];
  const raise = (
    tone: Incident['tone'],
    text: string,
    link: Link,
    times: readonly (number | null | undefined)[] = [],
  ) => {
    const known = times.filter((atMs) => typeof atMs === 'number');
    found.push({ tone, text, link, sinceMs: known.length === 0 ? null : Math.min(...known) });
  };
  if (isDown) {
    const text = isBehind ? 'Payments are not being detected' : 'No RPC endpoint answers';
    const isOfRpc = unwell.length > 0 || isUnreachable;
    raise('bad', text, isOfRpc ? links.rpc : ['Settlement', '/settlement'], [cursor?.timestampMs]);
  } else if (unwell.length > 0) {
    const which = `${unwell.length} of ${countOf(endpoints.length, 'RPC endpoint')}`;
    raise('warn', `${which} failing, slow, behind, or in disagreement`, links.rpc);
  }
  const signerFailure = relayers.find((relayer) => relayer.signerFailure !== null)?.signerFailure;
  if (signerFailure !== undefined)
    raise('bad', `Releases wait, because ${signerFailure}`, ['Relayers', '/settlement#relayers'], overdue);
  if (isLow) {
    const effect = overdue.length > 0 ? `: ${late}` : ', without which releases stop';
    raise('bad', `A relayer is low on POL${effect}`, ['Relayers', '/settlement#relayers'], overdue);
  } else if (overdue.length > 0 && signerFailure === undefined) raise('bad', late, links.waiting, overdue);
  if (paused.length > 0) {
    const names = paused.map(({ id }) => providerCatalog[id].name).join(', ');
    const text = isClosed
      ? 'Customers cannot pay: all providers are paused'
      : `Paused after failures: ${names}`;
    raise(
      isClosed ? 'bad' : 'warn',
      text,
      ['Providers', '/providers'],
      paused.map(({ health }) => health?.lastAnswerAtMs),
    );
  }
  if (manual > 0) raise('warn', `${countOf(manual, 'payment')} waiting for your decision`, links.waiting);
  if (failed.length > 0) {
    const text = `${failed.length === WEBHOOKS_READ ? 'At least ' : ''}${countOf(failed.length, 'webhook')} undelivered`;
    raise(
      'warn',
      text,
      ['Webhooks', '/webhooks'],
      failed.map(({ finishedAtMs }) => finishedAtMs),
    );
  }
  return found.sort((one, other) => Number(other.tone === 'bad') - Number(one.tone === 'bad'));
}

function countOf(count: number, noun: string): string {
  return `${counts.format(count)} ${noun}${count === 1 ? '' : 's'}`;
}
