import { describe, expect, it } from 'vitest';
import { type ProviderId, providerIds } from '../../src/payment/provider-catalog.ts';
import type { ProviderValues } from '../../src/providers/adapters/define-provider.ts';
import { providerDescriptions } from '../../src/providers/adapters/providers.ts';
import { type CheckedStep, checkProvider, type TrialRequest } from '../../src/providers/prove-provider.ts';
import { serveJson } from './serve-json.ts';
import { behindBreaker, openFromCheckout, someSession, useStage } from './stage.ts';

const stage = useStage();

const request: Omit<TrialRequest, 'provider'> = {
  amountCents: someSession.amountCents,
  currency: someSession.currency,
  usdUnitsOf: async () => someSession.usdUnits,
  country: 'US',
  customerIp: null,
  wallet: someSession.depositAddress,
  newPaymentId: () => someSession.paymentId,
  returnUrl: someSession.returnUrl,
};

function check(
  provider: ProviderId,
  {
    country = 'US',
    ...adapterOptions
  }: { values?: ProviderValues; country?: string | null; timeoutMs?: number } = {},
): Promise<readonly CheckedStep[]> {
  return checkProvider({ ...request, provider, country }, stage.adapterOf(provider, adapterOptions), []);
}

const wordsOf = (steps: readonly CheckedStep[], step: CheckedStep['step']) =>
  steps.find((each) => each.step === step);

it.each(providerIds)('everything is fine at a simulated %s, and nothing is paid', async (provider) => {
  const steps = await check(provider);
  expect(steps.map(({ step, outcome }) => [step, outcome])).toEqual(
    ['credentials', 'quote', 'session', 'webhooks'].map((step) => [step, 'fine']),
  );
  const url = /do not pay: (\S+)$/.exec(wordsOf(steps, 'session')?.detail ?? '')?.[1];
  const page = await openFromCheckout(url ?? '');
  expect(page.status).toBe(200);
  expect(stage.onramps.findOrder(page.url)).toMatchObject({
    state: 'open',
    walletAddress: someSession.depositAddress,
  });
});

describe('says in words', () => {
  it('which settings are missing', async () => {
    const { requiredVariables } = providerDescriptions.coinbase;
    expect(await checkProvider({ ...request, provider: 'coinbase' }, undefined, requiredVariables)).toEqual([
      {
        step: 'credentials',
        outcome: 'failed',
        detail: 'Credentials are missing: set COINBASE_API_KEY, COINBASE_API_SECRET, and restart.',
      },
    ]);
  });

  it('that the credentials are refused', async () => {
    const steps = await check('banxa', { values: { API_KEY: 'wrong' } });
    for (const step of ['quote', 'session'] as const) {
      expect(wordsOf(steps, step)).toMatchObject({
        outcome: 'failed',
        detail: 'It rejected the credentials, or the IP address of this server: banxa answered 401 .',
      });
    }
  });

  it('that the request was declined', async () => {
    const steps = await check('banxa', { values: { BLOCKCHAIN: 'POLYGON' } });
    expect(wordsOf(steps, 'quote')?.detail).toMatch(/^It declined the request: banxa answered 422/);
  });

  it('that the provider is down, or too slow', async () => {
    stage.onramps.setFault('wert', 'down');
    expect(wordsOf(await check('wert'), 'session')).toEqual({
      step: 'session',
      outcome: 'failed',
      detail: 'The call failed: the provider answered 503.',
    });
    stage.onramps.setFault('wert', 'slow');
    expect(wordsOf(await check('wert', { timeoutMs: 300 }), 'quote')?.detail).toBe(
      'It did not respond in time.',
    );
    stage.onramps.setFault('wert', 'up');
  });

  it('that the answer has another form, or a price that cannot be right', async () => {
    let body: unknown = { quote: 'new form' };
    const server = await serveJson(() => ({ body }));
    const values = { BASE_URL: server.url };
    expect(wordsOf(await check('moonpay', { values }), 'quote')?.detail).toMatch(
      /^The response has an unknown format: quoteCurrencyAmount is not an amount/,
    );
    body = { quoteCurrencyAmount: 1 };
    expect(wordsOf(await check('moonpay', { values }), 'quote')?.detail).toBe(
      'It quotes 1.000000 USDC for 100.00 EUR, which is implausible.',
    );
    body = '<html></html>';
    expect(wordsOf(await check('moonpay', { values }), 'quote')?.detail).toMatch(/not JSON/);
  });

  it('that a currency is not taken, and that a country has to be named', async () => {
    const adapter = stage.adapterOf('stripe');
    const steps = await checkProvider({ ...request, provider: 'stripe', currency: 'INR' }, adapter, []);
    expect(wordsOf(steps, 'quote')?.detail).toBe('Stripe does not take payments in INR.');
    expect(wordsOf(await check('revolut', { country: null }), 'session')?.detail).toContain('--country');
  });
});

it('asks also while the provider is left alone, and leaves its health as it was', async () => {
  const adapter = behindBreaker(stage.adapterOf('wert'));
  stage.onramps.setFault('wert', 'down');
  for (let count = 0; count < 5; count++)
    await adapter.startSession({ ...someSession, paymentId: `${count}` }).catch(() => undefined);
  stage.onramps.setFault('wert', 'up');
  const health = {
    isCircuitOpen: true,
    failuresInARow: 5,
    lastAnswerAtMs: null,
    lastFailureAtMs: 1_000,
    lastFailure: 'the provider answered 503',
  };
  expect(adapter.health?.()).toEqual(health);
  const steps = await checkProvider({ ...request, provider: 'wert', country: null }, adapter, []);
  expect(steps.every(({ outcome }) => outcome === 'fine')).toBe(true);
  expect(adapter.health?.()).toEqual(health);
});
