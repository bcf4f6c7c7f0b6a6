import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AccountStore } from '../../accounts/account-store.ts';
import type { Address } from '../../payment/address.ts';
import type { PaymentReference } from '../../payment/payment.ts';
import type { TestPayments } from '../../payment/test-payments.ts';
import type { KeyedHash } from '../../platform/keyed-hash.ts';
import type { Pictures } from '../../platform/pictures.ts';
import type { Quotes } from '../../providers/ask-quotes.ts';
import type { StartSession } from '../../providers/start-session.ts';
import type { PageLimits } from '../../web/rate-windows.ts';
import type { ExplorerTransactionUrl } from './facts-and-transactions.ts';
import type { ReadCheckoutContext } from './read-checkout.ts';

export interface CheckoutPagesContext
  extends Omit<ReadCheckoutContext, 'accounts'>,
    Readonly<{ accounts: Pick<AccountStore, 'findAccount' | 'findLogo'> }> {
  readonly recordOpened: (payment: PaymentReference) => void;
  readonly startSession: StartSession;
  readonly quotes: Quotes;
  readonly limits: PageLimits;
  readonly pictures: Pictures;
  /** Creates the tokens of visitors who know the payment's email address. */
  readonly emailHash: KeyedHash;
  readonly baseUrl: string;
  /** Lowercase name of the header in which the operator's proxy sends the customer's country; null without a header. */
  readonly countryHeader: string | null;
  readonly isTestMode: boolean;
  readonly testPayments: Pick<TestPayments, 'simulateOutcome'> | null;
  readonly explorerTransactionUrl: ExplorerTransactionUrl;
  readonly token: Address;
}

export type ExamplePagesContext = Pick<
  CheckoutPagesContext,
  'directory' | 'nowMs' | 'expiryMs' | 'baseUrl' | 'explorerTransactionUrl' | 'token' | 'quotes'
>;

export interface CheckoutRequest<Parameter extends string = never> {
  readonly context: CheckoutPagesContext;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly params: Readonly<Record<Parameter, string>>;
  readonly query: Readonly<Record<string, unknown>>;
}

export type CheckoutHandler<Parameter extends string> = (
  asked: CheckoutRequest<Parameter>,
) => Promise<FastifyReply>;

export type ParametersOf<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParametersOf<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

export interface CheckoutRoutes {
  /** Registers a page for `GET`, and for `HEAD` without the body, for link checkers and previews. Not for streams. */
  readonly page: <Path extends string>(
    path: Path,
    show: CheckoutHandler<ParametersOf<Path>>,
    exposeHeadRoute?: boolean,
  ) => void;
  /** Registers a form for `POST`, with the rate limit of session starts, or that of pages if it has a `bodyLimit`. */
  readonly form: <Path extends string>(
    path: Path,
    act: CheckoutHandler<ParametersOf<Path>>,
    bodyLimit?: number,
  ) => void;
}
