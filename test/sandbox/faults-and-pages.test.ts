import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openOrderStore, SESSION_LIFETIME_MS } from '../../sandbox/order-store.ts';
import type { Sandbox } from '../../sandbox/start-sandbox.ts';
import { assumedDeliveryUnits } from '../../src/payment/provider-catalog.ts';
import type { StartedSession } from '../../src/providers/provider.ts';
import { createJsonRpcClient } from '../../src/settlement/chain/json-rpc.ts';
import {
  adapterAt,
  callNode,
  countTransfers,
  makeFolder,
  payWithCard,
  readBalance,
  readResultState,
  someAddress,
  startFastSandbox,
  startSessionAt,
  waitForFinalBalance,
  waitUntilDelivered,
} from './fixture.ts';

let folder: Awaited<ReturnType<typeof makeFolder>>;
let sandbox: Sandbox;

beforeAll(async () => {
  folder = await makeFolder();
  sandbox = await startFastSandbox({ dataDir: folder.path, slowAnswerMs: 1_500, slowDeliveryMs: 1_500 });
});
afterAll(async () => {
  await sandbox.stop();
  await folder.remove();
});

const DELIVERY_UNITS = assumedDeliveryUnits('wert', 100_000_000n);

describe('the simulated on-ramps', () => {
  it('deliver once however often the form is sent', async () => {
    const deposit = someAddress('2');
    const session = await startSessionAt(sandbox, deposit);
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => payWithCard(session, '4242424242424242')),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(303));
    await waitUntilDelivered(session);
    expect((await payWithCard(session, '4242424242424242')).status).toBe(303);
    expect(await readBalance(sandbox, deposit)).toBe(DELIVERY_UNITS);
    expect(await countTransfers(sandbox, deposit)).toBe(1);
  });

  it('deliver nothing for a declined card, and let the customer try another', async () => {
    const deposit = someAddress('3');
    const session = await startSessionAt(sandbox, deposit);
    const declined = await payWithCard(session, '4000 0000 0000 0002');
    expect(declined.status).toBe(402);
    expect(await declined.text()).toContain('declined');
    expect((await payWithCard(session, '5555 5555 5555 4444')).status).toBe(422);
    // A later order that was delivered shows that the declined one is not merely late.
    const later = await startSessionAt(sandbox, someAddress('4'));
    await payWithCard(later, '4242424242424242');
    await waitUntilDelivered(later);
    expect(await readBalance(sandbox, deposit)).toBe(0n);
    expect((await payWithCard(session, '4242424242424242')).status).toBe(303);
    await waitForFinalBalance(sandbox, deposit, DELIVERY_UNITS);
  });

  it('deliver half for the card that delivers too little', async () => {
    const deposit = someAddress('5');
    const session = await startSessionAt(sandbox, deposit);
    await payWithCard(session, '4000 0000 0000 9995');
    await waitUntilDelivered(session);
    expect(await readBalance(sandbox, deposit)).toBe(DELIVERY_UNITS / 2n);
  });

  it('deliver late for the card that takes long', async () => {
    const deposit = someAddress('6');
    const session = await startSessionAt(sandbox, deposit);
    await payWithCard(session, '4000 0000 0000 3220');
    expect(await readResultState(session)).toBe('accepted');
    expect(await readBalance(sandbox, deposit)).toBe(0n);
    await waitForFinalBalance(sandbox, deposit, DELIVERY_UNITS);
  });

  it('treat two sessions of one payment as two orders', async () => {
    const deposit = someAddress('7');
    const first = await startSessionAt(sandbox, deposit);
    const second = await startSessionAt(sandbox, deposit, { provider: 'coinbase' });
    expect(first.providerReference).not.toBe(second.providerReference);
    await payWithCard(first, '4000 0000 0000 9995');
    await waitUntilDelivered(first);
    expect(await readResultState(second)).toBe('none');
    await payWithCard(second, '4242424242424242');
    const both = DELIVERY_UNITS / 2n + assumedDeliveryUnits('coinbase', 100_000_000n);
    await waitForFinalBalance(sandbox, deposit, both);
  });

  it('are paid without a page: the whole delivery, or the amount that was asked for', async () => {
    const deposit = someAddress('9');
    const session = await startSessionAt(sandbox, deposit);
    const { transactionHash } = await sandbox.pay({ order: session.redirectUrl, deliveryUnits: 12_340_000n });
    expect(await callNode(sandbox, 'eth_getTransactionByHash', [transactionHash])).not.toBeNull();
    await waitForFinalBalance(sandbox, deposit, 12_340_000n);
    await expect(sandbox.pay({ order: session.providerReference })).rejects.toThrow('already paid');
    await expect(sandbox.pay({ order: 'wert_unknown' })).rejects.toThrow('no such order');
    const other = await startSessionAt(sandbox, deposit);
    await expect(sandbox.pay({ order: other.providerReference, deliveryUnits: 0n })).rejects.toThrow(
      'positive',
    );
    await sandbox.pay({ order: other.providerReference });
    await waitForFinalBalance(sandbox, deposit, 12_340_000n + DELIVERY_UNITS);
  });
});

