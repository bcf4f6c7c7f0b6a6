import type { Order } from '@vendure/core';

export interface CardCheckoutOptions {
  /** Root of the service, such as `https://pay.example.com`. */
  readonly url: string;
  /** API key with the scopes `create`, `read`, `cancel` and `refund`. */
  readonly apiKey: string;
  /** Signing secret of the account's webhooks, `whsec_…`. */
  readonly webhookSecret: string;
  /** Public https URL of this server's `/card-checkout/webhook`. Default: the account's callback URL. */
  readonly callback?: string;
  /** Storefront page after the payment. `{order_code}`, `{channel}` and `{language}` are replaced. */
  readonly returnUrl?: string;
  /** Storefront page after a canceled checkout. Default: `returnUrl`. */
  readonly cancelUrl?: string;
  /** Payout wallet. Default: the account's. */
  readonly payoutAddress?: string;
  /** Whether to allow plain http to a service on a private network. Default: false. */
  readonly allowInsecureHttp?: boolean;
}

/** Returns valid options. Otherwise throws an `Error` that names the option and its format, which stops the server. */
export function requireOptions(options: CardCheckoutOptions): CardCheckoutOptions {
  const forms = { url: /^https?:\/\/\S+$/, apiKey: /^\S+$/, webhookSecret: /^whsec_[\w+/]+=*$/ };
  for (const [name, form] of Object.entries(forms))
    if (!form.test(options[name as keyof typeof forms] ?? ''))
      throw new Error(
        `CardCheckoutPlugin needs the option ${name}${name === 'webhookSecret' ? ', whsec_…, which the dashboard shows once' : ''}.`,
      );
  return options;
}

/** Injection tokens of the options and the client. */
export const OPTIONS = Symbol('CARD_CHECKOUT_OPTIONS');
export const CLIENT = Symbol('CARD_CHECKOUT_CLIENT');
/** Code of the payment handler and its eligibility checker. */
export const CODE = 'card-checkout';
/** Context of the plugin's log messages. */
export const LOGGER_CONTEXT = 'CardCheckoutPlugin';

/** Returns a note for the order's history that customers do not see. */
export const noteOf = ({ id }: Order, text: string) => ({
  id,
  note: `Card checkout: ${text}`,
  isPublic: false,
});
