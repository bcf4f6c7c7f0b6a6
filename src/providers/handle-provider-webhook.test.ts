import { describe, expect, it } from 'vitest';
import { UnknownStateError } from '../payment/errors.ts';
import type { PaymentView } from '../payment/payment-store.ts';
import { handleProviderWebhook } from './handle-provider-webhook.ts';
import { type ProviderAdapter, type ProviderWebhook, ProviderWebhookRefusedError } from './provider.ts';

const paymentId = '01234567-89ab-7cde-8f01-23456789abcd';
const depositAddress = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const posted = { target: '/', headers: {}, body: Buffer.alloc(0), receivedAtMs: 5_000 };
const webhook: ProviderWebhook = {
  paymentId,
  providerReference: null,
  walletAddress: null,
  progress: 'delivering',
  atMs: 4_000,
};

/** Creates a payment with two MoonPay sessions and a later Wert session, and records the progress noted for them. */
function stage(read: () => Promise<ProviderWebhook | null>, isNews = true) {
  const noted: unknown[] = [];
  const sessions = [
    { id: 'first', provider: 'moonpay', providerReference: 'one' },
    { id: 'second', provider: 'moonpay', providerReference: 'two' },
    { id: 'elsewhere', provider: 'wert', providerReference: 'three' },
  ];
  const view = { payment: { id: paymentId, depositAddress }, sessions } as unknown as PaymentView;
  const context = {
    usdc: '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359',
    adapters: new Map([
      ['moonpay' as const, { id: 'moonpay', readWebhook: read } as unknown as ProviderAdapter],
    ]),
    payments: {
      viewPayment: async (id: unknown) => (id === paymentId ? view : null),
      recordSessionProgress: async (_payment: unknown, ...news: unknown[]) => {
        noted.push(news);
        return isNews;
      },
    },
  };
  return { context, noted };
}

async function outcomeOf(read: () => Promise<ProviderWebhook | null>, isNews = true) {
  const { context, noted } = stage(read, isNews);
  const { outcome } = await handleProviderWebhook(context, 'moonpay', posted);
  return { outcome, noted };
}

describe('a webhook', () => {
  it('names bridged USDC, and the way to rescue it', async () => {
    const tokenContract = '0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174';
    const { context } = stage(async () => ({ ...webhook, tokenContract }));
    const { outcome, reason } = await handleProviderWebhook(context, 'moonpay', posted);
    expect(outcome).toBe('noted');
    expect(reason?.message).toContain('delivers bridged USDC (USDC.e');
    expect(reason?.message).toContain(`payment rescue ${paymentId} --token ${tokenContract}`);
    const native = { ...webhook, tokenContract: context.usdc.toLowerCase() };
    const right = stage(async () => native).context;
    expect((await handleProviderWebhook(right, 'moonpay', posted)).reason).toBeNull();
  });

  it('moves the latest visit at its provider', async () => {
    expect(await outcomeOf(async () => webhook)).toEqual({
      outcome: 'noted',
      noted: [['second', 'delivering', 4_000]],
    });
  });

  it('also moves a visit that happens at its provider by way of another one', async () => {
    const { context, noted } = stage(async () => webhook);
    const routed = { id: 'wert', routedThrough: 'moonpay' } as unknown as ProviderAdapter;
    const adapters = new Map([...context.adapters, ['wert' as const, routed] as const]);
    const { outcome } = await handleProviderWebhook({ ...context, adapters }, 'moonpay', posted);
    expect({ outcome, noted }).toEqual({ outcome: 'noted', noted: [['elsewhere', 'delivering', 4_000]] });
  });

  it('moves the visit that it names', async () => {
    const { noted } = await outcomeOf(async () => ({ ...webhook, providerReference: 'one' }));
    expect(noted).toEqual([['first', 'delivering', 4_000]]);
  });

  it('from the future counts as of now', async () => {
    const { noted } = await outcomeOf(async () => ({ ...webhook, atMs: 9_000_000 }));
    expect(noted).toEqual([['second', 'delivering', 5_000]]);
  });

  it('that tells nothing new is stale', async () => {
    expect((await outcomeOf(async () => webhook, false)).outcome).toBe('stale');
  });

  it('about the same wallet in other letters is taken', async () => {
    const walletAddress = depositAddress.toLowerCase();
    expect((await outcomeOf(async () => ({ ...webhook, walletAddress }))).outcome).toBe('noted');
  });

  it.each([
    ['another wallet', { walletAddress: '0x52908400098527886E0F7030069857D2E4169EE7' }],
    ['a payment that is not there', { paymentId: paymentId.replace('0', '1') }],
    ['no id at all', { paymentId: 'hello' }],
    ['a visit that is not there', { providerReference: 'three' }],
  ])('about %s changes nothing', async (_what, change) => {
    expect(await outcomeOf(async () => ({ ...webhook, ...change }))).toEqual({
      outcome: 'unmatched',
      noted: [],
    });
  });

  it.each([
    ['irrelevant', async () => null],
    ['refused', () => Promise.reject(new ProviderWebhookRefusedError('forged'))],
    ['unknown_state', () => Promise.reject(new UnknownStateError('what?'))],
  ])('that is %s changes nothing', async (outcome, read) => {
    expect(await outcomeOf(read)).toEqual({ outcome, noted: [] });
  });

  it('that cannot be judged is for the provider to repeat, and one for nobody is not found', async () => {
    const failing = stage(() => Promise.reject(new TypeError('a defect'))).context;
    await expect(handleProviderWebhook(failing, 'moonpay', posted)).rejects.toThrow(TypeError);
    await expect(handleProviderWebhook(failing, 'wert', posted)).rejects.toMatchObject({
      errorName: 'not_found',
    });
  });
});
