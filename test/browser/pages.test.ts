import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEPOSIT_HASH } from '../../sandbox/pages/example-payments.ts';
import { statePageNames } from '../../sandbox/pages/register-state-pages.ts';
import { shortCodeOf } from '../../src/payment/payment-id.ts';
import { languages } from '../../src/web/checkout-layout/languages.ts';
import { desktop, inBrowser, phone, takeScreenshot } from '../support/browser.ts';
import { openPages } from '../support/browser-pages.ts';
import {
  type CheckoutPages,
  checkoutStates,
  createCheckoutPages,
  NOW_MS,
  pagePayment,
  pageView,
} from '../support/checkout-pages.ts';
import { overflowOf, shiftOf, TOLERATED_SHIFT, violationsOf } from '../support/page-checks.ts';
import { addressLinkTokens, newRefund } from '../support/refunds.ts';

const screenshots = join(import.meta.dirname, '../../test-output/screenshots');

let browser: Browser;
let pages: CheckoutPages;
let baseUrl: string;
let close = async () => {};

beforeAll(async () => {
  ({ browser, pages, baseUrl, close } = await openPages());
});
afterAll(() => close());

/**
 * The words that stand on more than one line. Not those of hashes and addresses, which have no place to break, and not
 * where a hyphen or a stroke lets a word break.
 */
const brokenWordsOf = (page: Page) =>
  page.evaluate(`(() => {
    const broken = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      if (node.parentElement.closest('code, script, style, template, noscript, option, .quiet')) continue;
      if (!node.parentElement.checkVisibility()) continue;
      for (const { 0: word, index } of node.data.matchAll(/[^\\s\\-–—/…]+/g)) {
        const range = document.createRange();
        range.setStart(node, index);
        range.setEnd(node, index + word.length);
        const tops = [...range.getClientRects()].map(({ top }) => top);
        if (Math.max(...tops) - Math.min(...tops) > 4) broken.push(word);
      }
    }
    return broken;
  })()`) as Promise<string[]>;

/** As large as the README shows it. */
const picture = { viewport: { width: 1120, height: 720 }, deviceScaleFactor: 1 };
const phonePicture = { viewport: { width: 390, height: 780 }, deviceScaleFactor: 1 };
/** Serves other pages than those of the file while `use` runs. */
async function serve(other: CheckoutPages, use: (origin: string) => Promise<unknown>): Promise<void> {
  try {
    await use(await other.server.listen({ host: '127.0.0.1', port: 0 }));
  } finally {
    await other.server.close();
  }
}

/** Width and height of a PNG. */
const sizeOf = (png: Buffer) => [png.readUInt32BE(16), png.readUInt32BE(20)];
/** In both themes, both sizes, and both directions of writing; each page is looked at in all of them. */
const looks = [
  ['phone', 'light', 'en', phone],
  ['desktop', 'dark', 'en', desktop],
  ['phone', 'dark', 'ar', phone],
] as const;

/** Every page a customer can meet, by name; those of the sandbox are the same ones in every state. */
const addresses: Record<string, () => string> = {
  ...Object.fromEntries(statePageNames.map((name) => [name, () => `/sandbox/pages/${name}`])),
  'short-link': () => `/s/${shortCodeOf(pages.put(pageView(pagePayment({ note: 'Table 4, two cakes' }))))}`,
};

describe.each(looks)('on a %s in %s, in %s', (device, colorScheme, locale, options) => {
  let page: Page;
  const complaints: string[] = [];
  beforeAll(async () => {
    page = await browser.newPage({ ...options, colorScheme, locale, reducedMotion: 'reduce' });
    page.on('pageerror', (error) => complaints.push(error.message));
  });
  afterAll(() => page.close());

  it.each(Object.keys(addresses))(
    'the page %s is accessible, fits and breaks no word, also at larger text, and stands still',
    async (name) => {
      // Customers are led on by a short link; those who look at it for a preview stay.
      await page.setExtraHTTPHeaders(name === 'short-link' ? { 'user-agent': 'Twitterbot/1.0' } : {});
      await page.goto(`${baseUrl}${(addresses[name] as () => string)()}`);
      expect(await page.getAttribute('html', 'dir')).toBe(locale === 'ar' ? 'rtl' : 'ltr');
      expect(await shiftOf(page)).toBeLessThan(TOLERATED_SHIFT);
      await takeScreenshot(page, `${name}-${device}-${colorScheme}-${locale}.png`);
      expect(await violationsOf(page)).toEqual([]);
      expect(await overflowOf(page)).toBe(0);
      for (const size of ['130%', '200%']) {
        await page.evaluate(`document.documentElement.style.fontSize = '${size}'`);
        expect(await overflowOf(page)).toBe(0);
        expect([size, await brokenWordsOf(page)]).toEqual([size, []]);
      }
      expect(await page.evaluate('document.getAnimations().length')).toBe(0);
      expect(complaints).toEqual([]);
    },
  );
});

