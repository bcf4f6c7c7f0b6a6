import type { AddressInfo } from 'node:net';
import { type FastifyInstance, fastify } from 'fastify';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PaymentView } from '../../src/payment/payment-store.ts';
import { desktop, inBrowser } from '../support/browser.ts';
import { openPages } from '../support/browser-pages.ts';
import {
  type CheckoutPages,
  checkoutStates,
  createCheckoutPages,
  NOW_MS,
  pagePayment,
  pageView,
  shopAccount,
  USDC,
} from '../support/checkout-pages.ts';
import { shiftOf, TOLERATED_SHIFT, violationsOf } from '../support/page-checks.ts';

let browser: Browser;
let pages: CheckoutPages;
let baseUrl: string;
let close = async () => {};

beforeAll(async () => {
  ({ browser, pages, baseUrl, close } = await openPages());
});
afterAll(() => close());

const phone = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true };

async function chooseProvider(page: Page, name: string): Promise<void> {
  await page.getByRole('link', { name: /^All \d+ services$/ }).click();
  await page.getByRole('button', { name: `Pay at ${name}` }).click();
}

describe('a payment from a wallet', () => {
  /** Announces itself as an extension does (EIP-6963), and keeps what it is asked. */
  const wallet = (isWilling: boolean) => `
    window.asked = [];
    const provider = { async request(call) {
      window.asked.push(call);
      if (!${isWilling} && call.method === 'eth_sendTransaction') throw new Error('refused');
      return call.method === 'eth_requestAccounts' ? ['0x00000000000000000000000000000000000000c1'] : '0x1';
    } };
    const announce = () => dispatchEvent(new CustomEvent('eip6963:announceProvider', {
      detail: { info: { uuid: '1', name: '<b>Test wallet</b>' }, provider } }));
    addEventListener('eip6963:requestProvider', announce);`;

  it.each([true, false])(
    'is filled in for the wallet, on the right network (willing: %s)',
    async (isWilling) => {
      const id = pages.put(checkoutStates.direct());
      await inBrowser(browser, phone, async (page) => {
        await page.addInitScript(wallet(isWilling));
        await page.goto(`${baseUrl}/pay/${id}`);
        await page.getByRole('button', { name: 'Pay with <b>Test wallet</b>' }).click();
        const note = isWilling ? 'Your wallet sent the transfer' : 'Your wallet did not send the transfer';
        await page.getByText(note).waitFor();
        expect(await violationsOf(page)).toEqual([]);
        const asked = (await page.evaluate('window.asked')) as { method: string; params?: unknown[] }[];
        expect(asked.map(({ method }) => method)).toEqual([
          'eth_requestAccounts',
          'wallet_switchEthereumChain',
          'eth_sendTransaction',
        ]);
        expect(asked[1]?.params).toEqual([{ chainId: '0x89' }]);
        expect(asked[2]?.params).toMatchObject([{ to: USDC, value: '0x0' }]);
        expect(await page.getByRole('button', { name: /^Pay with/ }).isEnabled()).toBe(!isWilling);
      });
    },
  );

  it('is offered to an older wallet too, to which it adds the network that it lacks', async () => {
    const id = pages.put(checkoutStates.direct());
    await inBrowser(browser, desktop, async (page) => {
      await page.addInitScript(`window.asked = [];
        window.ethereum = { async request({ method, params }) {
          if (method === 'wallet_switchEthereumChain' && !asked.includes('wallet_addEthereumChain 0x89'))
            throw { code: -32603 };
          asked.push(method + ' ' + (params?.[0].chainId ?? ''));
          return ['0x00000000000000000000000000000000000000c1'];
        } };`);
      await page.goto(`${baseUrl}/pay/${id}`);
      await page.getByRole('button', { name: 'Open in your wallet' }).click();
      await page.getByText('Your wallet sent the transfer').waitFor();
      expect(await page.evaluate('asked')).toEqual([
        'eth_requestAccounts ',
        'wallet_addEthereumChain 0x89',
        'wallet_switchEthereumChain 0x89',
        'eth_sendTransaction ',
      ]);
      // The link would do nothing here; the codes are told apart, one at a time.
      expect(await page.getByRole('link', { name: 'Open in your wallet' }).isVisible()).toBe(false);
      await page.getByText('Address only').click();
      await page.getByRole('img', { name: 'Address only' }).waitFor();
      expect(await page.locator('svg.qr:visible').count()).toBe(1);
    });
  });

  it.each([
    ['a phone', phone, ['.open', '.copies', '.codes', '.facts']],
    ['a desktop', desktop, ['.codes', '.copies', '.facts']],
  ] as const)(
    'on %s first shows the way that is usual there, after the warnings',
    async (_, options, places) => {
      const id = pages.put(checkoutStates.direct());
      await inBrowser(browser, options, async (page) => {
        await page.goto(`${baseUrl}/pay/${id}`);
        const tops = ['.transfer-notes', ...places].map(
          async (place) => (await page.locator(`#detail > ${place}`).boundingBox())?.y ?? 0,
        );
        const inOrder = await Promise.all(tops);
        expect(inOrder).toEqual(inOrder.toSorted((a, b) => a - b));
        expect(new Set(inOrder).size).toBe(1 + places.length);
      });
    },
  );

  it('has an address that one click copies', async () => {
    const id = pages.put(checkoutStates.direct());
    await inBrowser(
      browser,
      { ...desktop, permissions: ['clipboard-read', 'clipboard-write'] },
      async (page) => {
        await page.goto(`${baseUrl}/pay/${id}`);
        await page.getByRole('button', { name: 'Copy: To' }).click();
        await page.getByText('✓').waitFor();
        expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
          pages.view(id).payment.depositAddress,
        );
      },
    );
  });
});

