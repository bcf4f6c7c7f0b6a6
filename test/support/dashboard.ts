import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import { pino } from 'pino';
import type { Account } from '../../src/accounts/account.ts';
import { createPasswords, derive } from '../../src/accounts/passwords.ts';
import { type Role, relyingPartyOf, type User } from '../../src/accounts/person.ts';
import { openSession } from '../../src/accounts/sessions.ts';
import { createApiRateLimiters } from '../../src/api/api-rate-limits.ts';
import { registerMerchantApi } from '../../src/api/merchant/merchant-routes.ts';
import { registerApi } from '../../src/api/payment-routes.ts';
import {
  checkoutFeatures,
  dashboardFeatures,
  type FeatureContext,
  merchantFeatures,
  paymentAdditions,
} from '../../src/app/features.ts';
import type { SendNotification } from '../../src/features/notifications/send-notifications.ts';
import type { RefundRoutesContext } from '../../src/features/refunds/refund-routes.ts';
import type { Mail } from '../../src/mail/mail.ts';
import { registerCheckoutPages } from '../../src/pages/checkout/routes.ts';
import { registerDashboard } from '../../src/pages/dashboard/routes.ts';
import { createKeyedHash } from '../../src/platform/keyed-hash.ts';
import { createPictures } from '../../src/platform/pictures.ts';
import { createSecretBox } from '../../src/platform/secret-box.ts';
import { createQuotes } from '../../src/providers/ask-quotes.ts';
import { createPageLimits } from '../../src/web/rate-windows.ts';
import { createBaseServer } from '../../src/web/server.ts';
import type { DashboardContext } from '../../src/web/signed-in/context.ts';
import { createDashboardLimits } from '../../src/web/signed-in/sign-in-limits.ts';
import type { CheckEndpoint } from '../../src/webhooks/delivery-types.ts';
import { newAccount } from '../store/fixtures.ts';
import { newUser } from '../store/people.ts';
import {
  createTestCallbacks,
  createTestDirectory,
  createTestPaymentContext,
  createTestTokens,
  createWorld,
} from './payment-context.ts';
import { addressLinkTokens } from './refunds.ts';
import { createTestDatabase } from './test-store.ts';

/** Stands for the contract of USDC. */
export const USDC = '0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174';

export const PASSWORD = 'correct horse battery';
const USER_AGENT = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

/**
 * Argon2id with a sixtieth of the memory: nobody guesses here, and at full strength it was most of the time of the tests
 * of signing in. Its own tests and the whole service's use it as it is.
 */
const deriveQuickly: typeof derive = (password, parameters) =>
  derive(password, { ...parameters, memoryKib: 320, passes: 1 });

/** A test that sends notifications says where. */
const notSent: SendNotification = async () => ({ result: 'unsent', reason: 'dns_failed' });

/** A test that checks endpoints says how. */
const notChecked: CheckEndpoint = async () => [];

/** Hashed once for all users of a test file. */
const passwordHash = createPasswords(deriveQuickly).hash(PASSWORD);

export interface Route {
  readonly method: string;
  readonly url: string;
}

export type TestDashboard = Awaited<ReturnType<typeof createTestDashboard>>;

/** Keeps cookies, and sends forms as browsers do; follows nothing by itself. */
export interface TestBrowser {
  readonly cookies: Map<string, string>;
  get(url: string, headers?: Record<string, string>): Promise<LightMyRequestResponse>;
  head(url: string): Promise<LightMyRequestResponse>;
  /** Sends a body as a form of ours would. */
  sendBody(url: string, payload: Buffer, headers: Record<string, string>): Promise<LightMyRequestResponse>;
  /** Sends a form; an empty header is left out. */
  post(
    url: string,
    fields?: Record<string, string>,
    options?: { readonly headers?: Record<string, string> },
  ): Promise<LightMyRequestResponse>;
}

/**
 * The dashboard and the customers' pages as production builds them, over a real store, without a socket.
 *
 * @param baseUrl its scheme decides what the cookies are called
 * @param options `listens`: at the port of `baseUrl`, for a real browser; `hasMail`: whether email is configured; `sendNotification`: sends to channels
 */
