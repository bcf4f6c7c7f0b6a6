/**
 * Ramp Network: the customer opens a widget URL, signed if the operator has a signing key. **Without a signing key, the
 * URL is not locked**: a customer who changes it pays to another wallet, and the checkout stays unpaid. There is no
 * separate field for the payment id, so the id is in the query of the webhook URL, which the webhook's signature does
 * not cover. Therefore, the wallet in a webhook must be the payment's deposit address.
 */
import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { formatCents } from '../../payment/money.ts';
import type { SessionProgress } from '../../payment/provider-session.ts';
import { ProviderWebhookRefusedError } from '../provider.ts';
import { defineProvider } from './define-provider.ts';
import * as answers from './provider-http.ts';
import { fieldsOf, MalformedAnswerError, readCentsOrNull, readTextOrNull } from './provider-http.ts';
import * as variable from './provider-variables.ts';
import { readProgress, readWebhookFields, readWebhookTimeMs } from './webhook-signature.ts';

/** Native USDC; `MATIC_USDCE` is bridged USDC. */
const ASSET = 'MATIC_USDC';
const PAYMENT_PARAMETER = 'payment_id';

/** Bound for a secp256k1 signature in DER, which has at most 72 bytes, or 96 characters in base64. */
const MAXIMUM_SIGNATURE_CHARACTERS = 120;

const progressOfStatus: ReadonlyMap<unknown, SessionProgress> = new Map([
  ['INITIALIZED', 'paying'],
  ['PAYMENT_STARTED', 'paying'],
  ['PAYMENT_IN_PROGRESS', 'paying'],
  ['PAYMENT_EXECUTED', 'delivering'],
  ['FIAT_SENT', 'delivering'],
  ['FIAT_RECEIVED', 'delivering'],
  ['RELEASING', 'delivering'],
  ['RELEASED', 'delivered'],
  ['PAYMENT_FAILED', 'failed'],
  ['EXPIRED', 'failed'],
  ['CANCELLED', 'failed'],
  ['REVIEW_REJECTED', 'failed'],
]);