it('keeps the chosen means on the way back from its list of services, also where the browser restores no form', async () => {
  const id = pages.put(checkoutStates.choose());
  await inBrowser(browser, desktop, async (page) => {
    // As Firefox does with every page that may not be stored.
    await page.addInitScript(`addEventListener('pagehide', () => {
      for (const radio of document.querySelectorAll('[name=choice]')) radio.autocomplete = 'off';
    });`);
    await page.goto(`${baseUrl}/pay/${id}`);
    for (let visit = 0; visit < 2; visit++) {
      await page.getByRole('radio', { name: 'Google Pay' }).check();
      await page.getByRole('link', { name: 'Change' }).click();
      await page.getByRole('heading', { name: 'Google Pay' }).waitFor();
      await page.goBack();
      expect(await page.getByRole('radio', { name: 'Google Pay' }).isChecked()).toBe(true);
      expect(page.url()).toBe(`${baseUrl}/pay/${id}`);
    }
  });
});

it('requires the country at its field, for the ways that need it', async () => {
  const { server, put } = createCheckoutPages({ needsCountry: 'revolut' });
  const origin = await server.listen({ host: '127.0.0.1', port: 0 });
  await inBrowser(browser, desktop, async (page) => {
    await page.goto(`${origin}/pay/${put(checkoutStates.choose())}`);
    await page.getByRole('button', { name: /^Pay/ }).click();
    expect(await page.evaluate("document.activeElement.matches('#country:invalid')")).toBe(true);
    await page.getByRole('radio', { name: 'PayPal' }).check();
    expect(await page.locator('#country:invalid').count()).toBe(0);
  });
  await server.close();
});

