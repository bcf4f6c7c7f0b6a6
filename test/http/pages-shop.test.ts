import jsqrModule from 'jsqr';
import { describe, expect, it } from 'vitest';
import { statePageNames } from '../../sandbox/pages/register-state-pages.ts';
import { shortCodeOf } from '../../src/payment/payment-id.ts';
import { type ProviderId, providerIds } from '../../src/payment/provider-catalog.ts';
import type { ProviderAdapter } from '../../src/providers/provider.ts';
import {
  checkoutStates,
  createCheckoutPages,
  NOW_MS,
  pagePayment,
  pageView,
  shopLogo,
  USDC,
} from '../support/checkout-pages.ts';
import { textOf } from '../support/page-text.ts';

// A CommonJS module: Node puts its default inside.
const jsQr = (jsqrModule as unknown as { default: typeof jsqrModule.default }).default;

const pages = createCheckoutPages({
  account: {
    name: 'Café <Tortuga>',
    logoHash: shopLogo.hash,
    brandColor: '#a01830',
    supportUrl: 'mailto:help@tortuga.example',
    termsUrl: 'https://tortuga.example/terms',
    returnUrl: 'https://tortuga.example/thanks?a=1&b=2',
  },
});
const plain = createCheckoutPages();

type State = keyof typeof checkoutStates;
const bodyOf = async (of: typeof pages, state: State, path = '') =>
  (await of.server.inject(`/pay/${of.put(checkoutStates[state]())}${path}`)).body;

describe('the shop on the page', () => {
  it('has its own logo, from ourselves, and else the first letter of its name', async () => {
    const body = await bodyOf(pages, 'choose');
    const logo = `<img class="initial logo" src="/logos/${shopLogo.hash}" alt="" width="32" height="32">`;
    expect(body).toContain(logo);
    expect(body).not.toContain('class="initial" aria-hidden');
    expect(await bodyOf(plain, 'choose')).toContain('<span class="initial" aria-hidden="true">C</span>');
  });

  it('has its own color, on light and dark pages, in a style that the policy of the page allows', async () => {
    const answer = await pages.server.inject(`/pay/${pages.put(checkoutStates.choose())}`);
    const nonce = /style-src 'nonce-([^']+)'/.exec(String(answer.headers['content-security-policy']))?.[1];
    const [, style = ''] =
      new RegExp(`<style nonce="${nonce}">(:root[^<]*)</style>\n<title>`).exec(answer.body) ?? [];
    expect(style).toMatch(
      /^:root{--accent:#a01830;.*}@media\(prefers-color-scheme:dark\){:root{--accent:#\w{6};.*}}$/,
    );
    expect(await bodyOf(plain, 'choose')).not.toContain('--accent:#a01830');
  });

  it.each(Object.keys(checkoutStates) as State[])(
    'links its terms, and can be asked for help: %s',
    async (state) => {
      const body = await bodyOf(pages, state);
      const shop = '<bdi>Café &#60;Tortuga&#62;</bdi>';
      expect(body).toContain(`<a href="https://tortuga.example/terms" rel="noreferrer">Terms of ${shop}</a>`);
      const onlyShopHelps = [
        'none-can-serve',
        'overpaid',
        'paid-twice',
        'paid-again',
        'closed-with-money',
        'closed-and-released',
      ];
      expect(body).toContain(
        onlyShopHelps.includes(state)
          ? `<a class="button primary wide" href="mailto:help@tortuga.example" rel="noreferrer"><span>Contact ${shop}</span></a>`
          : `<a href="mailto:help@tortuga.example" rel="noreferrer">Questions? Contact ${shop}</a>`,
      );
      expect(body.match(/<a class="button primary wide"/g)?.length ?? 0).toBeLessThanOrEqual(1);
      expect(await bodyOf(plain, state)).not.toMatch(/Terms of|mailto:|rel="noreferrer"/);
    },
  );

  it('is led back to once the payment is paid, canceled or expired, and not before', async () => {
    const back = 'href="https://tortuga.example/thanks?a&#61;1&#38;b&#61;2"';
    for (const state of Object.keys(checkoutStates) as State[]) {
      const isOver = ['paid', 'overpaid', 'paid-twice', 'paid-again', 'canceled', 'expired'].includes(state);
      expect([state, (await bodyOf(pages, state)).includes(back)]).toEqual([state, isOver]);
    }
    expect(JSON.parse(await bodyOf(pages, 'paid', '/status')).detail, 'also live').toContain(back);
  });
});