export const rampnetwork = defineProvider({
  id: 'rampnetwork',
  hosts: {
    widget: { production: 'https://app.rampnetwork.com', sandbox: 'https://app.demo.rampnetwork.com' },
    api: { production: 'https://api.rampnetwork.com', sandbox: 'https://api.demo.rampnetwork.com' },
  },
  variables: [
    variable.secret('API_KEY', 'The host API key; without it, the provider is inactive.'),
    variable.optionalSecret(
      'SIGNING_KEY',
      'The Ed25519 private key (PEM, or PKCS #8 in base64) that signs session URLs; without it, customers can alter them.',
    ),
    variable.webhookSecret('WEBHOOK_PUBLIC_KEY', "Ramp Network's key (PEM) for webhooks"),
    ...variable.environment,
  ],
  facts: {
    inferred: [
      '`outAsset` only preselects, and `enabledCryptoAssets` locks the asset (bitpay/bitcore).',
      '`fiatValue` is the total that the customer pays, and `appliedFee` a part of it (comments in the code of BitPay and other wallets).',
      '"MATIC_USDC" is native USDC, "MATIC_USDCE" is bridged; `GET /api/host-api/v3/assets` with contract and limits (bitpay/bitcore).',
      '`paymentMethodType` is "CARD_PAYMENT", "APPLE_PAY" or "GOOGLE_PAY", which are also the names in a quote (code of public wallets); the quote; the signed URL (Ed25519 over `query&timestamp=ms`); a webhook of type `RETURNED` is a failure.',
    ],
    unknown: ['Whether anything but a signed URL keeps a customer from changing what is in it.'],
  },
  means: { card: 'CARD_PAYMENT', apple_pay: 'APPLE_PAY', google_pay: 'GOOGLE_PAY' },
  fees: 'included',
  account: (settings) => ({
    signingKey: settings.keyOrNull('SIGNING_KEY', readSigningKey),
    webhookKey: settings.keyOrNull('WEBHOOK_PUBLIC_KEY', readWebhookKey),
  }),

  async readCatalog({ urls, apiKey, readUsdcContract }, request, call) {
    const { assets } = await call.fields({
      url: `${urls.api}/api/host-api/v3/assets`,
      query: { hostApiKey: apiKey, currencyCode: request.currency },
      maximumBytes: answers.CATALOG_BYTES,
    });
    const isSold = ({ chain, symbol, enabled }: answers.AnswerFields) =>
      `${chain}_${symbol}` === ASSET && enabled !== false;
    const entry = answers.entryOf(assets, ASSET, isSold);
    const tokenContract = readUsdcContract(entry['address']);
    return {
      asset: ASSET,
      tokenContract,
      ...answers.limitsOf(entry, 'minPurchaseAmount', 'maxPurchaseAmount'),
    };
  },

  async quote({ urls, apiKey, methodOf }, request, call) {
    const body = await call.fields({
      url: `${urls.api}/api/host-api/v3/onramp/quote/all`,
      query: { hostApiKey: apiKey },
      body: {
        cryptoAssetSymbol: ASSET,
        fiatCurrency: request.currency,
        fiatValue: Number(formatCents(request.amountCents)),
      },
    });
    const { cryptoAmount: amount, fiatValue } = fieldsOf(body[methodOf(request)]);
    if (typeof amount !== 'string' || !/^[1-9]\d{0,17}$/.test(amount))
      throw new MalformedAnswerError('cryptoAmount is not an amount');
    return {
      chargedCents: readCentsOrNull(fiatValue, 'fiatValue') ?? request.amountCents,
      deliveryUnits: BigInt(amount),
    };
  },

  async startSession({ urls, apiKey, methodOf, webhookUrl, signingKey, nowMs }, request) {
    const { customerCountry = null } = request;
    const query = new URLSearchParams({
      hostApiKey: apiKey,
      outAsset: ASSET,
      inAsset: request.currency,
      // In minor units, because "100.00" would be refused or taken for 100 cents.
      inAssetValue: String(request.amountCents),
      enabledCryptoAssets: ASSET,
      paymentMethodType: methodOf(request),
      ...(customerCountry === null ? {} : { selectedCountryCode: customerCountry }),
      userAddress: request.depositAddress,
      enabledFlows: 'ONRAMP',
      defaultFlow: 'ONRAMP',
      finalUrl: request.returnUrl,
      webhookStatusUrl: `${webhookUrl}?${PAYMENT_PARAMETER}=${request.paymentId}`,
      ...(request.email === null ? {} : { userEmailAddress: request.email }),
    }).toString();
    if (signingKey === null) return { redirectUrl: `${urls.widget}/?${query}` };
    const signed = `${query}&timestamp=${nowMs()}`;
    const signature = sign(null, Buffer.from(signed), signingKey).toString('base64');
    return { redirectUrl: `${urls.widget}/?${signed}&signature=${encodeURIComponent(signature)}` };
  },

  async readWebhook({ webhookKey }, webhook) {
    const signature = readSignature(webhook.headers['x-body-signature']);
    // The signature covers the JSON with sorted keys, not the received bytes, so parsing comes before verification.
    const fields = readWebhookFields(webhook.body);
    const content = Buffer.from(sortedJson(fields));
    if (webhookKey === null || !verify('sha256', content, webhookKey, signature))
      throw new ProviderWebhookRefusedError('the signature is not that of the webhook');
    const purchase = fields['purchase'] ?? null;
    const paymentId = new URL(webhook.target, 'http://localhost').searchParams.get(PAYMENT_PARAMETER);
    if (purchase === null || paymentId === null) return null;
    const { status, updatedAt, receiverAddress: walletAddress, asset } = fieldsOf(purchase);
    if (typeof walletAddress !== 'string') throw new MalformedAnswerError('the webhook names no wallet');
    // `RETURNED` means that the customer got the money back, whatever the status.
    const progress =
      fields['type'] === 'RETURNED' ? 'failed' : readProgress('rampnetwork', progressOfStatus, status);
    const atMs = readWebhookTimeMs(updatedAt, webhook.receivedAtMs);
    const tokenContract = readTextOrNull(fieldsOf(asset ?? {})['address']);
    return { paymentId, walletAddress, tokenContract, progress, atMs };
  },
});

/** Reads an ECDSA signature in DER. Rejects other bytes before the webhook is parsed. */
function readSignature(header: string | undefined): Buffer {
  const signature = Buffer.from((header ?? '').slice(0, MAXIMUM_SIGNATURE_CHARACTERS), 'base64');
  // Requires a DER sequence whose length field matches.
  if (signature[0] !== 0x30 || signature[1] !== signature.length - 2)
    throw new ProviderWebhookRefusedError('the webhook has no signature');
  return signature;
}

/** Maximum nesting, so that strangers cannot exhaust the stack. Real webhooks have four levels. */
const MAXIMUM_DEPTH = 32;

/** Serializes JSON without spaces, with each object's keys sorted by code units. */
function sortedJson(value: unknown, depth = 0): string {
  if (depth > MAXIMUM_DEPTH) throw new ProviderWebhookRefusedError('the webhook is nested too deeply');
  const inner = (each: unknown) => sortedJson(each, depth + 1);
  if (Array.isArray(value)) return `[${value.map(inner).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([name, each]) => `${JSON.stringify(name)}:${inner(each)}`).join(',')}}`;
}

/** Parses an Ed25519 private key: PEM, or DER (PKCS #8) in base64. Returns null if it is invalid. */
function readSigningKey(text: string): KeyObject | null {
  const read = () =>
    text.includes('-----BEGIN')
      ? createPrivateKey(text)
      : createPrivateKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'pkcs8' });
  return keyOf(read, 'ed25519');
}

/** Parses a secp256k1 public key in PEM. Returns null if it is invalid. */
function readWebhookKey(pem: string): KeyObject | null {
  const key = keyOf(() => createPublicKey(pem), 'ec');
  return key?.asymmetricKeyDetails?.namedCurve === 'secp256k1' ? key : null;
}

function keyOf(create: () => KeyObject, type: string): KeyObject | null {
  try {
    const key = create();
    return key.asymmetricKeyType === type ? key : null;
  } catch {
    return null;
  }
}