describe('the way back to the shop', () => {
  let shop: FastifyInstance;
  let ways: CheckoutPages;
  let waysUrl: string;
  beforeAll(async () => {
    shop = fastify();
    shop.get('/orders/:id', (_request, reply) => reply.type('text/html').send('<title>Order</title>'));
    await shop.listen({ host: '127.0.0.1', port: 0 });
    const { port } = shop.server.address() as AddressInfo;
    ways = createCheckoutPages({ account: { returnUrl: `http://127.0.0.1:${port}/orders/{payment_id}` } });
    waysUrl = await ways.server.listen({ host: '127.0.0.1', port: 0 });
  });
  afterAll(() => Promise.all([shop.close(), ways.server.close()]));
  const justPaid = () =>
    ways.put(pageView(pagePayment({ status: 'paid', forwardStatus: 'completed', paidAtMs: NOW_MS - 1_000 })));

  /** Opens a page whose time a test moves, so that a slow machine takes nothing from the countdown. */
  async function openStill(page: Page, id: string): Promise<void> {
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 1_000);
    await page.goto(`${waysUrl}/pay/${id}`);
  }

  it('is announced by a countdown that moves nothing and is no barrier', async () => {
    await inBrowser(browser, desktop, async (page) => {
      // The shop does not answer, so that the page stays however long the checks take.
      await page.route('**/orders/*', () => {});
      await page.goto(`${waysUrl}/pay/${justPaid()}`);
      expect(await shiftOf(page)).toBeLessThan(TOLERATED_SHIFT);
      expect(await violationsOf(page)).toEqual([]);
    });
  });

  it('is taken by itself after a visible countdown of ten seconds, once in all tabs', async () => {
    const id = justPaid();
    await inBrowser(browser, desktop, async (page, context) => {
      await openStill(page, id);
      await page.getByText('in 10 seconds').waitFor();
      await page.clock.runFor(5_000);
      await page.getByText('in 5 seconds').waitFor();
      expect(new URL(page.url()).pathname).toBe(`/pay/${id}`);
      await page.clock.runFor(5_000);
      await page.waitForURL(`**/orders/${id}`);
      for (const tab of [page, await context.newPage()]) {
        await tab.goto(`${waysUrl}/pay/${id}`);
        await tab.getByRole('link', { name: /^Back to/ }).waitFor();
        expect(await tab.locator('#automatic').count()).toBe(0);
      }
    });
  });

  it.each<[string, (page: Page) => Promise<unknown>]>([
    ['the button to stay', (page) => page.getByRole('button', { name: 'Stay on this page' }).click()],
    ['a key', (page) => page.keyboard.press('Shift')],
    ['a pointer', (page) => page.mouse.click(200, 290)],
    ['scrolling', (page) => page.evaluate('scrollTo(0, 40)')],
    ['a moved focus', (page) => page.locator('#status h1').focus()],
  ])('is stopped by %s', async (_, act) => {
    const id = justPaid();
    await inBrowser(browser, { viewport: { width: 1_000, height: 420 } }, async (page) => {
      await openStill(page, id);
      await page.getByText('in 10 seconds').waitFor();
      await act(page);
      await page.locator('#automatic').waitFor({ state: 'hidden' });
      await page.reload();
      await page.clock.runFor(60_000);
      expect(new URL(page.url()).pathname).toBe(`/pay/${id}`);
    });
  });

  it('is never taken by itself from a checkout that was canceled or has expired', async () => {
    for (const cancelReason of ['expired', 'merchant'] as const) {
      const closed = { status: 'canceled', forwardStatus: 'canceled', cancelReason } as const;
      const id = ways.put(pageView(pagePayment(closed)));
      await inBrowser(browser, desktop, async (page) => {
        await page.clock.install();
        await page.goto(`${waysUrl}/pay/${id}`);
        await page.getByRole('link', { name: /^Back to/ }).waitFor();
        expect(await page.locator('#automatic').count()).toBe(0);
        await page.clock.runFor(60_000);
        expect(new URL(page.url()).pathname).toBe(`/pay/${id}`);
      });
    }
  });
});

it('the menu of languages closes with Escape and beside it, and the focus returns to its button', async () => {
  await inBrowser(browser, desktop, async (page) => {
    await page.goto(`${baseUrl}/pay/${pages.put(checkoutStates.choose())}`);
    const menu = page.locator('.languages details');
    for (const close of [() => page.keyboard.press('Escape'), () => page.mouse.click(30, 700)]) {
      await menu.locator('summary').click();
      await page.keyboard.press('Tab');
      expect(await page.locator('.languages a:focus').count()).toBe(1);
      await close();
      expect(await menu.getAttribute('open')).toBeNull();
      expect(await page.locator('.languages summary:focus').count()).toBe(1);
    }
    await menu.locator('summary').click();
    await page.getByRole('radio', { name: 'PayPal' }).check();
    expect(await menu.getAttribute('open')).toBeNull();
    expect(await page.locator('[name=choice]:focus').count()).toBe(1);
  });
});

/** Lets something else become of the payment that a page is showing. */
function become(id: string, view: PaymentView): void {
  pages.put({ ...view, payment: { ...view.payment, id } });
}