const copy = /^Copy the reference$/;
it.each([
  [{ supportUrl: 'mailto:a@b.example' }, /^Contact/, /^Contact/],
  [{ returnUrl: 'https://b.example/' }, /^Back to/, copy],
  [{ suspended: true }, /^Try again$/, copy],
  // Another amount or currency would help, and the text says so.
  [{}, copy, copy],
])('has one next step where a checkout cannot be paid or has ended: %j', async (account, stuck, held) => {
  const { server, put } = createCheckoutPages({ account });
  const ended = 'returnUrl' in account ? stuck : held;
  for (const [state, label] of [
    ['none-can-serve', stuck],
    ['canceled', ended],
    ['expired', ended],
    ['closed-with-money', held],
    ['closed-and-released', held],
  ] as const) {
    const id = put(checkoutStates[state]());
    const { body } = await server.inject(`/pay/${id}`);
    const [shown = ''] = body.split('<template');
    const steps = [...shown.matchAll(/<(a|button) class="button (?:primary )?wide"[^>]*>(.*?)<\/\1>/g)];
    const labels = steps.map(([, , step = '']) => textOf(step).trim());
    expect([state, labels]).toEqual([state, [expect.stringMatching(label)]]);
    expect(body).toContain(`<code>${id}</code>`);
  }
});

it('says that the currency is the reason, and does not ask to try again', async () => {
  const sold: ProviderId[] = ['klarna', 'banxa'];
  const account = { excludedProviders: providerIds.filter((id) => !sold.includes(id)) };
  const banxa = {
    id: 'banxa',
    currenciesSold: ['EUR', 'CAD'],
  } as Partial<ProviderAdapter> as ProviderAdapter;
  const { server, put } = createCheckoutPages({ account, adapters: new Map([['banxa', banxa]]) });
  const text = textOf((await server.inject(`/pay/${put(checkoutStates.choose())}`)).body);
  expect(text).toContain('No payment service takes USD for this payment. Please contact Café Tortuga.');
  for (const reason of [
    'Klarna Only for payments in EUR',
    'Banxa does not take payments in USD.',
    'Copy the reference',
  ])
    expect(text).toContain(reason);
  expect(text).not.toMatch(/try again/i);
});

it('names what the merchant wrote for the customer, and never the note', async () => {
  const id = plain.put(pageView(pagePayment({ orderLine: 'Invoice <7>', note: 'canary-note' })));
  for (const path of [`/pay/${id}`, `/pay/${id}/status`]) {
    const { body } = await plain.server.inject(path);
    expect(body).not.toContain('canary-note');
    if (!path.endsWith('status'))
      expect(body).toContain('<p class="order"><bdi>Invoice &#60;7&#62;</bdi></p>');
  }
});

describe('the way back to the shop', () => {
  const ways = createCheckoutPages({
    account: {
      returnUrl: 'https://shop.example/orders/{payment_id}?paid=1',
      failureUrl: 'https://cart.shop.example/?again={payment_id}',
    },
  });
  const secret = { email: 'jane@zebra.example', note: 'canary-note' };

  it('carries the id of the payment and nothing else, names its host, and differs after a failure', async () => {
    const paid = pageView(
      pagePayment({ ...secret, status: 'paid', forwardStatus: 'completed', paidAtMs: NOW_MS - 1_000 }),
    );
    const expired = pageView(
      pagePayment({ ...secret, status: 'canceled', forwardStatus: 'canceled', cancelReason: 'expired' }),
    );
    for (const [view, url, host, delay] of [
      [
        paid,
        `https://shop.example/orders/${paid.payment.id}?paid=1`,
        'shop.example',
        ' data-return-after="10"',
      ],
      // Customers have to read what to do, so nothing takes them away.
      [expired, `https://cart.shop.example/?again=${expired.payment.id}`, 'cart.shop.example', ''],
    ] as const) {
      const { body } = await ways.server.inject(`/pay/${ways.put(view)}`);
      const [, href = ''] = body.match(`<a class="button primary wide" href="([^"]+)"${delay}>`) ?? [];
      expect(href.replaceAll('&#61;', '=')).toBe(url);
      expect(textOf(body)).toMatch(new RegExp(`(?:This link opens|taken to) ${host}`));
      const announced = `You’ll be taken to ${host} in 10 seconds. Stay on this page`;
      expect(textOf(body).includes(announced)).toBe(delay !== '');
      expect(body).not.toMatch(/zebra|canary-note|http-equiv/);
    }
  });

  it('is a plain link on a receipt that is opened later, and where too much was paid', async () => {
    const paid = { status: 'paid', forwardStatus: 'completed' } as const;
    const recent = { ...paid, paidAtMs: NOW_MS } as const;
    for (const payment of [
      pagePayment({ ...paid, paidAtMs: NOW_MS - 20 * 60_000 }),
      pagePayment({ ...recent, amountMismatch: 'overpaid' }),
    ]) {
      const { body } = await ways.server.inject(`/pay/${ways.put(pageView(payment))}`);
      expect(body).toContain(`href="https://shop.example/orders/${payment.id}?paid&#61;1"><span>`);
      expect(body).not.toContain('data-return-after="');
    }
  });
});

