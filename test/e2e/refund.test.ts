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
