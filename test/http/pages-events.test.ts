import { type AddressInfo, connect } from 'node:net';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { PaymentView } from '../../src/payment/payment-store.ts';
import { type CheckoutPages, checkoutStates, createCheckoutPages } from '../support/checkout-pages.ts';
import { waitFor } from '../support/wait-for.ts';

let pages: CheckoutPages;
let baseUrl: string;
beforeEach(async () => {
  pages = createCheckoutPages();
  baseUrl = await pages.server.listen({ host: '127.0.0.1', port: 0 });
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

it('outlives two streams on one connection, of which the second ends behind the first', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const errors: Error[] = [];
  const onError = (error: Error) => errors.push(error);
  process.on('uncaughtExceptionMonitor', onError);
  const { port } = pages.server.server.address() as AddressInfo;
  const socket = connect(port, '127.0.0.1');
  try {
    let text = '';
    socket.on('data', (chunk) => {
      text += String(chunk);
    });
    const ask = (of: string) => `GET /pay/${of}/events HTTP/1.1\r\nHost: localhost\r\n\r\n`;
    socket.write(ask(pages.put(checkoutStates.choose())) + ask('01900000-0000-7000-8000-000000000000'));
    // The second is ended, unseen, when its payment is not found; many beats come after that.
    await waitFor('beats of the first', 60_000, () => {
      vi.advanceTimersByTime(20_000);
      return text.split('event: beat').length > 60;
    });
    expect(errors).toEqual([]);
    expect((await fetch(`${baseUrl}/health/live`)).status).toBeLessThan(500);
  } finally {
    process.off('uncaughtExceptionMonitor', onError);
    socket.destroy();
    vi.useRealTimers();
  }
});

it('holds up no server that closes', async () => {
  const response = await fetch(`${baseUrl}/pay/${pages.put(checkoutStates.choose())}/events`);
  await pages.server.close();
  expect(await response.text()).toContain('event: end');
});
