import fc from 'fast-check';
import { shortCodeOf } from '../../../src/domain/payment-id.ts';
import { providerIds } from '../../../src/domain/provider-catalog.ts';
import {
  type CheckoutPages,
  checkoutStates,
  createCheckoutPages,
  secretsOfPayment,
} from '../../support/checkout-pages.ts';
import { parseObject } from './answer-shape.ts';
import { requireKept } from './broken-promise.ts';
import { nearText, oddText } from './values.ts';

/** Would be seen in a page if anything of a request came through as it is. */
const probe = '<probe-7391 a="\'&gt;">';
const secrets = [...Object.values(secretsOfPayment), 'canary-merchant', probe, '<probe-7391'];

const METHODS = ['GET', 'GET', 'POST', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'] as const;
/** What the pages and their errors may answer; 302 and 303 lead to a provider. */
const STATUSES = [200, 302, 303, 304, 400, 403, 404, 405, 409, 413, 429, 502];

interface PageRequest {
  readonly method: (typeof METHODS)[number];
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: string | undefined;
}

const encoded = (text: fc.Arbitrary<string>) => text.map((given) => encodeURIComponent(given.toWellFormed()));
const wildPart = fc.oneof(
  encoded(fc.string({ unit: 'binary', maxLength: 130 })),
  encoded(fc.constant(probe)),
  oddText.map((text) => encodeURIComponent(text.toWellFormed())),
  fc.constantFrom(
    '..',
    '%2e%2e',
    '%00',
    '%',
    '%zz',
    '%ff',
    '__proto__',
    'constructor',
    '',
    '%2f',
    'a'.repeat(101),
  ),
);
const mostly = (right: fc.Arbitrary<string>) =>
  fc.oneof(
    { weight: 20, arbitrary: right },
    { weight: 2, arbitrary: encoded(nearText(right)) },
    { weight: 1, arbitrary: wildPart },
  );

const queryName = fc.constantFrom('auto', 'returned', 'email', '__proto__', 'auto[]', 'x', 'status');
const query = fc
  .array(fc.tuple(queryName, fc.oneof(fc.constantFrom('1', '0', ''), wildPart)), { maxLength: 3 })
  .map((pairs) => (pairs.length === 0 ? '' : `?${pairs.map((pair) => pair.join('=')).join('&')}`));

const headerValue = fc.oneof(
  fc.constantFrom(
    'same-origin',
    'cross-site',
    'none',
    'null',
    'http://localhost:3000',
    'http://evil.example',
    'document',
    'iframe',
    'prefetch',
    '*',
    '"',
    'W/""',
    'application/x-www-form-urlencoded',
    'application/json',
    'multipart/form-data',
    'text/plain; charset=x',
    'Googlebot',
    'WhatsApp/2',
    probe,
  ),
  fc.stringMatching(/^[ -~]{0,40}$/),
);
const headers = fc.dictionary(
  fc.constantFrom(
    'origin',
    'sec-fetch-site',
    'sec-fetch-dest',
    'sec-purpose',
    'purpose',
    'user-agent',
    'if-none-match',
    'content-type',
    'host',
    'accept',
    'cookie',
    'referer',
    'x-forwarded-for',
    'accept-language',
    'content-encoding',
    '__proto__',
  ),
  headerValue,
  { maxKeys: 3 },
);

function requests(ids: readonly string[]): fc.Arbitrary<PageRequest> {
  const id = mostly(fc.constantFrom(...ids));
  const code = mostly(fc.constantFrom(...ids).map(shortCodeOf));
  const provider = mostly(fc.constantFrom<string>(...providerIds));
  const path = fc.oneof(
    id.map((part) => `/pay/${part}`),
    id.map((part) => `/pay/${part}/status`),
    code.map((part) => `/s/${part}`),
    fc.tuple(id, provider).map(([one, other]) => `/pay/${one}/providers/${other}`),
    fc.tuple(id, provider).map(([one, other]) => `/pay/${one}/providers/${other}`),
    fc
      .tuple(fc.constantFrom('/pay', '/s', '/pay/x/y/z', ''), wildPart)
      .map(([one, other]) => `${one}/${other}`),
  );
  const payload = fc.oneof(
    { weight: 3, arbitrary: fc.constant(undefined) },
    {
      weight: 2,
      arbitrary: fc.constantFrom('', 'provider=moonpay', '__proto__=1', 'a'.repeat(1_100), probe),
    },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 100 }) },
  );
  return fc
    .record({ method: fc.constantFrom(...METHODS), path, query, headers, payload })
    .map(({ path: place, query: rest, ...others }) => ({ ...others, url: place + rest }));
}

/** One request to the pages, of payments in every state. */
export function pageCase() {
  const pages = createCheckoutPages();
  const ids = Object.values(checkoutStates).map((state) => pages.put(state()));
  const check = fc.asyncProperty(requests(ids), (request) => requireSafe(pages, request));
  return { check, close: () => pages.server.close() };
}

async function requireSafe(pages: CheckoutPages, request: PageRequest): Promise<void> {
  const before = pages.started.length;
  const { method, url, payload } = request;
  const response = await pages.server.inject({
    method,
    url,
    headers: { ...request.headers },
    ...(payload === undefined ? {} : { payload }),
  });
  const { statusCode: status, body } = response;
  const say = (what: string) => () =>
    `${what}: ${status} to ${JSON.stringify(request)} ${body.slice(0, 300)}`;
  requireKept('pages', STATUSES.includes(status), say('no status of ours'));
  const redirects = status === 302 || status === 303;
  const visits = pages.started.length - before;
  requireKept('pages', visits === 0 || (visits === 1 && redirects), say(`${visits} visits`));
  const isToProvider = /^https:\/\/\w+\.example\//.test(String(response.headers.location));
  requireKept(
    'pages',
    redirects === (response.headers.location !== undefined) && (!redirects || isToProvider),
    say('leads elsewhere'),
  );
  const said = secrets.filter((secret) => body.includes(secret));
  // The note stands in the previews of short links, as specified, and nowhere else.
  const mayBeSaid = url.startsWith('/s/') ? [secretsOfPayment.note] : [];
  requireKept(
    'pages',
    said.every((secret) => mayBeSaid.includes(secret as never)),
    say('says what it must not'),
  );
  const policy = String(response.headers['content-security-policy']);
  requireKept(
    'pages',
    policy.startsWith("default-src 'none'") && response.headers['x-content-type-options'] === 'nosniff',
    say('without its headers'),
  );
  const type = String(response.headers['content-type'] ?? '');
  if (body === '') return;
  if (type.startsWith('text/html')) {
    requireKept(
      'pages',
      body.startsWith('<!doctype html>') && body.trimEnd().endsWith('</html>'),
      say('half a page'),
    );
    return;
  }
  const fields = type.startsWith('application/json') ? parseObject(body) : null;
  requireKept(
    'pages',
    fields !== null && (status === 200 || typeof fields['error'] === 'string'),
    say('neither page nor JSON'),
  );
}
