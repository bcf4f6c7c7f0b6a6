import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { shortCodeOf } from '../../src/payment/payment-id.ts';
import { providerIds } from '../../src/payment/provider-catalog.ts';
import {
  type CheckoutPages,
  checkoutStates,
  createCheckoutPages,
  secretsOfPayment,
} from '../support/checkout-pages.ts';

let pages: CheckoutPages;
let ids: string[];
beforeAll(() => {
  pages = createCheckoutPages();
  ids = Object.values(checkoutStates).map((make) => pages.put(make()));
});

/** Shows in a page if anything of a request comes through as it is. */
const probe = '<probe-7391 a="\'&gt;">';
const { note, ...secrets } = secretsOfPayment;
const unsaid = [...Object.values(secrets), 'canary-merchant', '<probe-7391'];
const oddParts = ['..', '%2e%2e', '%00', '%', '%zz', '%ff', '__proto__', '', '%2f', 'a'.repeat(101)];
const part = fc.oneof(
  fc
    .oneof(fc.string({ unit: 'binary', maxLength: 130 }), fc.constant(probe))
    .map((text) => encodeURIComponent(text.toWellFormed())),
  fc.constantFrom(...oddParts),
);
const mostly = (right: () => string[]) =>
  fc.oneof({ weight: 12, arbitrary: fc.nat().map((at) => right()[at % right().length] as string) }, part);
const path = fc.oneof(
  fc
    .tuple(
      mostly(() => ids),
      fc.constantFrom('', '/status', '/providers'),
    )
    .map(([id, rest]) => `/pay/${id}${rest}`),
  fc
    .tuple(
      mostly(() => ids),
      mostly(() => [...providerIds]),
    )
    .map(([id, provider]) => `/pay/${id}/providers/${provider}`),
  mostly(() => ids.map(shortCodeOf)).map((code) => `/s/${code}`),
);
const request = fc.record({
  method: fc.constantFrom('GET', 'POST', 'HEAD', 'PUT', 'DELETE', 'OPTIONS'),
  url: fc
    .tuple(
      path,
      fc.constantFrom('', '?auto=1', '?returned=1', '?email=x&auto=1', `?x=${encodeURIComponent(probe)}`),
    )
    .map((texts) => texts.join('')),
  headers: fc.dictionary(
    fc.constantFrom('origin', 'sec-fetch-site', 'user-agent', 'if-none-match', 'cookie', 'accept-language'),
    fc.oneof(
      fc.constantFrom('cross-site', 'null', 'http://evil.example', '*', 'W/""', 'WhatsApp/2', probe),
      fc.stringMatching(/^[ -~]{0,40}$/),
    ),
    { maxKeys: 3 },
  ),
  payload: fc.constantFrom(undefined, '', 'provider=moonpay', '__proto__=1', 'a'.repeat(1_100), probe),
});

it('answers any request to the pages with a safe page, and starts a session only where it leads to it', async () => {
  await fc.assert(
    fc.asyncProperty(request, async ({ payload, headers, ...rest }) => {
      const before = pages.started.length;
      const sent = payload === undefined ? {} : { payload };
      const {
        statusCode,
        headers: answered,
        body,
      } = await pages.server.inject({ ...rest, headers: { ...headers }, ...sent });
      expect([200, 302, 303, 304, 400, 403, 404, 405, 409, 413, 415, 429, 502]).toContain(statusCode);
      const leads = statusCode === 302 || statusCode === 303;
      expect(pages.started.length - before).toBeLessThanOrEqual(leads ? 1 : 0);
      expect(answered.location !== undefined).toBe(leads);
      if (leads) expect(answered.location).toMatch(/^(?:https:\/\/\w+\.example\/|\/pay\/[\w%.~!*'()-]*$)/);
      // The note is in the preview of a short link, and nowhere else.
      for (const secret of rest.url.startsWith('/s/') ? unsaid : [...unsaid, note])
        expect(body).not.toContain(secret);
      expect(answered['content-security-policy']).toMatch(/^default-src 'none'/);
      expect(answered['x-content-type-options']).toBe('nosniff');
      if (body === '') return;
      const isPage = String(answered['content-type']).startsWith('text/html');
      if (isPage) expect(body).toMatch(/^<!doctype html>.*<\/html>\s*$/s);
      else expect(JSON.parse(body)).toEqual(expect.any(Object));
    }),
    { numRuns: 300 },
  );
});
