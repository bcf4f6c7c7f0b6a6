import { Agent, request } from 'undici';
import { createPaymentIdGenerator } from '../../../src/domain/payment-id.ts';
import type { CreatedPayment } from '../../support/e2e-service.ts';
import type { Merchant, Stage } from './stage.ts';

/**
 * Whoever asks must not learn from the time an answer takes whether an id exists. What is measured is a ratio: of the
 * times of two kinds of requests sent in turn, so that whatever else the machine does meets both alike, and of their
 * medians, which the few slow ones do not move.
 *
 * The bound is 4 %: a foreign row that was read and judged before its account was looked at took 4.4 and 4.9 % longer,
 * two equal kinds at most 1.6 %, on a machine that was busy beside it. A third kind that is the second once more says
 * what the machine itself makes of no difference at all: where that is more than 2 %, nothing can be said. So it is
 * measured up to three times; it takes two that are apart to be a violation, and one that is alike to be none.
 */
const HIGHEST_RATIO = 1.04;
const HIGHEST_NOISE = 1.02;
const ATTEMPTS = 3;
const ROUNDS = 4_000;
const WARM_UP_ROUNDS = 300;
const FOREIGN_PAYMENTS = 50;

/** Times in milliseconds. `again` was asked exactly as `unknown` was. */
export interface TimingSamples {
  readonly unknown: readonly number[];
  readonly again: readonly number[];
  readonly foreign: readonly number[];
}

type TimingVerdict = 'alike' | 'apart' | 'too noisy';

/** What the samples say; both ratios are at least 1. */
export function judgeTiming({ unknown, again, foreign }: TimingSamples): {
  readonly verdict: TimingVerdict;
  readonly ratio: number;
  readonly noise: number;
} {
  const noise = ratioOf(median(unknown), median(again));
  const ratio = ratioOf(median(unknown), median(foreign));
  const verdict = noise > HIGHEST_NOISE ? 'too noisy' : ratio > HIGHEST_RATIO ? 'apart' : 'alike';
  return { verdict, ratio, noise };
}

function ratioOf(first: number, second: number): number {
  return Math.max(first, second) / Math.min(first, second);
}

function median(samples: readonly number[]): number {
  const sorted = [...samples].sort((one, other) => one - other);
  const middle = sorted[Math.floor(sorted.length / 2)];
  if (middle === undefined) throw new RangeError('a median needs samples');
  return middle;
}

type Query = (round: number) => string;

/** Compares ids that never were with ids of others, and tokens that nobody made for the one and for the other. */
export async function measureTiming(
  stage: Stage,
  asking: Merchant,
  engine: string,
  log: (line: string) => void,
): Promise<void> {
  const owner = await stage.addMerchant('Timed shop');
  const payments: CreatedPayment[] = [];
  while (payments.length < FOREIGN_PAYMENTS) payments.push(await stage.create(owner));
  const ids = payments.map(({ payment_id: id }) => id);
  const newId = createPaymentIdGenerator(() => Date.now());
  const unknownIds = ids.map(() => newId());
  const [form = ''] = payments.map(({ ipn_token: token }) => token);
  const nth = (list: readonly string[], round: number) => list[round % list.length] as string;
  const tokenOf = (id: string) => `${form.slice(0, 10)}${id.replaceAll('-', '')}${form.slice(42)}`;
  // The last token is good for the first payment, so the others are asked for.
  const others = ids.slice(1);
  const pairs: [string, Query, Query][] = [
    [
      'payment_id',
      (round) => `payment_id=${nth(unknownIds, round)}`,
      (round) => `payment_id=${nth(ids, round)}`,
    ],
    [
      'ipn_token with a wrong end',
      (round) => `ipn_token=${tokenOf(nth(unknownIds, round))}`,
      (round) => `ipn_token=${tokenOf(nth(others, round))}`,
    ],
  ];
  for (const [what, unknown, foreign] of pairs) {
    const verdicts: TimingVerdict[] = [];
    while (verdicts.length < ATTEMPTS && !verdicts.includes('alike')) {
      const samples = await sample(stage.url, asking.apiKey, { unknown, again: unknown, foreign });
      const { verdict, ratio, noise } = judgeTiming(samples);
      verdicts.push(verdict);
      log(
        `${what} on ${engine}: foreign to unknown ${ratio.toFixed(3)}, unknown to itself ${noise.toFixed(3)}`,
      );
    }
    const isApart =
      !verdicts.includes('alike') && verdicts.filter((verdict) => verdict === 'apart').length > 1;
    if (isApart || verdicts.includes('alike')) {
      stage.tally.expect('timing', !isApart, () => `${what} on ${engine}`);
    } else stage.tally.leaveOut('timing', `the machine is too noisy (${what}, ${engine})`);
  }
}

async function sample(
  url: string,
  apiKey: string,
  queries: Readonly<Record<keyof TimingSamples, Query>>,
): Promise<TimingSamples> {
  const agent = new Agent({ connections: 1, pipelining: 1, allowH2: false });
  const samples = { unknown: [] as number[], again: [] as number[], foreign: [] as number[] };
  const kinds = Object.keys(samples) as (keyof TimingSamples)[];
  try {
    for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round++) {
      // In another order each time, or each kind would always follow the same one.
      for (let place = 0; place < kinds.length; place++) {
        const kind =
          kinds[(round + (round % 2 === 0 ? place : kinds.length - place)) % kinds.length] ?? 'unknown';
        const startedMs = performance.now();
        const answer = await request(`${url}/api/v1/payment-status?${queries[kind](round)}`, {
          dispatcher: agent,
          headers: { 'x-api-key': apiKey },
        });
        await answer.body.dump();
        const tookMs = performance.now() - startedMs;
        if (answer.statusCode !== 404) throw new Error(`${kind} answered ${answer.statusCode}`);
        if (round >= WARM_UP_ROUNDS) samples[kind].push(tookMs);
      }
    }
  } finally {
    await agent.close();
  }
  return samples;
}
