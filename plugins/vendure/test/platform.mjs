// @ts-nocheck: plain JavaScript with packages that only its own installation has.
/** A real Vendure on a real PostgreSQL with the plugin, and a sandbox of card-checkout that reaches its webhook by HTTPS. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { CardCheckoutPlugin } from '@card-checkout/vendure';
import { bootstrap, DefaultLogger, DefaultSchedulerPlugin, LanguageCode, Populator } from '@vendure/core';

const root = join(process.env.CARD_CHECKOUT_PROGRAM, '..', '..');
const support = (name) => import(join(root, 'test', 'support', name));

export async function until(what, check, boundMs = 60_000) {
  for (const endMs = Date.now() + boundMs; Date.now() < endMs; await delay(250)) {
    const result = await check();
    if (result) return result;
  }
  throw new Error(`${what} did not happen within ${boundMs / 1000} s`);
}

/** Creates the secret that signs webhooks, as the owner does in the dashboard. */
async function createWebhookSecret(url, dataDir) {
  const { email, password } = JSON.parse(readFileSync(join(dataDir, 'sandbox-demo-account.json'), 'utf8'));
  const cookies = new Map();
  async function send(path, form) {
    const response = await fetch(url + path, {
      method: form ? 'POST' : 'GET',
      redirect: 'manual',
      headers: {
        cookie: [...cookies].map((pair) => pair.join('=')).join('; '),
        ...(form ? { origin: url, 'sec-fetch-site': 'same-origin' } : {}),
      },
      ...(form ? { body: new URLSearchParams(form) } : {}),
    });
    for (const cookie of response.headers.getSetCookie())
      cookies.set(...cookie.split(';')[0].split(/=(.*)/s));
    return { page: await response.text(), location: response.headers.get('location') };
  }
  const field = (page, name) => new RegExp(`name="${name}" value="([^"]+)"`).exec(page)?.[1] ?? '';
  const signIn = await send('/dashboard/sign-in');
  await send('/dashboard/sign-in', { email, password, form_token: field(signIn.page, 'form_token') });
  const { page } = await send('/dashboard/webhook-check');
  const form = { password, secrets: field(page, 'secrets'), form_token: field(page, 'form_token') };
  const { location } = await send('/dashboard/webhook-check/create', form);
  const shown = (await send(location)).page.replaceAll('&#x3D;', '=').replaceAll('&#61;', '=');
  return /whsec_[A-Za-z0-9+/]{43}=/.exec(shown)[0];
}

