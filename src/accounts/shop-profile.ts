import { createHash } from 'node:crypto';
import type { Address } from '../payment/address.ts';
import { parseCallbackUrl } from '../payment/callback-url.ts';
import { invalidField } from '../payment/errors.ts';
import {
  MAXIMUM_PROVIDER_FEE_BASIS_POINTS,
  MAXIMUM_TOLERANCE_BASIS_POINTS,
  MINIMUM_PROVIDER_FEE_BASIS_POINTS,
} from '../payment/fees-and-paid-threshold.ts';
import { type Currency, currencies, isCurrency, parsePercentBasisPoints } from '../payment/money.ts';
import type { ProviderId } from '../payment/provider-catalog.ts';
import { parseRetentionDays } from '../payment/redact-email.ts';
import { parseLine, readTypedNumber } from '../payment/typed-input.ts';
import { isSecureUrl } from '../platform/public-address.ts';
import { parseBrandColor } from './brand-color.ts';
import { parseReturnHosts } from './return-and-frame-hosts.ts';

export const plainProfile = {
  /** Hash of the logo, which is stored separately; null without a logo. */
  logoHash: null as string | null,
  /** The shop's color on the checkout page (`parseBrandColor`); null for the default. */
  brandColor: null as string | null,
  /** Link to the shop's terms of sale, shown on the checkout page. */
  termsUrl: null as string | null,
  /** Contact for customers: an https URL or a `mailto:` URL. */
  supportUrl: null as string | null,
  /** Return URL after a payment, with `PAYMENT_ID_PLACEHOLDER` for the payment id. */
  returnUrl: null as string | null,
  /** Return URL after a canceled or expired payment; null to use `returnUrl`. */
  failureUrl: null as string | null,
  /** Hosts (`host` or `host:port`) that may frame checkout pages and appear in return URLs of the merchant API. */
  returnHosts: [] as readonly string[],
  /** Sealed webhook signing secrets, oldest first. */
  webhookSecrets: [] as readonly string[],
  /** IANA name of the time zone in which the merchant sees dates. */
  timeZone: 'UTC',
  /** Currency of the merchant's bookkeeping, in which reports also show amounts. */
  baseCurrency: 'USD' as Currency,
  /** Callback URL of payments created in the dashboard. API requests always have their own callback URL. */
  defaultCallbackUrl: null as string | null,
  /** Whether the API refuses payout wallets other than the account's, so that a stolen key cannot redirect money. */
  isWalletLocked: false,
  /** Whether a direct payment that is at most one cent short counts as paid. */
  toleratesMissingCent: false,
  /** Days after which customers' email addresses are erased; null to keep them. */
  emailRetentionDays: null as number | null,
  /** Whether owners receive an email if a webhook fails or a payment needs attention. */
  receivesAlerts: true,
  /** Provider listed first if it is available; null if none is pinned. */
  pinnedProvider: null as ProviderId | null,
  excludedProviders: [] as readonly ProviderId[],
  /** Like `maxProviderFeeBasisPoints`, null to use the operator's setting. */
  toleranceBasisPoints: null as number | null,
  maxProviderFeeBasisPoints: null as number | null,
};

/** Account settings, including those that customers see on the checkout page. */
export type ShopProfile = Readonly<typeof plainProfile>;

/** Parsers of settings by option name. Empty text restores the default, except for the name and the base currency. */
export const textSettings = {
  name: (text) => ({ name: parseName(text) }),
  'brand-color': (text) => ({ brandColor: parseBrandColor(text) }),
  'support-link': (text) => ({ supportUrl: parseSupportUrl(text) }),
  'terms-link': (text) => ({ termsUrl: parseLink('terms-link', text.trim(), 'must be an https address') }),
  'return-link': (text) => ({ returnUrl: parseReturnUrl(text, 'return-link') }),
  'failure-link': (text) => ({ failureUrl: parseReturnUrl(text, 'failure-link') }),
  'return-hosts': (text) => ({ returnHosts: parseReturnHosts(text) }),
  'time-zone': (text) => ({ timeZone: parseTimeZone(text) }),
  'base-currency': (text) => ({ baseCurrency: parseBaseCurrency(text) }),
  'email-retention': (text) => ({
    emailRetentionDays: text === '' ? null : parseRetentionDays(text, 'email-retention'),
  }),
  'tolerance-percent': (text) => ({
    toleranceBasisPoints: parsePercent('tolerance-percent', text, 0, MAXIMUM_TOLERANCE_BASIS_POINTS),
  }),
  'max-provider-fee-percent': (text) => ({
    maxProviderFeeBasisPoints: parsePercent(
      'max-provider-fee-percent',
      text,
      MINIMUM_PROVIDER_FEE_BASIS_POINTS,
      MAXIMUM_PROVIDER_FEE_BASIS_POINTS,
    ),
  }),
} as const satisfies Record<string, (text: string) => Partial<ShopProfile & { readonly name: string }>>;

