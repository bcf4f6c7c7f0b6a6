/** Bad neighbors: receivers of webhooks and callers of the API that would take everything if they were let. */

import type { PartOptions, PromiseResult } from '../part.ts';
import { misbehaviors } from './bad-receivers.ts';
import { type DeliveryFindings, type Neighborhood, watchDeliveries } from './deliveries.ts';
import { type CallerFindings, type Callers, watchCallers } from './http-neighbors.ts';

interface Extent {
  readonly longestLatencyMs: number;
  readonly neighborhoods: readonly Neighborhood[];
  readonly callers: Callers;
}

const toTheEnd = { kinds: misbehaviors, isWatchedToTheEnd: true };

/** In the first a bad shop has as many receivers as it has webhooks, in the second more webhooks than there are places. */
const LONG: Extent = {
  longestLatencyMs: 2_000,
  neighborhoods: [
    { hosts: 500, webhooksPerHost: 1, extraForOne: 0, healthy: 40, ...toTheEnd },
    { hosts: 500, webhooksPerHost: 5, extraForOne: 300, healthy: 40, ...toTheEnd },
  ],
  callers: { idle: 10_000, dripping: 200, oversized: 10, healthy: 500, isWatchedToTheEnd: true },
};
/**
 * More webhooks than there are places, to few hosts, most of which cost nothing to let hang. It runs with all other
 * tests on whatever machine there is, so it only asks whether anybody waited for a bad neighbor, who takes ten seconds.
 */
const SHORT: Extent = {
  longestLatencyMs: 9_500,
  neighborhoods: [
    {
      hosts: 30,
      webhooksPerHost: 70,
      extraForOne: 50,
      healthy: 3,
      kinds: ['no handshake', 'no handshake', 'no handshake', 'endless body', 'no handshake', 'no answer'],
      isWatchedToTheEnd: false,
    },
  ],
  callers: { idle: 300, dripping: 0, oversized: 1, healthy: 50, isWatchedToTheEnd: false },
};

/** Ten seconds, and what a busy machine is late with its timers. */
const LONGEST_DELIVERY_MS = 13_000;
/** Half of the 2,000 places of a process, and the 100 of a host. */
const MOST_OPEN = 1_000;
const MOST_OPEN_TO_ONE = 100;
/** 1,000 open TLS connections at 100 KiB, and as much again that V8 takes while it is busy. */
const MOST_GROWN_MIB = 200;

/** The nearest-rank 99th percentile. */
export function p99Of(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.ceil(sorted.length * 0.99) - 1] ?? Number.POSITIVE_INFINITY;
}

/** Runs them all; `seed` is not used, because nothing here is drawn. */
export async function runNeighbors(options: PartOptions): Promise<PromiseResult[]> {
  const { neighborhoods, callers, longestLatencyMs } = options.long ? LONG : SHORT;
  const rows: PromiseResult[] = [];
  for (const neighborhood of neighborhoods) {
    const findings = await watchDeliveries(neighborhood);
    rows.push(...deliveryRows(neighborhood, findings, longestLatencyMs, options.log));
  }
  rows.push(...callerRows(callers, await watchCallers(callers), longestLatencyMs, options.log));
  return rows;
}

export function deliveryRows(
  { hosts, webhooksPerHost, extraForOne, isWatchedToTheEnd }: Neighborhood,
  { latenciesMs, bad, requests, most, grownMib }: DeliveryFindings,
  longestLatencyMs: number,
  log: (line: string) => void,
): PromiseResult[] {
  const webhooks = hosts * webhooksPerHost + extraForOne;
  const beside = `beside ${webhooks} to ${hosts} bad receivers of another account`;
  const p99Ms = p99Of(latenciesMs);
  const late = latenciesMs.filter((latencyMs) => latencyMs > longestLatencyMs).length;
  log(
    `${beside}: p99 of a healthy delivery ${Math.round(p99Ms)} ms; at most ${most.open} open, ${most.openToOne} to one host; +${grownMib?.toFixed(0) ?? '?'} MiB`,
  );
  log(`their outcomes: ${outcomesOf(bad)}`);
  const isOver = (status: string) => status !== 'pending' && status !== 'sending';
  const overlong = bad.filter(({ durationMs }) => (durationMs ?? 0) > LONGEST_DELIVERY_MS);
  const repeated = [...requests.values()].filter((times) => times > 1);
  const endings = {
    promise: `Deliveries to bad receivers end within 10 s, each with one request,  ${beside}`,
    cases: webhooks,
    violations:
      overlong.length + repeated.length + webhooks - bad.filter(({ status }) => isOver(status)).length,
  };
  return [
    {
      promise: `A healthy webhook arrives within ${longestLatencyMs / 1000} s (p99), ${beside}`,
      cases: latenciesMs.length,
      violations: p99Ms <= longestLatencyMs ? 0 : late,
    },
    ...(isWatchedToTheEnd ? [endings] : []),
    {
      promise: `One account uses at most 1,000 delivery slots, and one host at most 100,  ${beside}`,
      cases: 2,
      violations: Number(most.open > MOST_OPEN) + Number(most.openToOne > MOST_OPEN_TO_ONE),
    },
    {
      promise: `Bad receivers cost at most ${MOST_GROWN_MIB} MiB of memory,  ${beside}`,
      cases: grownMib === null ? 0 : 1,
      violations: Number((grownMib ?? 0) > MOST_GROWN_MIB),
      ...(grownMib === null ? { unchecked: 'this system has no /proc' } : {}),
    },
  ];
}

function outcomesOf(bad: DeliveryFindings['bad']): string {
  const counts = new Map<string, number>();
  for (const { status, reason } of bad) {
    const outcome = `${status} ${reason ?? ''}`.trim();
    counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  }
  return [...counts].map(([outcome, times]) => `${outcome} ${times}`).join(', ');
}

function callerRows(
  callers: Callers,
  findings: CallerFindings,
  longestLatencyMs: number,
  log: (line: string) => void,
): PromiseResult[] {
  const p99Ms = p99Of(findings.latenciesMs);
  log(`creates beside ${findings.idleOpened} idle connections: p99 ${Math.round(p99Ms)} ms`);
  for (const wrong of findings.oversizedWrong) log(wrong);
  const late = findings.latenciesMs.filter((latencyMs) => latencyMs > longestLatencyMs).length;
  const closings = [
    {
      promise: 'Idle connections are closed in time, with a 408 error',
      cases: findings.idleOpened,
      violations: findings.idleWrong,
    },
    {
      promise: 'Slow headers and bodies are cut off in time, with a 408 error',
      cases: callers.dripping,
      violations: findings.drippingWrong,
    },
  ];
  return [
    {
      promise: `Creates take at most ${longestLatencyMs / 1000} s (p99) beside ${callers.idle} idle and ${callers.dripping} slow connections`,
      cases: findings.latenciesMs.length,
      violations: findings.healthyFailed + (p99Ms <= longestLatencyMs ? 0 : late),
    },
    ...(callers.isWatchedToTheEnd ? closings : []),
    {
      promise: 'Oversized headers, URLs, bodies, chunks and trailers get an error with the right status',
      cases: findings.oversizedCases,
      violations: findings.oversizedWrong.length,
    },
  ];
}
