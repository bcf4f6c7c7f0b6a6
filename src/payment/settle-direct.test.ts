import { describe, expect, it } from 'vitest';
import {
  applied,
  CREATED_MS,
  deposit,
  direct,
  observations,
  payment,
  release,
  view,
} from '../../test/support/payment-views.ts';
import { fieldsOf, stateOf } from './payment-states.ts';
import { type SettleContext, settle, settleScanned } from './settle.ts';

const open: SettleContext = { nowMs: CREATED_MS + 1_000 };
const past: SettleContext = { nowMs: CREATED_MS + 2_000, expiredBeforeMs: CREATED_MS + 1 };
const enoughSeen = observations([deposit(100n, 11)]);
const releasedFinally = observations([deposit(100n, 5)], [release(100n, 9)]);

describe('a direct payment', () => {
  it('is paid with what was final then, and says nothing of a forwarding', () => {
    const rows = observations([deposit(60n, 5), deposit(50n, 10), deposit(7n, 11)]);
    const before = view(direct('unpaid/pending'), rows);
    const result = applied(before, settle(before, open));
    expect(result).toMatchObject({ receivedUnits: 110n, txidIn: 'in 10', txidOut: null, forwardedUnits: 0n });
    expect(result.releaseDueAtMs).toBe(open.nowMs);
  });

  it('waits while its deposit is a unit short of final', () => {
    const before = view(direct('unpaid/pending'), observations([deposit(99n, 5), deposit(5n, 11)]));
    expect(stateOf(applied(before, settle(before, open)))).toBe('unpaid/pending');
  });

  it('is forwarded by releases of all that it received, and keeps the deposit that it named', () => {
    const forwarding = direct('paid/processing', { receivedUnits: 110n, txidIn: 'in 10', relayBatchId: 1 });
    const rows = (units: bigint, block: number) =>
      observations([deposit(60n, 5), deposit(50n, 10), deposit(7n, 11)], [release(units, block)]);
    for (const notYet of [rows(109n, 9), rows(110n, 11)]) {
      expect(stateOf(applied(view(forwarding), settle(view(forwarding, notYet), open)))).toBe(
        'paid/processing',
      );
    }
    const done = settle(view(forwarding, rows(110n, 9)), open);
    expect(applied(view(forwarding), done)).toMatchObject({
      ...fieldsOf('paid/completed'),
      txidIn: 'in 10',
      txidOut: 'out 9',
      paidAtMs: CREATED_MS,
    });
  });

  it('is told as paid and as forwarded, with its receipt, where both are found at once', () => {
    const before = view(direct('unpaid/pending', { email: 'customer@example.com' }), releasedFinally);
    const decision = settle(before, open);
    expect(decision?.webhooks?.map(({ event }) => event)).toEqual(['payment.paid', 'payment.forwarded']);
    expect(decision?.receipt).toBe(true);
  });

  it('is told as paid when its part is accepted after a restore, unless that part was released before', () => {
    const accepted = (...releases: Parameters<typeof observations>[1] & {}) => {
      const rows = { ...observations([deposit(60n, 5)], releases), restoredBlock: 10 };
      return settle(view(direct('unpaid/pending'), rows), open, { paidThresholdUnits: 60n });
    };
    expect(accepted()?.webhooks).toMatchObject([{ event: 'payment.paid' }]);
    expect(accepted()?.dueBefore).toBeUndefined();
    expect(accepted(release(60n, 9))?.dueBefore).toEqual(['payment.paid', 'payment.forwarded']);
  });

  it('was due before a restore where its deposits were final by then', () => {
    const rows = (block: number) => ({ ...observations([deposit(100n, block)]), finalBlock: 20 });
    const dueBefore = (of: Parameters<typeof view>[1]) =>
      settle(view(direct('unpaid/pending'), of), open)?.dueBefore;
    expect(dueBefore({ ...rows(10), restoredBlock: 10 })).toEqual(['payment.paid']);
    expect(dueBefore({ ...rows(11), restoredBlock: 10 })).toBeUndefined();
    expect(dueBefore(rows(10))).toBeUndefined();
  });

  it('is told as sent on after a restore, where only a part was sent on before it', () => {
    const rows = (last: number) => ({
      ...observations([deposit(110n, 5)], [release(100n, 9), release(10n, last)]),
      finalBlock: 20,
      restoredBlock: 10,
    });
    const paid = direct('paid/processing', { receivedUnits: 110n, relayBatchId: 1 });
    expect(settle(view(paid, rows(12)), open)).toMatchObject({ webhooks: [{ event: 'payment.forwarded' }] });
    expect(settle(view(paid, rows(12)), open)?.dueBefore).toBeUndefined();
    expect(settle(view(paid, rows(10)), open)?.dueBefore).toEqual(['payment.forwarded']);
  });

  it('counts as sent on while a release of all of it is in a block that is not final', () => {
    const ready = direct('paid/ready', { receivedUnits: 110n });
    const state = (units: bigint) => {
      const rows = observations([deposit(110n, 5)], [release(units, 11)]);
      return stateOf(applied(view(ready), settle(view(ready, rows), open)));
    };
    expect([state(109n), state(110n)]).toEqual(['paid/ready', 'paid/processing']);
  });
});

describe('after the chain was read', () => {
  const short = observations([deposit(99n, 11)]);

  it('a direct payment that waits comes back to the expiry step, whatever changed', () => {
    expect(settleScanned(view(direct('unpaid/pending')), open)).toEqual({ change: {}, revisitExpiry: true });
    expect(settleScanned(view(direct('unpaid/pending'), short), open)).toEqual({
      change: { receivedUnits: 99n, txidIn: 'in 11' },
      revisitExpiry: true,
    });
  });

  it('a payment by card that waits comes back where the address holds a part', () => {
    expect(settleScanned(view(payment('unpaid/pending')), open)).toBeNull();
    expect(settleScanned(view(payment('unpaid/pending'), short), open)?.revisitExpiry).toBe(true);
  });

  it.each([
    ['is paid in full', payment('unpaid/pending'), enoughSeen],
    ['is paid in full from a wallet and not final', direct('unpaid/pending'), enoughSeen],
    ['was canceled', direct('canceled/canceled'), short],
  ])('a payment that %s does not', (_what, of, rows) => {
    expect(settleScanned(view(of, rows), open)).not.toHaveProperty('revisitExpiry');
  });

  it('nothing expires, whatever its age', () => {
    const result = settleScanned(view(payment('unpaid/pending'), short), { ...past });
    expect(result?.change).not.toHaveProperty('status');
  });
});