export async function createTestDashboard(
  baseUrl = 'https://pay.example.com',
  { listens = false, hasMail = true, sendNotification = notSent, checkEndpoint = notChecked } = {},
) {
  const database = await createTestDatabase();
  const store = await database.open();
  const logLines: string[] = [];
  const mails: Mail[] = [];
  const failures: string[] = [];
  let movedMs = 0;
  let hashedPasswords = 0;
  const nowMs = () => Date.now() + movedMs;
  const monotonicMs = () => performance.now() + movedMs;
  const server = createBaseServer({
    logger: pino({ level: 'trace' }, { write: (line) => logLines.push(line) }),
    trustProxy: [],
  });
  const routes = recordRoutes(server);
  const world = createWorld();
  const tokens = createTestTokens();
  const callbacks = createTestCallbacks(world);
  const limits = createDashboardLimits(monotonicMs);
  const refundContext: RefundRoutesContext = {
    ...store,
    isServiceAddress: async () => false,
    token: USDC,
    chainId: 137,
    addressLinkTokens,
    baseUrl,
    nowMs,
  };
  const context: DashboardContext = {
    ...store,
    tokens,
    create: createTestPaymentContext({ store, world, nowMs, tokens }),
    directory: createTestDirectory({ store, world }),
    explorerTransactionUrl: (hash) => `https://explorer.example.com/tx/${hash}`,
    passwords: createPasswords((...input) => {
      hashedPasswords++;
      return deriveQuickly(...input);
    }),
    secondFactor: {
      box: createSecretBox('second factor', 'a secret key of the tests, long enough'),
      recoveryHash: createKeyedHash('recovery codes', 'a secret key of the tests, long enough'),
    },
    callbacks: {
      refusalOf: async (url) =>
        String(url).startsWith('https://') ? callbacks.refusalOf(url) : 'must be https',
    },
    checkEndpoint,
    pictures: createPictures(),
    browsers: createSecretBox('known browsers', 'a secret key of the tests, long enough'),
    shownOnce: createSecretBox('secrets shown once', 'a secret key of the tests, long enough'),
    signingSecrets: createSecretBox('signing secrets', 'a secret key of the tests, long enough'),
    mailer: hasMail ? { send: async (mail) => void mails.push(mail) } : null,
    limits,
    observeFailure: (step) => failures.push(step),
    nowMs,
    baseUrl,
    party: relyingPartyOf(baseUrl),
    ...paymentAdditions(store),
    isTestMode: false,
    token: USDC,
  };
  const features: FeatureContext = {
    ...store,
    ...refundContext,
    create: context.create,
    notifier: {
      box: createSecretBox('notification channels', 'a secret key of the tests, long enough'),
      send: sendNotification,
    },
    nowMs,
    monotonicMs,
    expiryMs: 7 * 86_400_000,
  };
  registerDashboard(server, context, dashboardFeatures(features));
  registerCheckoutPages(
    server,
    {
      ...store,
      recordOpened: () => {},
      directory: context.directory,
      nowMs,
      expiryMs: features.expiryMs,
      startSession: () => Promise.reject(new Error('no provider is simulated here')),
      quotes: createQuotes({ providers: context.directory, nowMs, monotonicMs, keepMs: 20_000 }),
      pictures: context.pictures,
      limits: createPageLimits(monotonicMs),
      emailHash: createKeyedHash('email of a checkout', 'a secret key of the tests, long enough'),
      baseUrl,
      countryHeader: null,
      isTestMode: false,
      testPayments: null,
      explorerTransactionUrl: context.explorerTransactionUrl,
      token: USDC,
    },
    checkoutFeatures(features),
  );
  const apiLimits = createApiRateLimiters(
    { createPerMinute: 60, statusPerMinute: 120, unauthenticatedPerMinute: 30 },
    monotonicMs,
  );
  const api = {
    ...store,
    create: context.create,
    tokens,
    callbacks,
    limits: apiLimits,
    nowMs,
    baseUrl,
    expiryMs: 7 * 86_400_000,
  };
  registerApi(server, api);
  registerMerchantApi(server, api, merchantFeatures(features, context));
  await (listens
    ? server.listen({ host: '127.0.0.1', port: Number(new URL(baseUrl).port) })
    : server.ready());

  const newBrowser = (address = '192.0.2.10') => createTestBrowser(server, baseUrl, address);

  return {
    store,
    /** What its pages are given. */
    context,
    /** What its features are given. */
    features,
    routes,
    /** Sends a request to the APIs, which the same server has. */
    inject: server.inject.bind(server) as FastifyInstance['inject'],
    nowMs,
    limits,
    monotonicMs,
    /** Somebody else's hand in the database. */
    execute: (sql: string) => database.execute(sql),
    logLines,
    /** How many times Argon2id ran, which is what takes time. */
    hashedPasswords: () => hashedPasswords,
    mails,
    /** The steps at which signing in or a form failed. */
    failures,
    /** A browser that has been nowhere yet. */
    newBrowser,
    /** Moves both clocks. */
    advance(ms: number) {
      movedMs += ms;
    },
    async giveAccount(change?: Partial<Account>) {
      const account = newAccount({ name: 'Tea shop', ...change });
      await store.accounts.createAccount(account);
      return account;
    },
    async giveUser(membership: { accountId: string; role: Role } | null, change?: Partial<User>) {
      const user = newUser({ passwordHash: await passwordHash, ...change });
      await store.people.createUser(user);
      if (membership !== null)
        await store.people.putMembership({ ...membership, userId: user.id, createdAtMs: user.createdAtMs });
      return user;
    },
    signIn: (user: User) => signInTo(context, newBrowser(), user),
    async close() {
      await server.close();
      await store.close();
      await database.remove();
    },
  };
}

