import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../sandbox/start-sandbox.ts';
import { assumedDeliveryUnits } from '../../src/payment/provider-catalog.ts';
import {
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

/** What `wert` delivers for 100.00 USD. */
const DELIVERY_UNITS = assumedDeliveryUnits('wert', 100_000_000n);

describe('the simulated on-ramps', () => {
  let folder: Awaited<ReturnType<typeof makeFolder>>;
  let sandbox: Sandbox;

  beforeAll(async () => {
    folder = await makeFolder();
    sandbox = await startFastSandbox({ dataDir: folder.path, slowDeliveryMs: 1_500 });
  });
  afterAll(async () => {
    await sandbox.stop();
    await folder.remove();
  });

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