const MAXIMUM_LINK_CHARACTERS = 500;
const MAXIMUM_NAME_CHARACTERS = 100;
const emailAddress = /^[^\s@<>"'?#&%:/\\,;()[\]]{1,64}@[a-z0-9-]+(?:\.[a-z0-9-]+)+$/i;
export function parseName(text: string): string {
  return parseLine('name', text, MAXIMUM_NAME_CHARACTERS);
}

/** Parses the contact for customers: an https URL or email address. Empty text is null. Throws `invalid_request`. */
export function parseSupportUrl(text: string): string | null {
  const link = text.trim();
  const email = link.replace(/^mailto:/i, '');
  if (email.length <= MAXIMUM_LINK_CHARACTERS && emailAddress.test(email)) return `mailto:${email}`;
  return parseLink('support-link', link, 'must be an https address or an email address');
}

/** Only supported placeholder, so that a return URL reveals neither the note nor the customer's email address. */
const PAYMENT_ID_PLACEHOLDER = '{payment_id}';
/** Text that replaces the placeholder during parsing, because the URL parser would encode its braces. */
const SAMPLE_ID = '00000000-0000-7000-8000-000000000000';

/** Parses a return URL, whose host must be fixed to prevent open redirects; null if empty. Throws `invalid_request`. */
export function parseReturnUrl(
  text: string,
  field: string,
  maximumCharacters = MAXIMUM_LINK_CHARACTERS,
): string | null {
  const link = text.trim().replaceAll(PAYMENT_ID_PLACEHOLDER, SAMPLE_ID);
  const rule = `must be an https address; ${PAYMENT_ID_PLACEHOLDER} may stand in its path or query, and nothing else in braces`;
  if (/[{}]/.test(link)) throw invalidField(field, rule);
  const url = parseLink(field, link, rule, maximumCharacters);
  if (url === null) return null;
  if (new URL(url).host.includes(SAMPLE_ID)) throw invalidField(field, rule);
  return url.replaceAll(SAMPLE_ID, PAYMENT_ID_PLACEHOLDER);
}

export function returnUrlOf(url: string, paymentId: string): string {
  return url.replaceAll(PAYMENT_ID_PLACEHOLDER, paymentId);
}

/** Parses a link that customers follow, and requires https. Empty text is null. Throws `invalid_request`. */
function parseLink(
  field: string,
  link: string,
  rule: string,
  maximumCharacters = MAXIMUM_LINK_CHARACTERS,
): string | null {
  if (link === '') return null;
  if (link.length > maximumCharacters) {
    throw invalidField(field, `must have at most ${maximumCharacters} characters`);
  }
  const url = link.isWellFormed() ? URL.parse(link) : null;
  if (url === null || !isSecureUrl(url) || url.username !== '' || url.password !== '') {
    throw invalidField(field, rule);
  }
  return url.href;
}

/** Throws `invalid_request` for a link that only this machine or a private network can open. */
export function requirePublicLink(field: string, link: string | number | null | undefined): void {
  if (typeof link !== 'string' || link.startsWith('mailto:') || parseCallbackUrl(link, new Set()).ok) return;
  throw invalidField(
    field,
    'must lead to a public host, such as shop.example.com: localhost and private networks work in the sandbox only',
  );
}

/** Parses a time zone to its canonical name. Empty text means UTC. Throws `invalid_request` for an unknown name. */
export function parseTimeZone(text: string): string {
  const name = text.trim();
  if (name === '') return plainProfile.timeZone;
  try {
    // Refuses offsets, because they ignore daylight saving time.
    if (!/^[+-]/.test(name)) {
      return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  throw invalidField('time-zone', 'must be the name of a time zone, such as Europe/Berlin');
}

function parseBaseCurrency(text: string): Currency {
  if (isCurrency(text)) return text;
  throw invalidField('base-currency', `must be one of ${currencies.join(', ')}`);
}

/** Parses a percentage as basis points. Empty text is null. Throws `invalid_request` if malformed or out of range. */
function parsePercent(field: string, text: string, minimum: number, maximum: number): number | null {
  const percent = text.trim();
  if (percent === '') return null;
  const basisPoints = parsePercentBasisPoints(readTypedNumber(percent, 'percent', 2) ?? '');
  if (basisPoints !== null && basisPoints >= minimum && basisPoints <= maximum) return basisPoints;
  throw invalidField(
    field,
    `must be a percentage from ${minimum / 100} to ${maximum / 100} with at most two decimals`,
  );
}

/** Refuses a wallet lock without a wallet, which would make the API refuse every checkout. */
export function requireWalletForLock(wallet: Address | null, isWalletLocked: boolean): void {
  if (isWalletLocked && wallet === null) {
    throw invalidField('lock-wallet', 'requires a wallet');
  }
}

/** Shop's logo as a PNG. This service hosts the logo, so that customers' browsers do not contact other hosts. */
export interface ShopLogo {
  /** First 32 hex digits of the SHA-256 of `bytes`. */
  readonly hash: string;
  readonly bytes: Uint8Array;
}

export const MAXIMUM_LOGO_BYTES = 64 * 1024;
/** Maximum width and height of an uploaded picture, because a small file can expand to an enormous picture. */
export const MAXIMUM_LOGO_PIXELS = 1024;
/** Maximum width and height of a stored logo, twice the largest size on a page. */
export const STORED_LOGO_PIXELS = 320;

/** @param bytes a PNG that the service itself has encoded */
export function shopLogoOf(bytes: Uint8Array): ShopLogo {
  return { hash: createHash('sha256').update(bytes).digest('hex').slice(0, 32), bytes };
}
