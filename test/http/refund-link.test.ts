import type { FastifyReply, FastifyRequest } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registerRefundPage } from '../../src/features/refunds/customer-page.ts';
import { ADDRESS_LINK_MS } from '../../src/features/refunds/refund.ts';
import { type ApiService, BASE_URL, createApiService, validRequest } from '../support/api-service.ts';
import { RESERVED_ADDRESS } from '../support/payment-context.ts';
import { addressLinkTokens, CUSTOMER_ADDRESS, payWithDeposit } from '../support/refunds.ts';

const OTHER_ADDRESS = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';

let service: ApiService;
let movedMs = 0;

beforeAll(async () => {
  service = await createApiService({
    requestsPerMinute: 1_000_000,
    register(server, store) {
      const refundContext = {
        ...store,
        isServiceAddress: async (address: string) => address === RESERVED_ADDRESS,
        addressLinkTokens,
        baseUrl: BASE_URL,
        nowMs: () => Date.now() + movedMs,
      };
      const context = { accounts: store.accounts, isTestMode: false, baseUrl: BASE_URL };
      server.register((pages, _options, done) => {
        pages.removeAllContentTypeParsers();
        pages.addContentTypeParser(
          'application/x-www-form-urlencoded',
          { parseAs: 'string' },
          (_request, body, parsed) => parsed(null, new URLSearchParams(String(body))),
        );
        const askedOf = (request: FastifyRequest, reply: FastifyReply) =>
          ({ context, request, reply, params: request.params }) as never;
        registerRefundPage(
          {
            page: (path, show) => pages.get(path, (request, reply) => show(askedOf(request, reply))),
            form: (path, act) => pages.post(path, (request, reply) => act(askedOf(request, reply))),
          },
          refundContext,
        );
        done();
      });
    },
  });
});
afterAll(() => service.close());

async function call(method: 'GET' | 'POST', path: string, payload?: object) {
  const answer = await service.server.inject({
    method,
    url: `/merchant/v1${path}`,
    headers: { 'x-api-key': service.apiKey, 'idempotency-key': `${path} ${Math.random()}`.replace(' ', '-') },
    ...(payload === undefined ? {} : { payload }),
  });
  return { status: answer.statusCode, ...answer.json() };
}

async function givePaid(): Promise<string> {
  const created = await service.post({ ...validRequest, amount: '25.00', currency: 'USD' });
  const { payment_id: id } = created.json();
  await payWithDeposit(service.store, { id, accountId: service.account.id }, 25_000_000n);
  return id;
}

const open = async (payload: object = {}, id?: string) =>
  call('POST', `/payments/${id ?? (await givePaid())}/refunds`, payload);
const read = ({ refund_id }: { refund_id: string }) => call('GET', `/refunds/${refund_id}`);
const pageOf = (url: string, lang = 'en') =>
  service.server.inject({ url: `${new URL(url).pathname}?lang=${lang}` });
const name = (url: string, address: string, headers: Record<string, string> = {}) =>
  service.server.inject({
    method: 'POST',
    url: new URL(url).pathname,
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    payload: new URLSearchParams({ address }).toString(),
  });

