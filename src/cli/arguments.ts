import {
  type AccountUpdate,
  DEFAULT_FEE_BASIS_POINTS,
  type NewAccount,
  type ProfileUpdate,
  requireFee,
  textSettingNames,
} from '../accounts/manage-accounts.ts';
import { roles } from '../accounts/person.ts';
import { parseName } from '../accounts/shop-profile.ts';
import { type Address, parsePayoutAddress } from '../payment/address.ts';
import { features } from '../payment/create-payment.ts';
import { checkFields, invalidField } from '../payment/errors.ts';
import { currencies, parseAmountCents, parsePercentBasisPoints, parseUnits } from '../payment/money.ts';
import type { PaymentId } from '../payment/payment.ts';
import { isPaymentId } from '../payment/payment-id.ts';
import type { PaymentQuery } from '../payment/payment-search.ts';
import type { PaymentFilter } from '../payment/payment-store.ts';
import { isProviderId, type ProviderId, providerIds } from '../payment/provider-catalog.ts';
import { doubtAbout } from '../payment/unusual-address.ts';
import { canonicalPublicAddress } from '../platform/public-address.ts';
import type { ProviderSettings } from '../providers/provider.ts';
import { parsePaymentQuery, paymentStatuses } from '../reports/parse-payment-query.ts';
import type { OperationArguments } from './operations-context.ts';

// Readers of single arguments. Each throws an `invalid_request` that names the option.

export function optional(args: OperationArguments, name: string): string | null {
  const value = args[name];
  return typeof value === 'string' ? value : null;
}

export function required(args: OperationArguments, name: string): string {
  const value = optional(args, name);
  if (value === null || value === '') throw invalidField(name, 'is missing');
  return value;
}

/** Creates a reader of an option that returns null if the option is absent. `parse` returns null for invalid text. */
function optionalAs<Value>(parse: (text: string) => Value | null, problem: string) {
  return (args: OperationArguments, name: string): Value | null => {
    const text = optional(args, name);
    if (text === null) return null;
    const value = parse(text);
    if (value === null) throw invalidField(name, problem);
    return value;
  };
}

function optionalOneOf<Value extends string>(values: readonly Value[]) {
  return optionalAs((text) => values.find((value) => value === text) ?? null, oneOf(values));
}

const oneOf = (values: readonly string[]) => `must be one of ${values.join(', ')}`;

export const optionalPercent = optionalAs(
  parsePercentBasisPoints,
  'must be a percentage with at most two decimals',
);
export const optionalAddress = optionalAs(
  parsePayoutAddress,
  'must be a non-zero address (0x…) with a valid checksum',
);
export const optionalEmail = optionalAs(
  (text) => (text.length <= 254 && /^[^\s@<>]+@[^\s@<>]+$/.test(text) ? text : null),
  'must be an email address',
);
export const optionalTime = optionalAs((text) => {
  const timeMs = /^\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:\d\d))?$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(timeMs) ? null : timeMs;
}, 'must be a time like 2026-11-01T00:00:00Z, or a day');
export const optionalBlock = optionalAs(
  (text) => (/^\d{1,15}$/.test(text) ? Number(text) : null),
  'must be the number of a block',
);
export const optionalUnits = optionalAs(
  (text) => parseUnits(text) || null,
  'must be a positive amount with at most six decimals',
);
export const optionalAmountCents = optionalAs(
  parseAmountCents,
  'must be from 0.01 to 10000 with at most two decimals',
);
export const optionalCurrency = optionalOneOf(currencies);
export const optionalCountry = optionalAs(
  (text) => (/^[A-Z]{2}$/.test(text) ? text : null),
  'must be a two-letter country code in capitals, such as DE',
);
export const optionalNote = optionalAs(
  (text) => (text.length <= 500 ? text : null),
  'must be at most 500 characters long',
);
export const optionalPublicIp = optionalAs(canonicalPublicAddress, 'must be a public IP address');
export const optionalRole = optionalOneOf(roles);
const optionalFeature = optionalOneOf(features);
const optionalStatus = optionalOneOf(paymentStatuses);
const onOrOff: Readonly<Record<string, boolean>> = { on: true, off: false };
const optionalOnOrOff = optionalAs((text) => onOrOff[text] ?? null, 'must be on or off');

export function requiredPaymentId(args: OperationArguments, name: string): PaymentId {
  const value = required(args, name);
  if (!isPaymentId(value)) throw invalidField(name, 'must be a payment id, the payment_id of a create');
  return value;
}

export function requiredProvider(args: OperationArguments, name: string): ProviderId {
  const value = required(args, name);
  if (!isProviderId(value)) throw invalidField(name, oneOf(providerIds));
  return value;
}

