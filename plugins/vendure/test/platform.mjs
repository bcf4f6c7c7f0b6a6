// @ts-nocheck: plain JavaScript with packages that only its own installation has.
/** A real Vendure on a real PostgreSQL with the plugin, and a sandbox of card-checkout that reaches its webhook by HTTPS. */
import { join } from 'node:path';
import { CardCheckoutPlugin } from '@card-checkout/vendure';
import { bootstrap, DefaultLogger, DefaultSchedulerPlugin, LanguageCode, Populator } from '@vendure/core';

const root = join(process.env.CARD_CHECKOUT_PROGRAM, '..', '..');
const support = (name) => import(join(root, 'test', 'support', name));

export const { until } = await support('shop-platform.ts');

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
  const { startShopService } = await support('shop-platform.ts');
  const { freePorts } = await support('free-ports.ts');
  const stops = [];
  const stop = async () => {
    for (const each of stops.reverse()) await each();
  };
  try {
    const [port] = await freePorts(1);
    const url = `http://localhost:${port}`;
    const shared = await startShopService(url, stops);
    const { front, service, card, allowReturnHosts, webhookSecret, databaseUrl, query } = shared;
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
      query,
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
