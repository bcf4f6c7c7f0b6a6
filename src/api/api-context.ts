import type { AccountStore } from '../accounts/account-store.ts';
import type { CreatePaymentContext } from '../payment/create-payment.ts';
import type { IpnTokens } from '../payment/ipn-token.ts';
import type { ReadStatusContext } from '../payment/read-status.ts';
import type { RateLimiter } from '../platform/rate-limiter.ts';
import { createFixedWindowLimiter } from '../web/rate-windows.ts';
import type { CallbackGuard } from '../webhooks/delivery-types.ts';

export interface ApiContext {
  readonly accounts: Pick<AccountStore, 'findActiveKey' | 'recordKeyUses'>;
  readonly create: CreatePaymentContext;
  readonly status: ReadStatusContext;
  readonly tokens: IpnTokens;
  readonly callbacks: CallbackGuard;
  readonly limits: ApiRateLimiters;
  /** Public URL of the service, without a trailing slash. */
  readonly baseUrl: string;
}

/** One limiter per row of the specification's table, and one for the merchant API. */
export interface ApiRateLimiters {
  /** Creates, by API key; POST and GET together. */
  readonly create: RateLimiter;
  readonly status: RateLimiter;
  /** Requests to the merchant API except creates, by API key. */
  readonly merchant: RateLimiter;
  /** Requests without a valid key, by IP address. */
  readonly unauthenticated: RateLimiter;
}

type RequestsPerMinute = Readonly<
  Record<'createPerMinute' | 'statusPerMinute' | 'unauthenticatedPerMinute', number>
>;

/** Creates the API's limiters. By default they count in memory, for a single process. */
export function createApiRateLimiters(
  limits: RequestsPerMinute,
  monotonicMs: () => number,
  create = (_kind: string, perMinute: number): RateLimiter =>
    createFixedWindowLimiter(perMinute, monotonicMs),
): ApiRateLimiters {
  return {
    create: create('create', limits.createPerMinute),
    status: create('status', limits.statusPerMinute),
    merchant: create('merchant', limits.statusPerMinute),
    unauthenticated: create('unauthenticated', limits.unauthenticatedPerMinute),
  };
}