/** @param wayOut how to confirm a wallet that looks like a mistake */
export async function newAccount(args: OperationArguments, wayOut?: string): Promise<NewAccount> {
  const { 'fee-percent': feeBasisPoints, ...fields } = await checkFields({
    name: () => parseName(required(args, 'name')),
    email: () => optionalEmail(args, 'email'),
    'fee-percent': () => requireFee(optionalPercent(args, 'fee-percent') ?? DEFAULT_FEE_BASIS_POINTS),
    wallet: () => optionalWallet(args, wayOut),
  });
  return { ...fields, feeBasisPoints };
}

export function accountUpdate(args: OperationArguments): AccountUpdate {
  const providers = optional(args, 'providers');
  return {
    ...given('feeBasisPoints', optionalPercent(args, 'fee-percent')),
    profile: profileUpdate(args),
    ...(providers === null ? {} : { providers: providerList(providers) }),
    ...given('suspended', optionalSwitch(args, 'suspend', 'resume')),
    ...given('enable', optionalFeature(args, 'enable')),
    ...given('disable', optionalFeature(args, 'disable')),
  };
}

function profileUpdate(args: OperationArguments): ProfileUpdate {
  const logo = optional(args, 'logo');
  return {
    texts: Object.fromEntries(
      textSettingNames.map((name) => [name, optional(args, name)]).filter(([, text]) => text !== null),
    ),
    ...given('defaultCallback', optional(args, 'default-callback')),
    ...given('toleratesMissingCent', optionalOnOrOff(args, 'direct-cent-tolerance')),
    ...given('receivesAlerts', optionalOnOrOff(args, 'trouble-mails')),
    ...given('wallet', optionalWallet(args)),
    // The logo is sent in base64, because the server may not have access to the caller's files.
    ...(logo === null ? {} : { logo: logo === '' ? null : Buffer.from(logo, 'base64') }),
    ...given('isWalletLocked', optionalSwitch(args, 'lock-wallet', 'unlock-wallet')),
  };
}

/** Throws `invalid_request` for an invalid wallet, or without `--confirm-wallet` if USDC sent there would be lost. */
export function optionalWallet(args: OperationArguments, wayOut = 'add --confirm-wallet'): Address | null {
  const wallet = optionalAddress(args, 'wallet');
  const doubt = wallet === null || args['confirm-wallet'] === true ? null : doubtAbout(wallet);
  if (doubt !== null) throw invalidField('wallet', `${doubt}. If you mean it, ${wayOut}`);
  return wallet;
}

/** Reads a pair of opposite options; null if neither is given. */
function optionalSwitch(args: OperationArguments, on: string, off: string): boolean | null {
  const [isOn, isOff] = [args[on] === true, args[off] === true];
  if (isOn && isOff) throw invalidField(on, `and ${off} cannot be combined`);
  return isOn || isOff ? isOn : null;
}

function given<Name extends string, Value>(name: Name, value: Value | null): { [Key in Name]?: Value } {
  return value === null ? {} : ({ [name]: value } as { [Key in Name]: Value });
}

function providerList(text: string): readonly ProviderId[] | null {
  if (text === 'all') return null;
  const ids = text.split(',').map((id) => id.trim());
  const known = ids.filter(isProviderId);
  if (known.length !== ids.length)
    throw invalidField('providers', `must be "all" or a list of ${providerIds.join(', ')}`);
  return known;
}

export function providerSettings(args: OperationArguments): Partial<ProviderSettings> {
  return {
    ...given('active', optionalSwitch(args, 'active', 'inactive')),
    ...given('pinned', optionalSwitch(args, 'pin', 'unpin')),
    ...given('minimumUsdCents', optionalAmountCents(args, 'minimum-usd')),
  };
}

export function paymentFilter(args: OperationArguments): PaymentFilter {
  for (const name of ['forward-status', 'provider', 'currency', 'search', 'before']) {
    if (args[name] !== undefined) throw invalidField(name, 'requires --account');
  }
  return given('status', optionalStatus(args, 'status'));
}

export function paymentQuery(args: OperationArguments, nowMs: number): PaymentQuery | null {
  const accountId = optional(args, 'account');
  if (accountId === null) return null;
  const text = {
    status: optional(args, 'status') ?? '',
    forwardStatus: optional(args, 'forward-status') ?? '',
    provider: optional(args, 'provider') ?? '',
    currency: optional(args, 'currency') ?? '',
    search: optional(args, 'search') ?? '',
  };
  return parsePaymentQuery(accountId, text, nowMs);
}