describe('a checkout of a platform', () => {
  const shops = createCheckoutPages({
    account: { returnUrl: 'https://account.example/', returnHosts: ['shop.example', 'cart.example:8443'] },
  });
  const paid = { status: 'paid', forwardStatus: 'completed', paidAtMs: NOW_MS - 1_000 } as const;
  const ended = { status: 'canceled', forwardStatus: 'canceled', cancelReason: 'expired' } as const;
  const returnUrl = 'https://shop.example/{payment_id}';
  const cancelUrl = 'https://cart.example:8443/';

  it.each([
    ['paid', paid, { returnUrl, cancelUrl }, 'shop.example'],
    ['expired', ended, { returnUrl, cancelUrl }, 'cart.example:8443'],
    ['canceled', { ...ended, cancelReason: 'merchant' }, { returnUrl, cancelUrl: null }, 'shop.example'],
    ['past its own deadline', { deadlineMs: NOW_MS }, { returnUrl, cancelUrl }, 'cart.example:8443'],
    ['before it', { deadlineMs: NOW_MS + 1 }, { returnUrl, cancelUrl }, null],
    ['paid, without an own way back', paid, { returnUrl: null, cancelUrl }, 'account.example'],
    ['paid, on a removed host', paid, { returnUrl: 'https://www.shop.example/', cancelUrl }, null],
    ['expired, on a removed port', ended, { returnUrl, cancelUrl: 'https://cart.example/' }, null],
  ] as const)('leads back by its own addresses on saved hosts: %s', async (_case, change, urls, host) => {
    const payment = pagePayment({ ...change, orderDetails: { items: [], ...urls } });
    const { body } = await shops.server.inject(`/pay/${shops.put(pageView(payment))}`);
    const [, link] = /<a class="button primary wide" href="https:\/\/([^/"]+)\//.exec(body) ?? [];
    expect(link ?? null).toBe(host);
    expect(body.includes('data-return-after="10"')).toBe(host !== null && 'paidAtMs' in change);
  });

  it('may be framed in the pages of saved hosts only, where it counts as opened and starts no session by itself', async () => {
    const hostile = ['a.example;sandbox', "a.example'", '[::1]:3000', 'localhost:3005', '127.0.0.1:80'];
    for (const [returnHosts, origins] of [
      [['shop.example', 'cart.example:8443'], 'https://shop.example https://cart.example:8443'],
      [hostile, 'http://localhost:3005 http://127.0.0.1'],
      [hostile.slice(0, 3), null],
    ] as const) {
      const own = createCheckoutPages({ account: { returnHosts } });
      const id = own.put(pageView(pagePayment({ provider: 'moonpay', email: 'jane@example.com' })));
      const url = `/pay/${id}?auto=1&email=jane%40example.com`;
      const framed = await own.server.inject({ url, headers: { 'sec-fetch-dest': 'iframe' } });
      const policy = String(framed.headers['content-security-policy']);
      expect(policy).toMatch(new RegExp(`; base-uri 'none'; frame-ancestors ${origins ?? "'none'"}$`));
      expect(framed.headers['x-frame-options']).toBe(origins === null ? 'DENY' : undefined);
      expect(framed.body.includes(`data-shops="${origins}" data-state="open"`)).toBe(origins !== null);
      expect([framed.statusCode, own.started, own.opened]).toEqual([200, [], [id]]);
      const alone = await own.server.inject(`/pay/${id}`);
      expect([alone.body.includes('data-shops'), alone.body.includes('postMessage')]).toEqual([false, false]);
      for (const path of [`/s/${shortCodeOf(id as never)}`, `/pay/${id}/status`])
        expect((await own.server.inject(path)).headers['x-frame-options']).toBe('DENY');
    }
  });

  it('shows its items as text on page and receipt, and neither reference nor metadata', async () => {
    const orderDetails = {
      items: [
        { name: '<b>Tea</b>', quantity: 2, amountCents: 5_000 },
        { name: 'Voucher', quantity: 1, amountCents: -2_500 },
      ],
      returnUrl: null,
      cancelUrl: null,
    };
    const order = { reference: 'canary-reference', metadata: { key: 'canary-value' }, orderDetails };
    for (const change of [order, { ...order, ...paid }]) {
      const { body } = await shops.server.inject(`/pay/${shops.put(pageView(pagePayment(change)))}`);
      expect(body).toContain('<dt><bdi>2 × &#60;b&#62;Tea&#60;/b&#62;</bdi></dt><dd><bdi>$50.00</bdi></dd>');
      expect(body).toContain('<dt><bdi>Voucher</bdi></dt><dd><bdi>-$25.00</bdi></dd>');
      expect(body).not.toContain('canary');
    }
  });
});

