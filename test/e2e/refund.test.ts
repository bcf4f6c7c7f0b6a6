import { afterAll, beforeAll, expect, it } from 'vitest';
import { type EndToEndService, startEndToEndService } from '../support/e2e-service.ts';
import { CUSTOMER_ADDRESS } from '../support/refunds.ts';
import { runJson } from '../support/service-process.ts';
import { waitFor } from '../support/wait-for.ts';

let service: EndToEndService;

beforeAll(async () => {
  service = await startEndToEndService();
});
afterAll(() => service?.stop());

interface Refund {
  readonly refund_id: string;
  readonly status: string;
  readonly transaction: string | null;
}

async function call<Answer>(path: string, body?: object): Promise<Answer> {
  const response = await fetch(`${service.url}/merchant/v1${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${service.process().demoKey()}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  expect(response.status).toBe(200);
  return (await response.json()) as Answer;
}

it('goes from a paid checkout to a refund that is paid on the chain, with its events', async () => {
  const { payment_id: id } = await service.create({});
  await runJson(service.environment, 'sandbox', 'pay', id);
  await waitFor('the payment', 60_000, async () => {
    const { status } = await call<{ status: string }>(`/payments/${id}`);
    return status === 'paid';
  });
  const opened = await call<Refund>(`/payments/${id}/refunds`, {
    amount: '5',
    destination: CUSTOMER_ADDRESS,
    reason: 'Returned',
  });
  expect(opened.status).toBe('awaiting_transfer');
  const before = await service.readBalance(CUSTOMER_ADDRESS);
  const sent = await runJson<{ transaction_hash: string }>(
    service.environment,
    'sandbox',
    'refund',
    opened.refund_id,
  );
  const paid = await waitFor('the refund', 60_000, async () => {
    const refund = await call<Refund>(`/refunds/${opened.refund_id}`);
    return refund.status === 'paid' && refund;
  });
  expect(paid.transaction).toBe(sent.transaction_hash);
  expect((await service.readBalance(CUSTOMER_ADDRESS)) - before).toBe(5_000_000n);
  const types = await waitFor('the events', 10_000, async () => {
    const { events } = await call<{ events: { type: string; refund: Refund | null }[] }>('/events');
    const own = events.filter(({ refund }) => refund?.refund_id === opened.refund_id);
    return own.length === 2 && own.map(({ type }) => type);
  });
  expect(types).toEqual(['refund.opened', 'refund.paid']);
  expect(await call(`/payments/${id}`)).toMatchObject({ status: 'paid' });
}, 180_000);

it('shows the rest of a partial payment by API and in its events, and the rest makes it paid', async () => {
  interface Partial {
    readonly status: string;
    readonly amount: string;
    readonly rest: { readonly amount: string; readonly usdc_amount: string; readonly url: string } | null;
  }
  const { payment_id: id } = await service.create({ amount: '25.00' });
  const read = () =>
    call<Partial & { sessions: { charged_amount: string; progress: string }[] }>(
      `/payments/${id}?expand=sessions`,
    );
  expect((await read()).rest).toBeNull();
  await runJson(service.environment, 'sandbox', 'pay', id, '--provider', 'wert', '--usdc', '10');
  const { rest } = await waitFor('the part', 60_000, async () => {
    const payment = await read();
    return payment.rest !== null && payment;
  });
  // Wert's quote lowered the threshold to 23.275 of 25.00 USDC before it delivered 10.
  expect(rest).toMatchObject({ amount: '14.26', usdc_amount: '13.275000' });
  expect((await fetch(rest?.url ?? '')).status).toBe(200);
  await waitFor('the event', 10_000, async () => {
    const { events } = await call<{ events: { type: string; payment: Partial & { payment_id: string } }[] }>(
      '/events',
    );
    const part = events.find(
      ({ type, payment }) => type === 'payment.partially_paid' && payment.payment_id === id,
    );
    return part?.payment.rest?.amount === rest?.amount;
  });

  // No rest is charged while the provider reports money that it has not delivered.
  await waitFor('the delivery', 60_000, async () => (await read()).sessions[0]?.progress === 'delivered');
  await runJson(service.environment, 'sandbox', 'pay', id, '--provider', 'wert');
  await waitFor('the payment', 60_000, async () => (await read()).status === 'paid');
  const paid = await read();
  expect(paid).toMatchObject({ amount: '25.00', rest: null });
  expect(paid.sessions.map(({ charged_amount: charged }) => charged)).toEqual(['25.00', '14.26']);
}, 180_000);