it('keeps the size of its heading while the rest of the page arrives', async () => {
  const headingHeight = "document.querySelector('h1').getBoundingClientRect().height";
  await inBrowser(browser, phone, async (page) => {
    for (const name of statePageNames) {
      const url = `${baseUrl}/sandbox/pages/${name}`;
      await page.goto(url);
      const whole = await page.evaluate(headingHeight);
      const text = await (await fetch(url)).text();
      const body = text.slice(0, text.indexOf('</h1>') + 5);
      await page.route(url, (route) => route.fulfill({ contentType: 'text/html', body }));
      await page.goto(url);
      expect([name, await page.evaluate(headingHeight)]).toEqual([name, whole]);
    }
  });
});

it('shows a dot between two parts of a line, and none at its start or end', async () => {
  const wrongDots = `(() => {
    const dots = [...document.querySelectorAll('.dotted i')].filter((dot) => dot.checkVisibility());
    const wrong = dots.filter((dot) => {
      const part = dot.parentElement;
      const [box, own, before, at] = [part.parentElement, part, part.previousElementSibling, dot]
        .map((element) => element.getBoundingClientRect());
      const isSeen = at.right > box.left - 4 && at.left < box.right + 4;
      return isSeen !== before.bottom > own.top + 4;
    });
    return wrong.length + ' of ' + dots.length;
  })()`;
  await inBrowser(browser, phone, async (page) => {
    for (const code of ['de', 'ar']) {
      await page.goto(`${baseUrl}/pay/${pages.put(checkoutStates.choose())}?multi=1&lang=${code}`);
      for (let width = 280; width < 620; width += 20) {
        await page.setViewportSize({ width, height: 900 });
        expect([code, width, await page.evaluate(wrongDots)]).toEqual([
          code,
          width,
          expect.stringMatching(/^0 of [1-9]/),
        ]);
      }
    }
  });
});

it('breaks no word in German and Dutch, whose words are longest, at 200 % text', async () => {
  await inBrowser(browser, phone, async (page) => {
    for (const name of statePageNames) {
      for (const code of ['de', 'nl']) {
        await page.goto(`${baseUrl}/sandbox/pages/${name}?lang=${code}`);
        await page.evaluate("document.documentElement.style.fontSize = '200%'");
        expect([name, code, await brokenWordsOf(page)]).toEqual([name, code, []]);
      }
    }
  });
});

it('has no barriers in any language: the link of a refund, asked for an address and named one', async () => {
  const payment = pagePayment();
  pages.put(pageView(payment));
  const asked = newRefund(payment, {
    status: 'awaiting_address',
    destination: null,
    createdAtMs: NOW_MS,
  });
  const named = newRefund(payment, { status: 'awaiting_confirmation', createdAtMs: NOW_MS });
  for (const device of [desktop, { viewport: { width: 320, height: 700 }, colorScheme: 'dark' }] as const) {
    await inBrowser(browser, device, async (page) => {
      for (const refund of [asked, named]) {
        pages.refunds.set(refund.id, refund);
        for (const { code } of languages) {
          await page.goto(`${baseUrl}/refund/${refund.id}/${addressLinkTokens.of(refund.id)}?lang=${code}`);
          expect(await page.getAttribute('html', 'lang')).toBe(code);
          expect([code, await violationsOf(page)]).toEqual([code, []]);
          expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
        }
      }
    });
  }
});

const ROUND_TRIP_MS = 400;

