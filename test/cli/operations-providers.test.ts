import { describe, expect, it } from 'vitest';
import { createFixedRates } from '../../sandbox/fixed-rates.ts';
import { withCircuitBreaker } from '../../src/providers/circuit-breaker.ts';
import type { ProviderAdapter } from '../../src/providers/provider.ts';
import type { ProviderEvidence, RecordedShapes } from '../../src/providers/provider-evidence.ts';
import type { SettlementRecord } from '../../src/settlement/settlement-store.ts';
import { NOW_MS } from '../store/fixtures.ts';
import { ADDRESS, type TestOperations, useOperations } from '../support/operations.ts';

type Json = Record<string, unknown>;

let { store, context, run } = {} as TestOperations;
useOperations((operations) => ({ store, context, run } = operations));

const settlement: SettlementRecord = {
  chainId: 137,
  token: ADDRESS,
  factory: ADDRESS,
  implementation: ADDRESS,
  factoryCodeHash: `0x${'0'.repeat(64)}`,
  feeWallet: ADDRESS,
  lastStartedAtMs: NOW_MS,
};

describe('providers', () => {
  it('are all listed, active only with credentials, with the default minimum', async () => {
    const listed = await run<Json[]>('provider list');
    expect(listed).toHaveLength(11);
    expect(listed[0]).toEqual({
      provider: 'moonpay',
      name: 'MoonPay',
      active: true,
      switch: 'default',
      pinned: false,
      configured: true,
      minimum_usd: '20.00',
      only_currency: null,
      means: ['card', 'apple_pay', 'google_pay'],
      resting: null,
      failures_in_a_row: null,
      last_answer_at: null,
      last_failure_at: null,
      last_failure: null,
      blocked_because: null,
      evidence: 'not proved',
      unverified: expect.arrayContaining([expect.stringContaining('usdc_polygon')]),
    });
    expect(listed.filter(({ active }) => active)).toHaveLength(1);
    expect(listed.at(-1)).toMatchObject({ provider: 'klarna', configured: false, only_currency: 'EUR' });
  });

  it('are listed with how they have behaved, and checked with the credentials, where a server runs', async () => {
    await expect(run('provider check', { provider: 'moonpay' })).rejects.toThrow('needs a running server');
    const failing = context.directory.adapters?.get('moonpay') as ProviderAdapter;
    const moonpay = withCircuitBreaker(failing, { monotonicMs: () => 0, nowMs: () => NOW_MS, openMs: 1 });
    await moonpay.quote({ amountCents: 1, currency: 'USD', usdUnits: 1n }).catch(() => undefined);
    Object.assign(context, {
      directory: { adapters: new Map([['moonpay', moonpay]]), settings: store.providers },
      rates: createFixedRates(),
    });
    const [listed] = await run<Json[]>('provider list');
    expect(listed).toMatchObject({
      resting: false,
      failures_in_a_row: 1,
      last_answer_at: null,
      last_failure_at: new Date(NOW_MS).toISOString(),
      last_failure: 'not asked here',
    });

    await expect(run('provider check', { provider: 'moonpay' })).rejects.toThrow('no fee wallet');
    await store.settlements.rememberSettlement(settlement);
    expect(await run('provider check', { provider: 'moonpay', amount: '30', country: 'DE' })).toEqual({
      provider: 'moonpay',
      amount: '30.00 USD',
      is_fine: false,
      steps: [
        { step: 'credentials', is_fine: true, detail: 'The credentials are configured.' },
        { step: 'quote', is_fine: false, detail: 'not asked here' },
        { step: 'session', is_fine: false, detail: 'not asked here' },
        { step: 'webhooks', is_fine: true, detail: expect.stringContaining('Webhooks are rejected') },
      ],
    });
    await run('provider set', { provider: 'klarna', 'minimum-usd': '100' });
    expect(await run('provider check', { provider: 'klarna' })).toMatchObject({
      amount: '110.00 EUR',
      is_fine: false,
      steps: [{ step: 'credentials', detail: expect.stringContaining('KLARNA_ROUTE') }],
    });
  });

  it.each([
    [null, { active: true, switch: 'on' }],
    [false, { active: false, switch: 'off' }],
  ])('are off in live mode, and on once proved, where the switch was %j', async (position, expected) => {
    const endpoint = { environment: 'production', urls: ['https://api.example.com'] } as const;
    const moonpay = { ...(context.directory.adapters?.get('moonpay') as ProviderAdapter), endpoint };
    const kept: ProviderEvidence[] = [
      {
        ...endpoint,
        provider: 'moonpay',
        atMs: NOW_MS,
        charge: '50.00 USD',
        country: null,
        steps: [{ step: 'session', outcome: 'fine', detail: '' }],
        confirmedAtMs: null,
        purchase: null,
      },
    ];
    Object.assign(context, {
      rates: createFixedRates(),
      directory: {
        adapters: new Map([['moonpay', moonpay]]),
        settings: store.providers,
        isOffByDefault: true,
        evidence: {
          readEvidence: async () => kept.at(-1) ?? null,
          writeEvidence: async (evidence: ProviderEvidence) => `evidence ${kept.push(evidence)}`,
        },
      },
    });
    const listed = async () => (await run<Json[]>('provider list'))[0];
    expect(await listed()).toMatchObject({
      active: false,
      switch: 'default',
      blocked_because: expect.stringMatching(/^Off, because nothing proves .*"provider set ID --active"\.$/),
    });
    if (position !== null) await store.providers.writeProviderSettings('moonpay', { active: position });
    await run('provider prove', { provider: 'moonpay', confirm: true });
    expect(await listed()).toMatchObject({
      ...expected,
      evidence: `proved on ${new Date(NOW_MS).toISOString().slice(0, 10)}`,
      blocked_because: null,
    });
  });

  it('are watched for answers of another shape, with a note for the alert, until a proof records them', async () => {
    const answer: Json = { price: 1 };
    const session = {
      redirectUrl: 'https://on.ramp/1',
      providerReference: '1',
      expiresAtMs: NOW_MS,
      quotedUnits: null,
      chargedCents: 50_00,
    };
    const klarna: ProviderAdapter = {
      id: 'klarna',
      quote: async () => ({ chargedCents: 50_00, deliveryUnits: null, minimumUsdCents: null }),
      endpoint: { environment: 'simulated', urls: ['https://api.example.com'] },
      startSession: async () => session,
      recordAnswers: (answers, work) => {
        answers.push({ method: 'GET', path: '/v1/quote', status: 200, body: { ...answer } });
        return work();
      },
    };
    const noted: unknown[] = [];
    const kept: RecordedShapes[] = [];
    const evidence = {
      writeEvidence: async () => 'a file',
      readShapes: async () => kept.at(-1) ?? null,
      writeShapes: async (_: string, shapes: RecordedShapes) => void kept.push(shapes),
    };
    Object.assign(context, {
      rates: createFixedRates(),
      directory: { adapters: new Map([['klarna', klarna]]), settings: store.providers, evidence },
      noteDrift: (...note: unknown[]) => void noted.push(note),
    });
    await store.settlements.rememberSettlement(settlement);
    const time = new Date(NOW_MS).toISOString();
    const fine = { name: 'klarna', level: 'ok', isFine: true, since: null };
    expect(await run('provider watch')).toEqual({
      checks: [{ ...fine, detail: 'its answers are recorded' }],
    });
    answer['price'] = 2;
    expect(await run('provider watch', { provider: 'klarna' })).toEqual({
      checks: [{ ...fine, detail: `it answers as on ${time}` }],
    });
    answer['price'] = '2';
    const text = 'Klarna answers otherwise at /v1/quote: price is string, was number';
    expect(await run('provider watch')).toEqual({
      checks: [
        { name: 'klarna', level: 'fail', isFine: false, since: time, detail: `${text} since ${time}` },
      ],
    });
    expect(noted).toEqual([
      ['klarna', null],
      ['klarna', null],
      ['klarna', text],
    ]);
    await run('provider prove', { provider: 'klarna' });
    expect(noted.at(-1)).toEqual(['klarna', null]);
    expect(await run('provider watch')).toMatchObject({ checks: [fine] });
    await expect(run('provider watch', { provider: 'wert' })).rejects.toThrow('Credentials are missing');
  });

  it('are switched off and on, and given another minimum', async () => {
    expect(await run('provider set', { provider: 'moonpay', inactive: true })).toMatchObject({
      active: false,
    });
    expect(await run('provider set', { provider: 'moonpay', 'minimum-usd': '7.5' })).toMatchObject({
      active: false,
      minimum_usd: '7.50',
    });
    expect(await run('provider set', { provider: 'moonpay', active: true })).toMatchObject({
      active: true,
      minimum_usd: '7.50',
    });
    for (const pinned of [true, false])
      expect(
        await run('provider set', { provider: 'moonpay', [pinned ? 'pin' : 'unpin']: true }),
      ).toMatchObject({ pinned, minimum_usd: '7.50' });
    await expect(run('provider set', { provider: 'moonpay', pin: true, unpin: true })).rejects.toThrow(
      'cannot be combined',
    );
    await expect(run('provider set', { provider: 'nobody' })).rejects.toThrow(
      /^provider must be one of moonpay/,
    );
  });
});
