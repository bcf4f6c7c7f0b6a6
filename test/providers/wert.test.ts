import { expect, it } from 'vitest';
import { type RecordedRequest, serveRequests } from './serve-json.ts';
import { adapterWith, outcomeOf, someSession } from './stage.ts';

async function startWert(conversion: unknown, orders: unknown = []) {
  const server = await serveRequests(({ path }: RecordedRequest) => {
    if (path.endsWith('/convert')) return { status: 'success', body: conversion };
    return path.endsWith('/orders') ? { data: orders } : { requestId: '1', sessionId: 'session_1' };
  });
  const values = { API_KEY: 'key', PARTNER_ID: 'partner/1', NOTICE_TOKEN: 'token', BASE_URL: server.url };
  const adapter = adapterWith('wert', values, { nowMs: () => 5_000 });
  return { server, adapter };
}

it.each([
  // 100 EUR with no fee named, with a share, with a share and a fixed fee: the fees come on top of the charge.
  [{ commodity_amount: 109 }, 109_000_000n, 100_00],
  [{ commodity_amount: 109, fee_percent: 0.05, currency_miner_fee: 0 }, 103_809_523n, 100_00],
  [{ commodity_amount: '109', fee_percent: 0.05, currency_miner_fee: 1 }, 102_830_188n, 100_00],
  // A stated total has them, in part or in full.
  [{ commodity_amount: 109, fee_percent: 0.05, currency_amount: 100 }, 103_809_523n, 100_00],
  [{ commodity_amount: 109, fee_percent: 0.05, currency_amount: '105.00' }, 109_000_000n, 105_00],
  [{ commodity_amount: 109, currency_amount: 105 }, 109_000_000n, 105_00],
])(
  'expects of the conversion %j that %s units are delivered for %i cents',
  async (conversion, deliveryUnits, chargedCents) => {
    const { adapter } = await startWert(conversion);
    expect(await adapter.quote(someSession)).toEqual({ chargedCents, deliveryUnits, minimumUsdCents: null });
  },
);

it('refuses a total that is implausible', async () => {
  const { adapter } = await startWert({ commodity_amount: 109, currency_amount: 201 });
  expect(await outcomeOf(adapter.quote(someSession))).toBe('provider_unavailable');
});

it('locks the session, and puts into its address nothing that decides about money', async () => {
  const { server, adapter } = await startWert({ commodity_amount: 109 });
  const session = await adapter.startSession(someSession);
  expect(JSON.parse(server.requests.at(-1)?.body ?? '')).toEqual({
    flow_type: 'simple_full_restrict',
    wallet_address: someSession.depositAddress,
    currency: 'EUR',
    currency_amount: 100,
    commodity: 'USDC',
    network: 'polygon',
  });
  const url = new URL(session.redirectUrl);
  expect(url.pathname).toBe('/widget/partner%2F1/widget');
  expect(Object.fromEntries(url.searchParams)).toEqual({
    session_id: 'session_1',
    click_id: someSession.paymentId,
    redirect_url: someSession.returnUrl,
    email: someSession.email,
  });
});

it('takes the furthest of several orders for what a webhook is about', async () => {
  const orders = ['failed', 'pending', 'progress', 'cancelled'].map((status) => ({ status }));
  const { server, adapter } = await startWert({}, orders);
  const webhook = await adapter.readWebhook?.({
    target: '/providers/wert/webhooks?token=token',
    headers: {},
    body: Buffer.from(JSON.stringify({ type: 'order_failed', click_id: someSession.paymentId })),
    receivedAtMs: 5_000,
  });
  expect(webhook).toMatchObject({ paymentId: someSession.paymentId, progress: 'delivering', atMs: 5_000 });
  expect(server.requests.at(-1)?.query.get('search_by')).toBe(someSession.paymentId);
});