/** A browser whose user has signed in: with a session as signing in makes it, but without the hash that it costs. */
export async function signInTo(
  context: Parameters<typeof openSession>[0] & { readonly baseUrl: string },
  browser: TestBrowser,
  user: User,
  how: Partial<Parameters<typeof openSession>[2]> = {},
): Promise<TestBrowser> {
  const caller = { address: '192.0.2.10', userAgent: USER_AGENT };
  // As the store has it: a test may have changed the row since.
  const stored = (await context.people.findUser(user.id)) ?? user;
  const opened = await openSession(context, stored, { area: 'dashboard', stage: 'open', caller, ...how });
  if (opened === null) throw new Error('the session was refused');
  const name = how.area === 'operator' ? 'card_checkout_operator_session' : 'card_checkout_session';
  browser.cookies.set(`${context.baseUrl.startsWith('https:') ? '__Host-' : ''}${name}`, opened.token);
  return browser;
}

/** The routes that the server gets from now on. */
export function recordRoutes(server: FastifyInstance): readonly Route[] {
  const routes: Route[] = [];
  server.addHook('onRoute', ({ method, url }) => {
    for (const each of [method].flat()) routes.push({ method: each, url });
  });
  return routes;
}

/** A browser that has been nowhere yet, of a server without a socket. */
export function createTestBrowser(server: FastifyInstance, baseUrl: string, address: string): TestBrowser {
  const cookies = new Map<string, string>();
  async function send(options: object): Promise<LightMyRequestResponse> {
    const answer = await server.inject({ remoteAddress: address, ...options });
    for (const { name, value, maxAge } of answer.cookies) {
      if (maxAge === 0) cookies.delete(name);
      else cookies.set(name, value);
    }
    return answer;
  }
  const headersOf = (headers: Record<string, string> = {}) => ({
    host: new URL(baseUrl).host,
    'user-agent': USER_AGENT,
    ...(cookies.size === 0 ? {} : { cookie: [...cookies].map((pair) => pair.join('=')).join('; ') }),
    ...headers,
  });
  const get = (url: string, headers?: Record<string, string>) => send({ url, headers: headersOf(headers) });
  return {
    cookies,
    get,
    head: (url) => send({ method: 'HEAD', url, headers: headersOf() }),
    sendBody: (url, payload, headers) =>
      send({
        method: 'POST',
        url,
        payload,
        headers: headersOf({ origin: baseUrl, 'sec-fetch-site': 'same-origin', ...headers }),
      }),
    post(url, fields = {}, { headers = {} } = {}) {
      const given = {
        'content-type': 'application/x-www-form-urlencoded',
        origin: baseUrl,
        'sec-fetch-site': 'same-origin',
        ...headers,
      };
      return send({
        method: 'POST',
        url,
        headers: headersOf(Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''))),
        payload: new URLSearchParams(fields).toString(),
      });
    },
  };
}

/** A page without what differs from answer to answer: nonces and challenges of passkeys. */
export function withoutNonces(page: string): string {
  return page
    .replaceAll(/nonce="[^"]+"/g, 'nonce=""')
    .replaceAll(/name="sealed" value="[^"]+"/g, 'name="sealed" value=""')
    .replaceAll(/data-options="[^"]+"/g, 'data-options=""');
}