describe('the customer’s link', () => {
  it('asks for an address, which the merchant confirms before the transfer is expected', async () => {
    const opened = await open({ reason: 'Returned' });
    expect(opened).toMatchObject({
      status: 'awaiting_address',
      amount: '25.000000',
      destination: null,
      payment_uri: null,
    });
    const page = await pageOf(opened.address_url);
    for (const words of ['25\u00a0USDC', service.account.name, '<bdi>$25.00</bdi>'])
      expect(page.body).toContain(words);
    expect(page.body).not.toContain('Returned');
    expect((await name(opened.address_url, CUSTOMER_ADDRESS)).body).toContain(CUSTOMER_ADDRESS);
    expect(await read(opened)).toMatchObject({
      status: 'awaiting_confirmation',
      destination: CUSTOMER_ADDRESS,
      payment_uri: null,
      address_url: null,
    });
    const confirmPath = `/refunds/${opened.refund_id}/confirm`;
    expect(await call('POST', confirmPath, { destination: OTHER_ADDRESS })).toMatchObject({ status: 409 });
    expect(await call('POST', confirmPath, { destination: 'x' })).toMatchObject({ status: 400 });
    const confirmed = await call('POST', confirmPath, { destination: CUSTOMER_ADDRESS });
    expect(confirmed).toMatchObject({ status: 'awaiting_transfer', destination: CUSTOMER_ADDRESS });
    expect(confirmed.payment_uri).toContain(`/transfer?address=${CUSTOMER_ADDRESS}&uint256=25000000`);
    expect(await call('POST', confirmPath, { destination: CUSTOMER_ADDRESS })).toMatchObject({ status: 409 });
    expect((await pageOf(opened.address_url)).body).toContain('about to transfer');
  });

  it('takes one address only, also of several that are sent at the same moment', async () => {
    const opened = await open();
    const addresses = Array.from({ length: 6 }, (_, index) => `0x${String(index + 1).repeat(40)}`);
    await Promise.all(addresses.map((address) => name(opened.address_url, address)));
    const { destination } = await read(opened);
    expect(addresses).toContain(destination);
    expect((await name(opened.address_url, OTHER_ADDRESS)).body).not.toContain(OTHER_ADDRESS);
    expect((await read(opened)).destination).toBe(destination);
    while ((await service.store.events.numberEvents(100)) > 0);
    const { events } = await service.store.events.listEvents(service.account.id, 0, 100);
    const named = events.filter((event) => event.subjectId === opened.refund_id);
    expect(named.map(({ type }) => type)).toEqual(['refund.opened', 'refund.address_named']);
  });

  it('refuses addresses that cannot be right, says so in the form, and stays valid', async () => {
    const id = await givePaid();
    const { address_url: url } = await open({}, id);
    const payment = await service.store.payments.findPayment(service.account.id, id as never);
    const wrongChecksum = CUSTOMER_ADDRESS.replace('C44', 'c44');
    for (const address of [
      '',
      'x',
      `${CUSTOMER_ADDRESS}0`,
      wrongChecksum,
      `0x${'0'.repeat(40)}`,
      payment?.depositAddress as string,
      payment?.payoutAddress as string,
      RESERVED_ADDRESS,
    ]) {
      const answer = await name(url, address);
      expect([address, answer.statusCode]).toEqual([address, 400]);
      expect(answer.body).toMatch(
        new RegExp(`<input id="address"[^>]* value="${address}"[^>]*aria-invalid="true"`),
      );
    }
    expect((await name(url, CUSTOMER_ADDRESS)).statusCode).toBe(200);
  });

  it('is bound to its refund, and refused where it is not exactly right', async () => {
    const [one, other] = [await open(), await open()];
    await name(one.address_url, CUSTOMER_ADDRESS);
    expect((await read(other)).status).toBe('awaiting_address');
    const tokenOf = (url: string) => url.split('/').at(-1) as string;
    for (const path of [
      `${other.refund_id}/${tokenOf(one.address_url)}`,
      `${other.refund_id}/${'A'.repeat(43)}`,
      `${other.refund_id}/x`,
      `rfd_${'0'.repeat(20)}/${addressLinkTokens.of(`rfd_${'0'.repeat(20)}`)}`,
    ]) {
      const url = `${BASE_URL}/refund/${path}`;
      expect([path, (await pageOf(url)).statusCode]).toEqual([path, 404]);
      expect([path, (await name(url, CUSTOMER_ADDRESS)).statusCode]).toEqual([path, 404]);
    }
  });

  it('is refused from another site', async () => {
    const opened = await open();
    const foreign = await name(opened.address_url, CUSTOMER_ADDRESS, { 'sec-fetch-site': 'cross-site' });
    expect([foreign.statusCode, (await read(opened)).status]).toEqual([400, 'awaiting_address']);
  });

  it('cannot be framed, keeps its path from other sites, is not cached, and leads nowhere else', async () => {
    const page = await pageOf((await open()).address_url);
    expect(page.headers).toMatchObject({
      'referrer-policy': 'strict-origin',
      'x-frame-options': 'DENY',
      'cache-control': 'no-store',
      'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
    });
    expect(page.body).not.toMatch(/<a [^>]*href="https?:/);
  });

  it('is the same for a repeated Idempotency-Key, and only there while it waits for an address', async () => {
    const id = await givePaid();
    const again = async () => {
      const answer = await service.server.inject({
        method: 'POST',
        url: `/merchant/v1/payments/${id}/refunds`,
        headers: { 'x-api-key': service.apiKey, 'idempotency-key': 'return-17' },
        payload: { amount: '5' },
      });
      return answer.json();
    };
    const first = await again();
    expect((await again()).address_url).toBe(first.address_url);
    expect((await read(first)).address_url).toBeNull();
    await name(first.address_url, CUSTOMER_ADDRESS);
    expect(await again()).toMatchObject({ refund_id: first.refund_id, address_url: null });
  });

  it('stands in no log and in no stored row', async () => {
    const { address_url: url, refund_id: id } = await open();
    await pageOf(url);
    await name(url, 'not an address');
    await name(url, CUSTOMER_ADDRESS);
    const token = url.split('/').at(-1) as string;
    expect(service.logLines.join('\n')).not.toContain(token);
    const stored = await service.store.refunds.findRefund(service.account.id, id);
    expect(Object.values(stored ?? {}).map(String)).not.toContain(token);
  });

  it('names no address once the refund is canceled', async () => {
    const opened = await open();
    expect((await call('POST', `/refunds/${opened.refund_id}/cancel`)).status).toBe('canceled');
    const late = await name(opened.address_url, CUSTOMER_ADDRESS);
    expect([late.statusCode, late.body.includes(CUSTOMER_ADDRESS)]).toEqual([200, false]);
    expect(await read(opened)).toMatchObject({ status: 'canceled', destination: null });
  });

  it('expires after 7 days, and the amount can be refunded again', async () => {
    const id = await givePaid();
    const opened = await open({}, id);
    expect((await call('GET', `/payments/${id}/refunds`)).refundable_amount).toBe('0.000000');
    movedMs = ADDRESS_LINK_MS + 1;
    service.advance(movedMs);
    expect((await pageOf(opened.address_url)).body).toContain('no longer valid');
    expect((await name(opened.address_url, CUSTOMER_ADDRESS)).body).toContain('no longer valid');
    expect((await read(opened)).status).toBe('expired');
    expect((await call('GET', `/payments/${id}/refunds`)).refundable_amount).toBe('25.000000');
  });
});
