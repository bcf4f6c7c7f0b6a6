import { expect, it } from 'vitest';
import { payment } from '../../test/support/payment-views.ts';
import { forwardedWebhook, paidWebhook } from './payment-events.ts';
import { DIRECT_PROVIDER } from './provider-catalog.ts';

const paid = payment('paid/completed', {
  id: '01890a5d-ac96-774b-bcce-b302099a8057',
  amountCents: 10_257,
  currency: 'EUR',
  originalAmountCents: 10_000,
  customerFeeCents: 257,
  passFeeToCustomer: true,
  email: 'customer@example.com',
  note: 'Order 1\n“thanks”',
  paidAtMs: 2,
  receivedUnits: 95_000_001n,
  forwardedUnits: 92_625_001n,
  txidIn: '0xin',
  txidOut: '0xout',
});

it('has exactly the fields of the specification and the email, save the timestamp', () => {
  expect(paidWebhook(paid)).toEqual({
    event: 'payment.paid',
    fields: {
      event: 'payment.paid',
      id: paid.id,
      paymentId: paid.id,
      status: 'paid',
      amount: '102.57',
      originalAmount: '100.00',
      customerFeeAmount: '2.57',
      passFeeToCustomer: true,
      currency: 'EUR',
      coin: 'polygon_usdc',
      receivedAmount: '95.000001',
      forwardedAmount: '92.625001',
      txidIn: '0xin',
      txidOut: '0xout',
      note: 'Order 1\n“thanks”',
      email: 'customer@example.com',
    },
  });
});

it('says null where there is nothing to say', () => {
  const plain = { ...paid, originalAmountCents: null, customerFeeCents: null, note: null, email: null };
  expect(paidWebhook({ ...plain, passFeeToCustomer: false }).fields).toMatchObject({
    originalAmount: null,
    customerFeeAmount: null,
    passFeeToCustomer: false,
    note: null,
    email: null,
  });
});

const direct = payment('paid/completed', { ...paid, provider: DIRECT_PROVIDER });

it('says of a direct payment nothing about forwarding when it becomes paid', () => {
  expect(paidWebhook(direct).fields).toEqual({
    ...paidWebhook(paid).fields,
    forwardedAmount: null,
    txidOut: null,
  });
});

it('tells what a direct payment forwarded, to which wallet and in which transaction', () => {
  expect(forwardedWebhook(direct)).toEqual({
    event: 'payment.forwarded',
    fields: {
      event: 'payment.forwarded',
      paymentId: paid.id,
      forwardTxid: '0xout',
      amountForwarded: '92.625001',
      toWallet: paid.payoutAddress,
    },
  });
});