/** The first contentful paint of a page, in ms after its navigation began, as a slow phone on slow 3G has it. */
async function slowPaintMs(url: string): Promise<number> {
  let paintMs = Number.NaN;
  await inBrowser(browser, phone, async (page, context) => {
    const devtools = await context.newCDPSession(page);
    await devtools.send('Network.enable');
    // Slow 3G of WebPageTest, with 400 kbit/s.
    const throughput = 400_000 / 8;
    const speed = { latency: ROUND_TRIP_MS, downloadThroughput: throughput, uploadThroughput: throughput };
    await devtools.send('Network.emulateNetworkConditions', { offline: false, ...speed });
    await devtools.send('Emulation.setCPUThrottlingRate', { rate: 4 });
    await page.goto(url, { waitUntil: 'domcontentloaded' });
    paintMs = await page.evaluate<number>(`new Promise((resolve) => new PerformanceObserver((list) => {
      for (const paint of list.getEntriesByName('first-contentful-paint')) resolve(paint.startTime);
    }).observe({ type: 'paint', buffered: true }))`);
  });
  return paintMs;
}

it('is painted within 0.8 s on slow 3G with a processor that is four times slower', async () => {
  const live = createCheckoutPages({ needsCountry: 'revolut' });
  for (const [id, answer] of pages.quoteAnswers) live.quoteAnswers.set(id, answer);
  live.server.get('/one-line', (_request, reply) =>
    reply.type('text/html').send('<title>One</title><p>line'),
  );
  await serve(live, async (origin) => {
    for (const name of ['choose', 'paid', 'direct'] as const) {
      const path = `/pay/${live.put(checkoutStates[name]())}?lang=hi`;
      const overMs: number[] = [];
      // The best of up to eight: what else the machine does meanwhile is not the page's weight.
      for (let round = 0; round < 8 && !overMs.some((ms) => ms <= 0); round++) {
        const paintMs = await slowPaintMs(`${origin}${path}`);
        // A quiet machine paints one line 80 ms after the round trip. A slower machine gets its factor more.
        const oneLineMs = paintMs > 800 ? await slowPaintMs(`${origin}/one-line`) : 0;
        const allowedMs = Math.max(800, ROUND_TRIP_MS + 5 * (oneLineMs - ROUND_TRIP_MS));
        overMs.push(paintMs - allowedMs);
      }
      expect(Math.min(...overMs), name).toBeLessThanOrEqual(0);
    }
  });
});

it.each([
  ['checkout', 'choose', 'light', picture, null],
  ['checkout-dark', 'choose', 'dark', picture, null],
  ['checkout-phone', 'choose', 'light', phonePicture, null],
  ['checkout-phone-dark', 'paid', 'dark', phonePicture, null],
  ['checkout-phone-brand', 'paid-twice', 'light', phonePicture, '#a01830'],
] as const)(
  'is drawn for the README as `npm run pictures` keeps it: %s',
  async (name, state, colorScheme, size, brandColor) => {
    const live = createCheckoutPages({ account: { brandColor, supportUrl: 'mailto:help@tortuga.example' } });
    for (const [id, answer] of pages.quoteAnswers) live.quoteAnswers.set(id, answer);
    await serve(live, (origin) =>
      inBrowser(browser, { ...size, colorScheme }, async (page) => {
        await page.goto(`${origin}/pay/${live.put(checkoutStates[state]())}`);
        expect(await page.locator('.button').first().isVisible()).toBe(true);
        const file = join(screenshots, `readme-${name}.png`);
        await page.screenshot({ path: file });
        const kept = await readFile(join(import.meta.dirname, `../../docs/images/${name}.png`));
        expect(sizeOf(await readFile(file))).toEqual(sizeOf(kept));
      }),
    );
  },
);