/** HTTPS in front of Vendure. While `isLost` is set, it keeps webhooks, and Vendure hears nothing of them. */
async function startFront(authority, target) {
  const { certPem, keyPem } = await authority.issue({ names: ['localhost'] });
  const front = { isLost: false, kept: [], statuses: [] };
  const server = createServer({ cert: certPem, key: keyPem }, async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    const { host: _, 'content-length': __, connection: ___, ...headers } = request.headers;
    front.kept.push({ body, headers });
    const status = front.isLost
      ? 503
      : (await fetch(target + request.url, { method: request.method, headers, body })).status;
    front.statuses.push(status);
    response.writeHead(status).end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  front.host = `localhost:${server.address().port}`;
  front.stop = () => {
    server.close();
    server.closeAllConnections();
  };
  return front;
}

/** Keeps what Vendure logs, and prints its errors. */
class KeptLog extends DefaultLogger {
  text = '';
  constructor() {
    super({ timestamp: false });
  }
  keep(message, context) {
    this.text += `${context}: ${message}\n`;
  }
  info(...words) {
    this.keep(...words);
  }
  warn(...words) {
    this.keep(...words);
  }
  error(...words) {
    this.keep(...words);
    if (process.env.VERBOSE) super.error(...words);
  }
}

const initialData = {
  defaultLanguage: LanguageCode.en,
  defaultZone: 'Europe',
  countries: [{ code: 'DE', name: 'Germany', zone: 'Europe' }],
  taxRates: [{ name: 'Standard', percentage: 19 }],
  shippingMethods: [{ name: 'Parcel', price: 495 }],
  paymentMethods: [],
  collections: [],
};

/** A product of 10.00, the payment method, and a second channel in German and euros. Returns the ids. */
async function seed(admin) {
  await admin('mutation { login(username: "admin", password: "admin") { __typename } }');
  const { createProduct } = await admin(
    `mutation { createProduct(input: { translations: [
      { languageCode: en, name: "Tea", slug: "tea", description: "" },
      { languageCode: de, name: "Tee", slug: "tee", description: "" }] }) { id } }`,
  );
  const { createProductVariants } = await admin(
    `mutation ($product: ID!) { createProductVariants(input: [{ productId: $product, sku: "tea", price: 1000, stockOnHand: 5000,
      translations: [{ languageCode: en, name: "Tea, 100 g" }, { languageCode: de, name: "Tee, 100 g" }] }]) { id } }`,
    { product: createProduct.id },
  );
  const { createPaymentMethod } = await admin(
    `mutation { createPaymentMethod(input: { code: "card", enabled: true,
      handler: { code: "card-checkout", arguments: [] }, checker: { code: "card-checkout", arguments: [] },
      translations: [{ languageCode: en, name: "Card", description: "" }] }) { id } }`,
  );
  const { activeChannel, zones, sellers, shippingMethods, stockLocations } = await admin(
    `{ activeChannel { id } zones { items { id } } sellers { items { id } }
      shippingMethods { items { id } } stockLocations { items { id } } }`,
  );
  const zone = zones.items[0].id;
  await admin(
    `mutation ($channel: ID!) { updateGlobalSettings(input: { availableLanguages: [en, de] }) { __typename }
      updateChannel(input: { id: $channel, availableLanguageCodes: [en, de] }) { __typename } }`,
    { channel: activeChannel.id },
  );
  const { createChannel } = await admin(
    `mutation ($zone: ID!, $seller: ID!) { createChannel(input: { code: "europe", token: "europe-token", defaultLanguageCode: de,
      availableLanguageCodes: [de, en], defaultCurrencyCode: EUR, pricesIncludeTax: true, defaultTaxZoneId: $zone,
      defaultShippingZoneId: $zone, sellerId: $seller }) { ... on Channel { id } ... on ErrorResult { message } } }`,
    { zone, seller: sellers.items[0].id },
  );
  const variant = createProductVariants[0].id;
  const ids = {
    channel: createChannel.id,
    variants: [variant],
    methods: [createPaymentMethod.id],
    shipping: shippingMethods.items.map(({ id }) => id),
    locations: stockLocations.items.map(({ id }) => id),
  };
  await admin(
    `mutation ($channel: ID!, $variants: [ID!]!, $methods: [ID!]!, $shipping: [ID!]!, $locations: [ID!]!) {
      assignProductVariantsToChannel(input: { channelId: $channel, productVariantIds: $variants, priceFactor: 0.9 }) { id }
      assignPaymentMethodsToChannel(input: { channelId: $channel, paymentMethodIds: $methods }) { id }
      assignShippingMethodsToChannel(input: { channelId: $channel, shippingMethodIds: $shipping }) { id }
      assignStockLocationsToChannel(input: { channelId: $channel, stockLocationIds: $locations }) { id } }`,
    ids,
  );
  return { variant, europe: 'europe-token', shipping: ids.shipping[0], method: createPaymentMethod.id };
}

export async function startPlatform() {
  process.env.VENDURE_DISABLE_TELEMETRY = 'true';
  const { startPostgres } = await support('postgres.ts');
  const { startEndToEndService } = await support('e2e-service.ts');
  const { createTestCertificateAuthority } = await support('certificates.ts');
  const { freePorts } = await support('free-ports.ts');
  const { runCommand } = await support('service-process.ts');
  const stops = [];
  const stop = async () => {
    for (const each of stops.reverse()) await each();
  };
  try {
    const [port] = await freePorts(1);
    const url = `http://localhost:${port}`;
    const authority = await createTestCertificateAuthority();
    const front = await startFront(authority, url);
    stops.push(front.stop);
    const service = await startEndToEndService(
      {},
      { others: { hosts: [front.host], caPem: authority.caPem } },
    );
    stops.push(service.stop);
    const card = (...words) => runCommand(service.environment, ...words);
    const { account_id: account } = JSON.parse(await card('account list --json'))[0];
    const allowReturnHosts = (hosts) => card('account update', account, '--return-hosts', hosts);
    await allowReturnHosts(new URL(url).host);
    const webhookSecret = await createWebhookSecret(service.url, service.environment.DATA_DIR);
    const postgres = await startPostgres();
    stops.push(postgres.stop);
    const databaseUrl = await postgres.createDatabase();
    const apiKey = service.process().demoKey();
    const log = new KeptLog();
    const config = {
      logger: log,
      apiOptions: { port, hostname: '127.0.0.1', shopApiPath: 'shop-api', adminApiPath: 'admin-api' },
      authOptions: {
        tokenMethod: 'bearer',
        superadminCredentials: { identifier: 'admin', password: 'admin' },
      },
      dbConnectionOptions: { type: 'postgres', url: databaseUrl, synchronize: true },
      schedulerOptions: { runTasksInWorkerOnly: false },
      plugins: [
        DefaultSchedulerPlugin.init({ manualTriggerCheckInterval: 500 }),
        CardCheckoutPlugin.init({
          url: service.url,
          apiKey,
          webhookSecret,
          callback: `https://${front.host}/card-checkout/webhook`,
          returnUrl: `${url}/{channel}/{language}/confirmation/{order_code}`,
        }),
      ],
    };
    const app = await bootstrap(config);
    stops.push(() => app.close());
    await app.get(Populator).populateInitialData(initialData);
    const admin = connect(url, 'admin-api');
    const seeded = await seed(admin.send);
    return {
      url,
      admin: admin.send,
      seeded,
      front,
      service,
      webhookSecret,
      apiKey,
      allowReturnHosts,
      readLog: () => log.text,
      pay: (id, ...words) => card('sandbox', 'pay', id, ...words),
      transferRefund: (id) => card('sandbox', 'refund', id),
      query: (sql) => postgres.query(databaseUrl, sql),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A client of one of Vendure's APIs, which keeps its session. Throws on an error; errors as results are returned. */
export function connect(url, api, { channel, language } = {}) {
  let token = null;
  const answers = [];
  async function send(query, variables = {}) {
    const response = await fetch(`${url}/${api}${language ? `?languageCode=${language}` : ''}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(token ? { authorization: `Bearer ${token}` } : {}),
        ...(channel ? { 'vendure-token': channel } : {}),
      },
      body: JSON.stringify({ query, variables }),
    });
    token = response.headers.get('vendure-auth-token') ?? token;
    const text = await response.text();
    answers.push(text);
    const { data, errors } = JSON.parse(text);
    if (errors) throw new Error(errors.map(({ message }) => message).join('; '));
    return data;
  }
  return { send, answers };
}
