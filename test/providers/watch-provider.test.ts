import { beforeEach, describe, expect, it } from 'vitest';
import { createPaymentIdGenerator } from '../../src/payment/payment-id.ts';
import { type ProviderId, providerIds } from '../../src/payment/provider-catalog.ts';
import type { ProviderAdapter, RecordedAnswer } from '../../src/providers/provider.ts';
import { createEvidenceFiles, type EvidenceStore } from '../../src/providers/provider-evidence.ts';
import { watchProvider } from '../../src/providers/watch-provider.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { servePassThrough } from './serve-json.ts';
import { someSession, useStage } from './stage.ts';

const stage = useStage();

let store: EvidenceStore;
let nowMs: number;
beforeEach(async () => {
  store = createEvidenceFiles(temporaryFolder());
  nowMs = 1_000;
});

/** One run an hour later. */
async function watch(
  provider: ProviderId,
  adapter: ProviderAdapter = stage.adapterOf(provider),
  amountCents = someSession.amountCents,
) {
  nowMs += 3_600_000;
  const request = {
    provider,
    adapter,
    amountCents,
    currency: someSession.currency,
    country: 'US',
    customerIp: null,
    wallet: someSession.depositAddress,
    newPaymentId: createPaymentIdGenerator(Date.now),
    usdUnitsOf: async (cents: number) => BigInt(cents) * 10_900n,
    returnUrl: someSession.returnUrl,
    nowMs: () => nowMs,
    pause: async () => {},
  };
  return (await watchProvider(request, store)).drift;
}

/** MoonPay's simulator, with its answers changed on the way. */
function moonpayWith(change: (body: Record<string, unknown>) => unknown): ProviderAdapter {
  const adapter = stage.adapterOf('moonpay');
  return {
    ...adapter,
    async recordAnswers(answers, work) {
      const own: RecordedAnswer[] = [];
      const result = await adapter.recordAnswers?.(own, work);
      const isQuote = ({ path, status }: RecordedAnswer) => status === 200 && path.endsWith('quote');
      const changed = own.map((answer) =>
        isQuote(answer) ? { ...answer, body: change(answer.body as Record<string, unknown>) } : answer,
      );
      answers.push(...changed);
      return result as Awaited<ReturnType<typeof work>>;
    },
  };
}

describe('a watch', () => {
  it.each(providerIds)('of %s finds no difference in other values, and starts no session', async (id) => {
    const startSession = () => Promise.reject(new Error('a session'));
    const adapter = { ...stage.adapterOf(id), startSession };
    expect(await watch(id, adapter)).toBeNull();
    expect(await watch(id, adapter, someSession.amountCents + 1_100)).toBeNull();
  });

  it.each<[string, (body: Record<string, unknown>) => unknown]>([
    ['a further field', (body) => ({ ...body, added: { deep: [1] } })],
    ['null in place of a value', (body) => ({ ...body, quoteCurrencyAmount: null })],
  ])('finds no difference in %s', async (_, change) => {
    await watch('moonpay');
    expect(await watch('moonpay', moonpayWith(change))).toBeNull();
  });

  it('finds a field that is missing or of another type, and keeps since when until it is gone', async () => {
    await watch('moonpay');
    const missing = moonpayWith(({ quoteCurrencyAmount, ...body }) => ({
      ...body,
      amount: quoteCurrencyAmount,
    }));
    const first = await watch('moonpay', missing);
    const sinceMs = nowMs;
    expect(first?.text).toMatch(/^MoonPay answers otherwise at \/\S+quote: quoteCurrencyAmount is missing$/);
    expect(first?.sinceMs).toBe(sinceMs);
    const texts = moonpayWith((body) => ({
      ...body,
      quoteCurrencyAmount: String(body['quoteCurrencyAmount']),
    }));
    expect(await watch('moonpay', texts)).toEqual({
      text: expect.stringMatching(/: quoteCurrencyAmount is string, was number$/),
      sinceMs,
    });
    expect(await watch('moonpay')).toBeNull();
    expect((await watch('moonpay', missing))?.sinceMs).toBe(nowMs);
  });

  it('finds a path that answers 404 with a page, and names it', async () => {
    const gone = await servePassThrough(stage.onramps.baseUrl, (request) =>
      request.includes('quote') ? { status: 404, body: '<h1>Not found</h1>' } : null,
    );
    const BASE_URL = (stage.valuesOf('stripe')['BASE_URL'] ?? '').replace(stage.onramps.baseUrl, gone.url);
    await watch('stripe');
    expect(await watch('stripe', stage.adapterOf('stripe', { values: { BASE_URL } }))).toEqual({
      text: expect.stringMatching(/^Stripe answers 404 at \/\S*\/v1\/crypto\/onramp\S*quotes$/),
      sinceMs: nowMs,
    });
  });

  it('finds a provider that does not answer, and does not take that for its shape', async () => {
    await watch('moonpay');
    const dead = stage.adapterOf('moonpay', { values: { BASE_URL: 'http://127.0.0.1:1' } });
    expect((await watch('moonpay', dead))?.text).toMatch(/^MoonPay fails: .*[^.]$/);
    expect(await watch('moonpay')).toBeNull();
  });
});