describe('the code for phones', () => {
  it('is shown where paying makes sense, and loaded only when it is opened', async () => {
    const lazy = /<details class="phone">.*\/qr\.svg" [^>]*loading="lazy"/s;
    expect(await bodyOf(pages, 'choose')).toMatch(lazy);
    for (const state of ['paid', 'none-can-serve'] as const)
      expect(await bodyOf(pages, state)).not.toContain('qr.svg');
  });

  it('leads to this checkout', async () => {
    const id = pages.put(pageView(pagePayment({ provider: 'moonpay', email: 'jane@example.com' })));
    const answer = await pages.server.inject(`/pay/${id}/qr.svg`);
    expect(answer.headers['content-type']).toBe('image/svg+xml');
    expect(answer.headers['content-security-policy']).toBe("default-src 'none'; frame-ancestors 'none'");
    expect(read(answer.body)).toBe(`http://localhost:3000/pay/${id}`);
  });

  it('is of nothing but a checkout', async () => {
    for (const id of ['unknown', '%3Cscript%3E', 'x'.repeat(80)])
      expect((await pages.server.inject(`/pay/${id}/qr.svg`)).statusCode).toBe(404);
  });
});

it('the code of a rest is the transfer of what is missing, for a partial payment only', async () => {
  const view = checkoutStates.underpaid();
  const code = await pages.server.inject(`/pay/${pages.put(view)}/transfer.svg`);
  expect([code.headers['content-type'], code.headers['cache-control']]).toEqual([
    'image/svg+xml',
    'no-store',
  ]);
  const [{ units = 0n } = {}] = view.observations.deposits;
  const missing = view.payment.paidThresholdUnits - units;
  const transfer = `${USDC}@${view.payment.chainId}/transfer`;
  expect(read(code.body)).toBe(
    `ethereum:${transfer}?address=${view.payment.depositAddress}&uint256=${missing}`,
  );
  for (const name of ['choose', 'paid', 'direct'] as const) {
    const id = pages.put(checkoutStates[name]());
    expect([name, (await pages.server.inject(`/pay/${id}/transfer.svg`)).statusCode]).toEqual([name, 404]);
  }
});

/** Draws the SVG, four pixels a module, and reads it as a phone would. */
function read(svg: string): string | undefined {
  const size = Number(/viewBox="0 0 (\d+)/.exec(svg)?.[1]);
  const width = size * 4;
  const pixels = new Uint8ClampedArray(width * width * 4).fill(255);
  let x = 0;
  let y = 0;
  for (const [, move, right, down, length] of svg.matchAll(/([Mm])(\d+) (\d+)(?:\.5)?h(\d+)/g)) {
    x = move === 'M' ? Number(right) : x + Number(right);
    if (move === 'M') y = Number(down);
    for (let row = y * 4; row < y * 4 + 4; row++) {
      const start = (row * width + x * 4) * 4;
      for (let at = start; at < start + Number(length) * 16; at += 4) pixels.fill(0, at, at + 3);
    }
    x += Number(length);
  }
  return jsQr(pixels, width, width)?.data;
}

it('shows on every example page of the sandbox only pictures that are there', async () => {
  const pages = createCheckoutPages({ isTestMode: true });
  const shown: string[] = [];
  for (const name of statePageNames) {
    const { body } = await pages.server.inject(`/sandbox/pages/${name}`);
    for (const [, source = ''] of body.matchAll(/<img [^>]*src="([^"]+)"/g)) {
      const { statusCode, headers } = await pages.server.inject(source);
      expect([source, statusCode, headers['content-type']]).toEqual([source, 200, 'image/svg+xml']);
      shown.push(source);
    }
  }
  expect(shown).toContain('/sandbox/pages/underpaid/transfer.svg');
});
