import { expect, it } from 'vitest';
import type { AccountStatistics } from '../../reports/read-statistics.ts';
import { statisticsCard } from './statistics-cards.ts';

/** Returns statistics of a day with one paid payment of this amount, or with no payment if it is 0. */
function statisticsOf(cents: number): AccountStatistics {
  const paid = cents === 0 ? 0 : 1;
  const paidCents = new Map(cents === 0 ? [] : [['USD', cents] as const]);
  const day = {
    date: '2026-11-21',
    startMs: 0,
    endMs: 86_400_000,
    created: paid,
    converted: paid,
    paid,
    paidCents,
    receivedUnits: cents * 9_800,
    feeUnits: cents * 245,
  };
  return { days: [day], providers: [], settleTimes: [] };
}

const usd = { currency: 'USD', toBase: (_day: unknown, units: number) => units } as const;

const textOf = (
  cents: number,
  centsBefore: number,
  base: Parameters<typeof statisticsCard>[0]['base'] = usd,
) =>
  statisticsCard({
    statistics: statisticsOf(cents),
    before: statisticsOf(centsBefore),
    span: 7,
    timeZone: 'UTC',
    base,
  }).toString();

it('compares the volume with as many days before, and nothing with days without payments', () => {
  expect(textOf(15_000, 10_000)).toContain('+50% vs. previous 7 days');
  expect(textOf(5_000, 10_000)).toContain('-50% vs. previous 7 days');
  expect(textOf(15_000, 0)).not.toContain('vs. previous');
});

it('shows what was received, the fees of it and the rest, which is the merchant’s', () => {
  const text = textOf(15_000, 10_000)
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/\s+/g, ' ');
  expect(text).toContain('Net in USDC 143.33 +50% vs. previous 7 days');
  expect(text).toMatch(/Received in USDC 147\.00 \+50% .*Fees in USDC 3\.68 \+50% /);
});