describe('a page that waits', () => {
  it.each([
    ['an event stream', ''],
    ['polling', 'delete window.EventSource'],
  ])(
    'follows the payment to the receipt by %s without loading anew, tells it, and keeps the focus',
    async (_, without) => {
      const id = pages.put(checkoutStates['at-provider']());
      await inBrowser(browser, desktop, async (page) => {
        await page.addInitScript(without);
        await page.goto(`${baseUrl}/pay/${id}`);
        await page.evaluate('window.stayed = true');
        await page.getByRole('button', { name: 'Continue at MoonPay' }).focus();
        const status = page.locator('#status[role=status]');
        const timeline = page.getByRole('list', { name: 'Progress' });
        become(id, checkoutStates['taken-by-provider']());
        await status.getByText('Your card is approved').waitFor();
        expect(await page.evaluate('document.activeElement.tagName')).toBe('H1');
        expect(await timeline.locator('.done time').count()).toBe(1);
        // Outside of the live region, in which every second would be announced.
        expect(await status.textContent()).not.toContain('1:4');
        await page.getByRole('timer').getByText('1:45').waitFor();
        expect(await page.getByRole('timer').textContent()).toMatch(/^1:4\d elapsed$/);
        expect(await page.getByText('Taking longer?').count()).toBe(0);
        become(id, checkoutStates['taken-for-long']());
        await page.getByRole('heading', { name: 'Taking longer?' }).waitFor();
        pages.changes.set(id, [{ state: 'unpaid/ready', atMs: NOW_MS - 1_000 }]);
        become(id, checkoutStates.seen());
        await status.getByText('Your payment has arrived').waitFor();
        expect(await timeline.locator('.done time').count()).toBe(2);
        expect(await timeline.locator('.current').textContent()).toContain('Confirmed');
        become(id, checkoutStates.sending());
        await status.getByText(`being sent to ${shopAccount.name}`).waitFor();
        become(id, checkoutStates.paid());
        await status.getByText('has received your payment').waitFor();
        expect(await page.locator('header').textContent()).toContain(`paid to ${shopAccount.name}`);
        expect(await page.title()).toContain('Paid');
        expect(await page.evaluate('window.stayed')).toBe(true);
      });
    },
  );

  it('asks nothing while nobody looks, and at once when somebody does', async () => {
    const id = pages.put(checkoutStates.seen());
    await inBrowser(browser, desktop, async (page) => {
      let questions = 0;
      page.on('request', (request) => {
        if (new URL(request.url()).pathname.endsWith('/status')) questions++;
      });
      await page.clock.install();
      await page.goto(`${baseUrl}/pay/${id}`);
      const setHidden = (hidden: boolean) =>
        page.evaluate(`Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true });
          document.dispatchEvent(new Event('visibilitychange'))`);
      await setHidden(true);
      // A slow machine may have given it the time for a question before.
      questions = 0;
      await page.clock.runFor(600_000);
      expect(questions).toBe(0);
      become(id, checkoutStates.paid());
      await setHidden(false);
      await page.getByText('has received your payment').waitFor();
      expect(questions).toBe(1);
    });
  });

  it.each([
    ['AbortSignal.timeout', 'delete AbortSignal.timeout'],
    ['event streams', 'delete window.EventSource'],
    ['a clipboard', "Object.defineProperty(navigator, 'clipboard', { value: undefined })"],
  ])('follows the payment in a browser without %s', async (_, without) => {
    const id = pages.put(checkoutStates.direct());
    await inBrowser(browser, desktop, async (page) => {
      const errors: string[] = [];
      page.on('pageerror', ({ message }) => errors.push(message));
      await page.addInitScript(without);
      await page.goto(`${baseUrl}/pay/${id}`);
      const setHidden = (hidden: boolean) =>
        page.evaluate(`Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true });
          document.dispatchEvent(new Event('visibilitychange'))`);
      await setHidden(true);
      become(id, checkoutStates.paid());
      await setHidden(false);
      await page.getByText('has received your payment').waitFor();
      expect(await page.locator('#connection').textContent()).toBe('');
      expect(errors).toEqual([]);
    });
  });

  it('names the provider to which it leads where the browser does not tell the pressed button', async () => {
    const id = pages.put(checkoutStates.choose());
    const page = await browser.newPage(desktop);
    await page.addInitScript('delete SubmitEvent.prototype.submitter');
    await page.route('**/providers/**', (route) => route.fulfill({ status: 204 }));
    await page.goto(`${baseUrl}/pay/${id}`);
    await chooseProvider(page, 'Wert');
    await page.getByText('Taking you to Wert').waitFor();
    await page.goto(`${baseUrl}/pay/${id}`);
    await page.getByLabel('PayPal').check();
    await page.getByRole('button', { name: 'Pay $26.10' }).click();
    await page.getByText('Taking you to PayPal').waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await page.close();
  });

  it('says when there is no connection, and goes on by itself once it is back', async () => {
    const id = pages.put(checkoutStates.seen());
    const context = await browser.newContext(desktop);
    const page = await context.newPage();
    await page.clock.install();
    await page.goto(`${baseUrl}/pay/${id}`);
    await context.setOffline(true);
    const connection = page.getByText('You’re offline');
    await connection.waitFor();
    expect(await violationsOf(page)).toEqual([]);
    become(id, checkoutStates.paid());
    await context.setOffline(false);
    await page.getByText('has received your payment').waitFor();
    expect(await connection.isVisible()).toBe(false);
    await context.close();
  });

  it('works without script: the form leads on, and the page loads itself again', async () => {
    const id = pages.put(checkoutStates.choose());
    await inBrowser(browser, { ...desktop, javaScriptEnabled: false }, async (page) => {
      await page.goto(`${baseUrl}/pay/${id}`);
      await chooseProvider(page, 'Wert');
      await page.waitForURL('**/visit');
      await page.goto(`${baseUrl}/pay/${id}`);
      become(id, checkoutStates.paid());
      await page.getByText('has received your payment').waitFor({ timeout: 120_000 });
    });
  });
});
