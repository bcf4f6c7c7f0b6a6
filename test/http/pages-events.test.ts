import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { PaymentView } from '../../src/domain/ports/payment-store.ts';
import { type CheckoutPages, checkoutStates, createCheckoutPages } from '../support/checkout-pages.ts';

let pages: CheckoutPages;
let baseUrl: string;
beforeEach(async () => {
  pages = createCheckoutPages();
  await pages.server.listen({ host: '127.0.0.1', port: 0 });
  baseUrl = `http://127.0.0.1:${(pages.server.server.address() as AddressInfo).port}`;
});
afterEach(() => pages.server.close());

function become(id: string, view: PaymentView): void {
  pages.put({ ...view, payment: { ...view.payment, id } });
}

it('tells an open page of every change, in its language, until nothing changes any more', async () => {
  const id = pages.put(checkoutStates.seen());
  const { revision } = (await pages.server.inject(`/pay/${id}/status?lang=de`)).json();
  const response = await fetch(`${baseUrl}/pay/${id}/events?lang=de&revision=${revision}`);
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(response.headers.get('x-accel-buffering')).toBe('no');
  become(id, checkoutStates.paid());
  // It ends by itself: what is read is all that was sent.
  const events = await response.text();
  const told = events.match(/^data: (.+)$/gm) ?? [];
  expect(told).toHaveLength(1);
  const content = JSON.parse((told[0] as string).slice('data: '.length));
  expect(content).toEqual((await pages.server.inject(`/pay/${id}/status?lang=de`)).json());
  expect(content.title).toContain('Bezahlt');
  expect(events).toMatch(/event: end\ndata:\n\n$/);
});

it('says nothing of a payment that does not exist', async () => {
  expect((await fetch(`${baseUrl}/pay/unknown/events`)).status).toBe(204);
  const response = await fetch(`${baseUrl}/pay/01900000-0000-7000-8000-000000000000/events`);
  expect(await response.text()).not.toContain('data: {');
});

it('holds up no server that closes', async () => {
  const response = await fetch(`${baseUrl}/pay/${pages.put(checkoutStates.choose())}/events`);
  await pages.server.close();
  expect(await response.text()).toContain('event: end');
});