it.each(['choose', 'paid', 'underpaid', 'at-provider'])(
  'the page %s fits 320 pixels, also with long names',
  async (name) => {
    const long = createCheckoutPages({
      account: { name: 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerk & Söhne' },
    });
    const id = long.put(checkoutStates[name as keyof typeof checkoutStates]());
    const narrow = { viewport: { width: 320, height: 640 }, deviceScaleFactor: 2 };
    await serve(long, (origin) =>
      inBrowser(browser, narrow, async (page) => {
        await page.goto(`${origin}/pay/${id}`);
        expect(await overflowOf(page)).toBe(0);
        await takeScreenshot(page, `${name}-narrow.png`);
      }),
    );
  },
);

it('stays readable in forced colors and on paper', async () => {
  await inBrowser(browser, { ...desktop, forcedColors: 'active' }, async (page) => {
    await page.goto(`${baseUrl}/pay/${pages.put(checkoutStates.choose())}`);
    await takeScreenshot(page, 'choose-forced-colors.png');
    expect(await violationsOf(page)).toEqual([]);
  });
  await inBrowser(browser, desktop, async (page) => {
    await page.goto(`${baseUrl}/pay/${pages.put(checkoutStates.paid())}`);
    const transaction = page.getByText(DEPOSIT_HASH);
    expect(await transaction.isVisible()).toBe(false);
    await page.emulateMedia({ media: 'print' });
    await page.evaluate("dispatchEvent(new Event('beforeprint'))");
    expect(await transaction.isVisible()).toBe(true);
    expect(await page.locator('header time').textContent()).toContain('2026');
    for (const control of await page.locator('.button, summary').all())
      expect(await control.isVisible()).toBe(false);
    await takeScreenshot(page, 'paid-print.png');
    expect(await violationsOf(page)).toEqual([]);
  });
});

it('shows what went wrong with a provider, accessibly', async () => {
  pages.failing.add('moonpay');
  const context = await browser.newContext(phone);
  const page = await context.newPage();
  const id = pages.put(checkoutStates.choose());
  await page.goto(`${baseUrl}/pay/${id}`);
  await page.getByRole('button', { name: 'Pay $26.10' }).click();
  await page.getByText('MoonPay could not be reached').waitFor();
  pages.failing.clear();
  await takeScreenshot(page, 'provider-down-phone-light.png');
  expect(await violationsOf(page)).toEqual([]);
  expect(new URL(page.url()).pathname).toBe(`/pay/${id}`);
  await context.close();
});

describe('a customer', () => {
  it.each([true, false])(
    'gets by one click to the provider that the row names, over its own redirects, announced by origin only (script: %s)',
    async (javaScriptEnabled) => {
      await inBrowser(browser, { ...desktop, javaScriptEnabled }, async (page) => {
        await page.goto(`${baseUrl}/pay/${pages.put(checkoutStates.choose())}`);
        expect(await page.getByText('Through MoonPay').first().isVisible()).toBe(true);
        const tops =
          "[...document.querySelectorAll('.way:has(:checked) .dotted > span')].map((part) => part.offsetTop)";
        const [last, before] = ((await page.evaluate(tops)) as number[]).toReversed();
        expect(last).toBe(before);
        expect(await page.getByText('Through PayPal').isVisible()).toBe(false);
        expect(await page.getByRole('button', { name: 'Pay at Wert' }).isVisible()).toBe(false);
        await page.getByRole('radio', { name: 'PayPal' }).check();
        expect(await page.getByText('You finish at PayPal and pay exactly $26.10 there.').isVisible()).toBe(
          true,
        );
        expect(await page.getByText('You finish at MoonPay').first().isVisible()).toBe(false);
        await page.getByRole('button', { name: 'Pay $26.10' }).click();
        await page.waitForURL('**/visit');
        expect(await page.locator('#referer').textContent()).toBe(`${baseUrl}/`);
      });
      expect(pages.started.at(-1)).toBe('paypal');
    },
  );

  it('chooses with the keyboard alone, the means by Enter or any provider, and returns from the list', async () => {
    await inBrowser(browser, desktop, async (page) => {
      await page.goto(`${baseUrl}/pay/${pages.put(checkoutStates.choose())}`);
      const focus = (value: string) => page.evaluate(`document.activeElement.${value}`);
      const press = async (...keys: string[]) => {
        for (const key of keys) await page.keyboard.press(key);
      };
      await press('Tab');
      expect(await focus('textContent')).toContain('Language: EN');
      await press('Tab', 'ArrowDown');
      expect(await focus('value')).toContain(' google_pay');
      await press('Tab', 'Enter');
      await page.getByRole('button', { name: 'Pay at Transak' }).waitFor();
      for (const name of ['Pay at Wert', 'Pay $26.10'])
        expect(await page.getByRole('button', { name }).isVisible(), name).toBe(false);
      await press('Tab');
      expect(await focus('textContent')).toContain('Pay at ');
      await page.getByRole('link', { name: 'Back to the checkout' }).click();
      expect(await page.getByRole('radio', { name: /^Google Pay/ }).isChecked()).toBe(true);
      await page.getByRole('radio', { name: /^Google Pay/ }).focus();
      await press('Tab', 'Tab', 'Tab', 'Enter');
      await page.waitForURL('**/visit');
      expect(pages.means.at(-1)).toBe('google_pay');
      await page.goto(`${baseUrl}/pay/${pages.put(checkoutStates.choose())}`);
      await page.getByRole('radio', { name: 'PayPal' }).check();
      await press('Enter');
      await page.waitForURL('**/visit');
      expect(pages.started.at(-1)).toBe('paypal');
    });
  });

  it.each([true, false])(
    'comes from our own site to a provider that checks it, by a direct link from a shop that names none (script: %s)',
    async (javaScriptEnabled) => {
      const id = pages.put(pageView(pagePayment({ provider: 'transak', email: 'jane@example.com' })));
      await inBrowser(browser, { ...desktop, javaScriptEnabled }, async (page) => {
        await page.goto(`${baseUrl}/pay/${id}?auto=1&email=jane%40example.com`);
        await page.waitForURL('**/visit');
        expect(await page.locator('#referer').textContent()).toBe(`${baseUrl}/`);
      });
      expect(pages.view(id).sessions.map(({ hasEmail }) => hasEmail)).toEqual([true]);
    },
  );

  it('has no email address left in the address bar', async () => {
    const id = pages.put(pageView(pagePayment({ email: 'jane@example.com' })));
    await inBrowser(browser, desktop, async (page) => {
      await page.goto(`${baseUrl}/pay/${id}?email=jane%40example.com`);
      await page.waitForURL(`${baseUrl}/pay/${id}`);
    });
  });
});

it.each([
  ['any provider', true],
  ['any provider', false],
  ['one provider and an email address', true],
  ['one provider and an email address', false],
] as const)(
  'a customer is asked for the country once, on the page itself, for %s (script: %s)',
  async (kind, javaScriptEnabled) => {
    const asking = createCheckoutPages({
      needsCountry: 'revolut',
      redirectUrl: `${baseUrl}/sandbox/pages`,
      account: { pinnedProvider: 'revolut' },
    });
    const email = 'jane@example.com';
    const view = () =>
      kind === 'any provider'
        ? checkoutStates.choose()
        : pageView(pagePayment({ provider: 'revolut', email }));
    const path = () => `/pay/${asking.put(view())}?email=${encodeURIComponent(email)}`;
    const button = kind === 'any provider' ? 'Pay $26.10' : 'Continue to Revolut';
    await serve(asking, (origin) =>
      inBrowser(browser, { ...phone, javaScriptEnabled }, async (page) => {
        await page.goto(`${origin}${path()}`);
        if (kind === 'any provider') {
          // Only the row whose provider needs it shows the question, which then is no obstacle to the others.
          await page.getByRole('radio', { name: 'PayPal' }).check();
          expect(await page.getByLabel('Where do you live?').isVisible()).toBe(false);
          await page.getByRole('radio', { name: 'Card' }).check();
        }
        await page.getByLabel('Where do you live?').selectOption('DE');
        await page.getByRole('button', { name: button }).click();
        await page.waitForURL('**/sandbox/pages');
        await page.goto(`${origin}${path()}`);
        expect(await page.getByLabel('Where do you live?').inputValue()).toBe('DE');
        await page.getByRole('button', { name: button }).click();
        await page.waitForURL('**/sandbox/pages');
      }),
    );
    expect(asking.countries).toEqual(['DE', 'DE']);
    expect(asking.emails).toEqual(kind === 'any provider' ? [null, null] : [email, email]);
  },
);

it.each(['light', 'dark'] as const)("has no barriers in a shop's color, on %s pages", async (colorScheme) => {
  // One at the limit of what is accepted, and a loud one.
  for (const brandColor of ['#767676', '#c2185b']) {
    const branded = createCheckoutPages({
      account: { brandColor, supportUrl: 'mailto:help@shop.example', termsUrl: 'https://shop.example/terms' },
    });
    await serve(branded, (origin) =>
      inBrowser(browser, { ...desktop, colorScheme }, async (page) => {
        for (const state of ['choose', 'direct', 'underpaid', 'paid-twice'] as const) {
          await page.goto(`${origin}/pay/${branded.put(checkoutStates[state]())}`);
          await page.evaluate(
            "document.querySelectorAll('details').forEach((each) => { each.open = true; })",
          );
          expect([brandColor, state, await violationsOf(page)]).toEqual([brandColor, state, []]);
        }
      }),
    );
  }
});
