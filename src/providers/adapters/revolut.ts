/** Revolut Ramp: the partner API creates the customer's URL, which must lock wallet, amount and asset. */
import { formatCents } from '../../payment/money.ts';
import type { SessionProgress } from '../../payment/provider-session.ts';
import { createTtlCache } from '../../platform/ttl-cache.ts';
import type { QuoteRequest, SessionRequest } from '../provider.ts';
import { defineProvider } from './define-provider.ts';
import * as answers from './provider-http.ts';
import * as variable from './provider-variables.ts';
import * as webhooks from './webhook-signature.ts';

/** Lifetime of the cached asset, which rarely changes. */
const ASSET_KEEP_MS = 60 * 60_000;
const progressOfEvent: ReadonlyMap<unknown, SessionProgress> = new Map([
  ['ORDER_CREATED', 'paying'],
  ['ORDER_PROCESSING', 'delivering'],
  ['ORDER_COMPLETED', 'delivered'],
  ['ORDER_FAILED', 'failed'],
]);

export const revolut = defineProvider({
  id: 'revolut',
  hosts: {
    api: {
      production: 'https://ramp-partners.revolut.com',
      sandbox: 'https://ramp-partners.revolut.codes',
    },
  },
  variables: [
    variable.secret('API_KEY', 'The API key; without it, the provider is inactive.'),
    variable.webhookSecret('WEBHOOK_SECRET', "The webhook's signing secret (`wsk_…`)"),
    ...variable.environment,
  ],
  traits: { currenciesSold: ['USD', 'EUR', 'CAD'], needsCountry: true, withholdsEmail: true },
  facts: {
    inferred: [
      'Fees are taken out of `amount`: a quote is described as one "including fees", its `crypto.amount` as what the customer receives.',
    ],
    unknown: [
      'Whether the page keeps the customer to `payment`; whether one `orderId` may be started twice; whether Canada and the United States are served.',
    ],
  },
  means: { card: 'card', apple_pay: 'apple-pay', google_pay: 'google-pay' },
  fees: 'included',
  account({ urls, monotonicMs = () => performance.now(), readUsdcContract }) {
    const apiUrl = `${urls.api}/partners/api/2.0`;
    const assets = createTtlCache<string>({ monotonicMs, keepMs: ASSET_KEEP_MS, maximumEntries: 1 });
    const readConfig = (call: answers.Call) => call.fields({ url: `${apiUrl}/config` });
    /** Returns the entry for USDC on Polygon. Throws if it states a contract other than USDC's. */
    function assetIn({ crypto }: answers.AnswerFields): answers.AnswerFields {
      const isUsdc = ({ currency, blockchain }: answers.AnswerFields) =>
        currency === 'USDC' && blockchain === 'POLYGON';
      const asset = answers.entryOf(crypto, 'USDC on Polygon', isUsdc);
      readUsdcContract(asset['smartContractAddress']);
      return asset;
    }
    return {
      apiUrl,
      readConfig,
      assetIn,
      readAsset: (call: answers.Call) =>
        assets.fetchOrReuse('', async () => answers.readReference(assetIn(await readConfig(call))['id'])),
    };
  },
  headers: ({ apiKey }) => ({ 'x-api-key': apiKey }),

  async readCatalog({ readConfig, assetIn }, request, call) {
    const config = await readConfig(call);
    const asset = assetIn(config);
    const { customerCountry = null } = request;
    const { countries } = config;
    if (customerCountry !== null && Array.isArray(countries) && !countries.includes(customerCountry))
      throw answers.countryNotServed('revolut', customerCountry);
    const fiat = answers.listOf(config['fiat']).find(({ currency }) => currency === request.currency);
    return {
      asset: answers.readReference(asset['id']),
      tokenContract: answers.readTextOrNull(asset['smartContractAddress']),
      ...answers.limitsOf(fiat, 'min_limit', 'max_limit'),
    };
  },

  async quote({ apiUrl, methodOf, readConfig, readAsset }, request, call) {
    const country = request.customerCountry ?? null;
    // Without a country, there is no price, but the configuration shows availability and minimum.
    if (country === null) {
      const { fiat } = await readConfig(call);
      const sold = answers.entryOf(fiat, request.currency, ({ currency }) => currency === request.currency);
      const minimumUsdCents = answers.minimumUsdCentsOf(sold['min_limit'], 'min_limit', request);
      return { deliveryUnits: null, minimumUsdCents };
    }
    const asset = await readAsset(call);
    const quote = await call.ofCustomer.fields({
      url: `${apiUrl}/quote`,
      query: purchaseOf(request, country, asset, methodOf(request)),
    });
    const { amount, currencyId } = answers.fieldsOf(quote['crypto']);
    if (currencyId !== asset) throw new answers.MalformedAnswerError('the quote is for another asset');
    return { deliveryUnits: answers.readDecimalUnits(amount, 'crypto.amount') };
  },

  async startSession({ apiUrl, methodOf, readAsset }, request, call) {
    const country = request.customerCountry ?? null;
    if (country === null) throw new TypeError('a session at Revolut needs the country of the customer');
    const asset = await readAsset(call);
    const { ramp_redirect_url: url } = await call.ofCustomer.fields({
      url: `${apiUrl}/buy`,
      query: {
        ...purchaseOf(request, country, asset, methodOf(request)),
        wallet: request.depositAddress,
        orderId: request.paymentId,
        partnerRedirectUrl: request.returnUrl,
      },
    });
    const redirectUrl = answers.readRedirectUrl(url);
    requireLocked(redirectUrl, request, asset);
    return { redirectUrl };
  },

  async readWebhook({ webhookSecret }, webhook) {
    const time = webhook.headers['revolut-request-timestamp'];
    const signedAtMs = webhooks.readSignedTime(time);
    const signatures = webhooks.readSignatureHeader(webhook.headers['revolut-signature']).get('v1') ?? [];
    webhooks.requireHmac(webhookSecret, [`v1.${time}.`, webhook.body], signatures);
    webhooks.requireRecent(signedAtMs, webhook.receivedAtMs);

    const { order_id: paymentId, wallet, event } = webhooks.readWebhookFields(webhook.body);
    if (typeof paymentId !== 'string') return null;
    if (typeof event === 'string' && event.startsWith('SELL_ORDER_')) return null;
    const progress = webhooks.readProgress('revolut', progressOfEvent, event);
    return { paymentId, walletAddress: answers.readTextOrNull(wallet), progress, atMs: signedAtMs };
  },
});

function purchaseOf(
  request: QuoteRequest,
  country: string,
  asset: string,
  payment: string,
): Readonly<Record<string, string>> {
  return {
    fiat: request.currency,
    amount: formatCents(request.amountCents),
    crypto: asset,
    payment,
    region: country,
  };
}

/** Requires a URL that locks this purchase and states each of its values exactly once. */
function requireLocked(redirectUrl: string, request: SessionRequest, asset: string): void {
  const { searchParams } = new URL(redirectUrl);
  const stated = Object.fromEntries(
    [...searchParams.keys()].map((name) => [name, searchParams.getAll(name).join()]),
  );
  answers.requireStated(stated, {
    walletAddress: request.depositAddress,
    // The amount is in minor units.
    amount: String(request.amountCents),
    fiatCurrency: request.currency,
    cryptoCurrency: asset,
    disableWalletAddress: 'true',
    disableFiatAmount: 'true',
    disableCryptoCurrency: 'true',
  });
}