describe('a fault', () => {
  it('takes the pages of a provider down as well', async () => {
    const session = await startSessionAt(sandbox, someAddress('a'), { provider: 'revolut' });
    sandbox.faults.setProvider('revolut', 'down');
    expect((await fetch(session.redirectUrl)).status).toBe(503);
    await expect(sandbox.pay({ order: session.redirectUrl })).rejects.toThrow('revolut is down');
    sandbox.faults.setProvider('revolut', 'up');
    expect((await fetch(session.redirectUrl)).status).toBe(200);
  });

  it('breaks the chain for the server, while the node goes on', async () => {
    const server = createJsonRpcClient({ url: sandbox.rpcUrl, timeoutMs: 20_000 });
    const impatient = createJsonRpcClient({ url: sandbox.rpcUrl, timeoutMs: 500 });
    const node = createJsonRpcClient({ url: sandbox.anvilUrl, timeoutMs: 20_000 });
    try {
      expect(await server.call('eth_chainId', [])).toBe('0x7a69');
      for (const fault of ['down', 'slow'] as const) {
        sandbox.faults.setChain(fault);
        await expect(impatient.call('eth_chainId', [])).rejects.toThrow();
        expect(await node.call('eth_chainId', [])).toBe('0x7a69');
      }
      sandbox.faults.setChain('up');
      expect(await server.call('eth_chainId', [])).toBe('0x7a69');
      const batch = await server.callBatch([
        { method: 'eth_chainId', params: [] },
        { method: 'eth_blockNumber', params: [] },
      ]);
      expect(batch[0]).toBe('0x7a69');
    } finally {
      for (const client of [server, impatient, node]) await client.close();
    }
  });
});

describe('the API of a simulated on-ramp', () => {
  it('refuses what leaves nothing to deliver', async () => {
    const little = { amountCents: 3_00, currency: 'USD', usdUnits: 3_000_000n } as const;
    await expect(adapterAt(sandbox, 'paypal').quote(little)).rejects.toMatchObject({
      errorName: 'provider_unavailable',
      cause: expect.objectContaining({ message: expect.stringContaining('paypal answered 400') }),
    });
  });
});

describe('the page of a simulated on-ramp', () => {
  const hostile = `"><script>alert(1)</script><img src=x onerror='alert(2)'>`;

  async function hostileSession(): Promise<StartedSession> {
    return await startSessionAt(sandbox, someAddress('b'), {
      email: `${hostile}@example.com`,
      returnUrl: `http://localhost:3000/pay/1?x=${hostile}&y='onclick=alert(3)'`,
      paymentId: hostile,
    });
  }

  function expectHarmless(page: string): void {
    expect(page).not.toContain('<script');
    expect(page).not.toContain('<img');
    expect(page).not.toMatch(/<[^>]*\son\w+=/);
  }

  it('says what it is, explains its cards and can be filled in by a click, without a script', async () => {
    const session = await startSessionAt(sandbox, someAddress('b'));
    const page = await (await fetch(session.redirectUrl)).text();
    expect(page).toContain('SIMULATED ON-RAMP');
    expect(page).toContain('no real money');
    for (const number of [
      '4242 4242 4242 4242',
      '4000 0000 0000 0002',
      '4000 0000 0000 3220',
      '4000 0000 0000 9995',
    ]) {
      expect(page).toContain(`?card=${encodeURIComponent(number)}`);
      const filled = await (await fetch(`${session.redirectUrl}?card=${encodeURIComponent(number)}`)).text();
      expect(filled).toContain(`value="${number}"`);
    }
    expectHarmless(page);
  });

  it('does not take a card from a link that is no test card', async () => {
    const session = await startSessionAt(sandbox, someAddress('b'));
    for (const card of ['5555555555554444', hostile]) {
      const page = await (await fetch(`${session.redirectUrl}?card=${encodeURIComponent(card)}`)).text();
      expect(page).toContain('maxlength="23" value=""');
      expectHarmless(page);
    }
  });

  it('escapes hostile input everywhere and allows nothing from anywhere', async () => {
    const session = await hostileSession();
    const first = await fetch(session.redirectUrl);
    expect(first.headers.get('content-security-policy')).toContain("default-src 'none'");
    expectHarmless(await first.text());
    expectHarmless(await (await payWithCard(session, hostile)).text());
    expectHarmless(await (await payWithCard(session, '4000000000000002')).text());
    await payWithCard(session, '4242424242424242');
    const result = await (await fetch(`${session.redirectUrl}/result`)).text();
    expectHarmless(result);
    expect(result).toContain('Back to the shop');
    expect(result).toContain('href="http://localhost:3000/pay/1?x');
  });

  it('is not found for an unknown order, or for the order of another provider', async () => {
    const session = await startSessionAt(sandbox, someAddress('b'));
    const base = sandbox.onrampBaseUrl;
    expect((await fetch(`${base}/wert/pay/nothing`)).status).toBe(404);
    expect((await fetch(`${base}/moonpay/pay/${session.providerReference}`)).status).toBe(404);
    expect((await fetch(`${base}/nobody/pay/${session.providerReference}`)).status).toBe(404);
  });

  it('takes no payment after thirty minutes', async () => {
    const session = await startSessionAt(sandbox, someAddress('c'));
    // An order of yesterday, put into the books behind the on-ramp's back.
    const store = openOrderStore(`${folder.path}/sandbox/onramps.sqlite`);
    const order = store.findOrder(session.providerReference);
    if (order === null) throw new Error('the order is not in the books');
    expect(order.expiresAtMs - Date.now()).toBeLessThanOrEqual(SESSION_LIFETIME_MS);
    expect(order.expiresAtMs - Date.now()).toBeGreaterThan(SESSION_LIFETIME_MS - 60_000);
    store.createOrder({ ...order, id: 'wert_old', createdAtMs: 1, expiresAtMs: Date.now() - 1 });
    store.close();
    const url = `${sandbox.onrampBaseUrl}/wert/pay/wert_old`;
    expect((await fetch(url)).status).toBe(410);
    expect((await payWithCard({ ...session, redirectUrl: url }, '4242424242424242')).status).toBe(410);
    await expect(sandbox.pay({ order: url })).rejects.toThrow('has expired');
  });
});
