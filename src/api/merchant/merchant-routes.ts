import { hash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type ConnectContext, exchangeCode } from '../../features/connect/connect-shop.ts';
import {
  presentRefund,
  type RefundRoutesContext,
  registerRefunds,
  type ScopeGuards,
} from '../../features/refunds/refund-routes.ts';
import { createPayoutAddressParser } from '../../payment/address.ts';
import { type CancelPaymentContext, cancelPayment } from '../../payment/cancel-payment.ts';
import { type CreatePaymentContext, createDirectPayment } from '../../payment/create-payment.ts';
import { ServiceError } from '../../payment/errors.ts';
import type { EventPage, EventStore } from '../../payment/event-store.ts';
import type { Payment } from '../../payment/payment.ts';
import type { NumberedEvent } from '../../payment/payment-events.ts';
import type { PaymentSearchStore } from '../../payment/payment-search-store.ts';
import { exportJournal } from '../../reports/export-journal.ts';
import { readStatistics } from '../../reports/read-statistics.ts';
import { addressGroupOf, requirePassing } from '../../web/rate-windows.ts';
import type { CallbackGuard } from '../../webhooks/callback-guard.ts';
import { readPaymentHistory, viewPaymentOf } from '../../webhooks/payment-history.ts';
import type { WebhookStore } from '../../webhooks/webhook.ts';
import type { ApiContext, ApiRateLimiters } from '../api-context.ts';
import { accountOf, registerKeyRoutes, requireCallbackHost } from '../authenticate.ts';
import { readIdempotencyKey } from '../create-parameters.ts';
import type { ValueOf } from '../json-schema.ts';
import { parseCreateRequest } from '../parse-create-request.ts';
import type { PresentContext } from '../present-payment.ts';
import { queryOf, readJsonObject, readParameters, requireNoQuery } from '../request-input.ts';
import {
  completeDirectParameters,
  connectParameters,
  DEFAULT_DAYS,
  dayParameters,
  eventParameters,
  MAXIMUM_PAGE,
  paymentParameters,
  readListQuery,
  readMonth,
  readQuery,
} from './merchant-parameters.ts';
import type {
  Expansion,
  merchantDaysSchema,
  merchantEventsSchema,
  merchantPaymentListSchema,
} from './merchant-schemas.ts';
import {
  presentConnection,
  presentDay,
  presentDirectPayment,
  presentEvent,
  presentExpandedPayment,
  presentMerchantPayment,
} from './present-payments.ts';

const MERCHANT_PREFIX = '/merchant/v1';

export interface MerchantContext
  extends Omit<CancelPaymentContext, 'observations'>,
    PresentContext,
    Omit<RefundRoutesContext, 'payments' | 'nowMs' | 'accounts'>,
    Readonly<{ search: PaymentSearchStore }>,
    Readonly<{ webhooks: Pick<WebhookStore, 'listWebhooks'>; events: Pick<EventStore, 'listEvents'> }> {
  readonly accounts: ApiContext['accounts'] & RefundRoutesContext['accounts'];
  readonly limits: ApiRateLimiters;
  /** For direct payments, under the rules of checkouts. */
  readonly create: CreatePaymentContext;
  readonly callbacks: CallbackGuard;
  readonly connect: ConnectContext;
}

/** Registers the merchant API: payments, events and sums of the key's account. */
export function registerMerchantApi(server: FastifyInstance, context: MerchantContext): void {
  const { merchant, create } = context.limits;
  registerKeyRoutes(server, MERCHANT_PREFIX, context, (routes, admit) => {
    const guards = {
      read: admit(merchant, 'read'),
      cancel: admit(merchant, 'cancel'),
      refund: admit(merchant, 'refund'),
      create: admit(create, 'create'),
    };
    registerPayments(routes, context, guards);
    registerReports(routes, context, guards);
    registerRefunds(routes, context, guards, sendTagged);
    registerConnect(routes, context);
  });
}

function registerPayments(server: FastifyInstance, context: MerchantContext, guards: ScopeGuards): void {
  const { search, baseUrl } = context;
  const presentOne = async (payment: Payment) => {
    // The charge for the rest depends on the sessions.
    const view =
      payment.amountMismatch === 'partially_paid' ? await context.payments.viewPayment(payment.id) : null;
    return presentMerchantPayment(baseUrl, view ?? { payment, sessions: [] });
  };
  const parsing = { callbacks: context.callbacks, parsePayoutAddress: createPayoutAddressParser() };

  server.get('/payments', guards.read, async (request, reply) => {
    const { id: accountId } = accountOf(request);
    const asked = readListQuery(accountId, queryOf(request), context.nowMs());
    const { payments, next } = await search.searchPayments(asked.query, asked.before, asked.limit);
    const presentExpanded = async ({ id }: Payment) =>
      presentExpandedPayment(baseUrl, await readPaymentHistory(context, accountId, id), asked.expand);
    const presented = await Promise.all(payments.map(asked.expand.size === 0 ? presentOne : presentExpanded));
    const list: ValueOf<typeof merchantPaymentListSchema> = { payments: presented, next };
    return sendTagged(request, reply, list);
  });

  server.get('/payments/:payment_id', guards.read, async (request, reply) => {
    const { expand = new Set<Expansion>() } = readQuery(queryOf(request), paymentParameters);
    const history = await readPaymentHistory(context, accountOf(request).id, idOf(request));
    return sendTagged(request, reply, presentExpandedPayment(baseUrl, history, expand));
  });

  server.post('/payments/:payment_id/cancel', guards.cancel, async (request) => {
    readParameters(request, {});
    const { payment } = await viewPaymentOf(context, accountOf(request).id, idOf(request));
    return presentOne(await cancelPayment(context, payment.id, 'merchant'));
  });

  server.post('/direct-payments', guards.create, async (request) => {
    const account = accountOf(request);
    requireNoQuery(request);
    const body = readJsonObject(request, 'amount');
    const parameters = completeDirectParameters(body, account);
    const idempotencyKey = readIdempotencyKey(request.headers);
    const requested = await parseCreateRequest(parsing, parameters, 'json', idempotencyKey);
    requireCallbackHost(request, requested.callbackUrl);
    return presentDirectPayment(context, await createDirectPayment(context.create, account, requested));
  });
}

function registerReports(server: FastifyInstance, context: MerchantContext, { read }: ScopeGuards): void {
  const { events, payments, refunds, search, nowMs, baseUrl } = context;

  server.get('/events', read, async (request, reply) => {
    const { id: accountId } = accountOf(request);
    // Without a number, starts at the oldest event that is kept.
    const { after = null, limit = MAXIMUM_PAGE } = readQuery(queryOf(request), eventParameters);
    const page = await events.listEvents(accountId, after ?? 0, limit);
    if (after !== null) requireKept(after, page, nowMs());
    const viewOf = await readEach(page.events, 'paymentId', payments.viewPayment);
    const refundOf = await readEach(page.events, 'refundId', (id) => refunds.findRefund(accountId, id));
    const presented = page.events.map((event) => {
      const view = viewOf.get(event.paymentId) ?? null;
      if (view === null) throw new Error(`event ${event.number} of ${accountId} has no payment`);
      const refund = refundOf.get(event.refundId) ?? null;
      return presentEvent(baseUrl, event, view, refund === null ? null : presentRefund(context, refund));
    });
    const nextAfter = page.events.at(-1)?.number ?? after ?? page.newest;
    return sendTagged(request, reply, {
      events: presented,
      next_after: nextAfter,
      has_more: nextAfter < page.newest,
    } satisfies ValueOf<typeof merchantEventsSchema>);
  });

  server.get('/days', read, async (request, reply) => {
    const { days = DEFAULT_DAYS } = readQuery(queryOf(request), dayParameters);
    const statistics = await readStatistics(search, accountOf(request), days, nowMs());
    const answer: ValueOf<typeof merchantDaysSchema> = { days: statistics.days.map(presentDay) };
    return sendTagged(request, reply, answer);
  });

  server.get('/journal.csv', read, async (request, reply) => {
    const account = accountOf(request);
    const month = readMonth(queryOf(request), account.timeZone);
    const lines = exportJournal(context, account, month);
    const { value: first } = await lines.next();
    const disposition = `attachment; filename="journal-${month.month}.csv"`;
    return reply
      .headers({ 'content-disposition': disposition, 'cache-control': 'private, no-cache' })
      .type('text/csv; charset=utf-8')
      .send(Readable.from(followedBy(first ?? '', lines)));
  });
}

/** Reads each payment or refund of a page of events once. */
async function readEach<Name extends 'paymentId' | 'refundId', Found>(
  events: readonly NumberedEvent[],
  name: Name,
  read: (id: NonNullable<NumberedEvent[Name]>) => Promise<Found>,
): Promise<ReadonlyMap<NumberedEvent[Name], Found>> {
  const ids = new Set(events.flatMap((event) => event[name] ?? []));
  return new Map(await Promise.all([...ids].map(async (id) => [id, await read(id)] as const)));
}

/**
 * Refuses a number whose following events were deleted, or one in the future, which was issued before the clock was set
 * back.
 */
function requireKept(after: number, { newest, oldestAfter }: EventPage, nowMs: number): void {
  if (after >= oldestAfter && after <= Math.max(newest, nowMs)) return;
  throw new ServiceError(
    'cursor_expired',
    `Events after ${after} are not available. Continue with after=${oldestAfter}.`,
  );
}

/** Exchanges the code of a connection for an API key. Limited by IP address, because the request has no key yet. */
function registerConnect(server: FastifyInstance, { connect, limits }: MerchantContext): void {
  server.post('/connect', async (request, reply) => {
    const address = addressGroupOf(request.ip);
    await requirePassing(limits.unauthenticated, address);
    const {
      code,
      code_verifier: codeVerifier,
      return: returnUrl,
    } = readParameters(request, connectParameters);
    const connected = await exchangeCode(connect, { code, codeVerifier, returnUrl, address });
    return reply.header('cache-control', 'no-store').send(presentConnection(connected));
  });
}

async function* followedBy(first: string, rest: AsyncIterable<string>): AsyncGenerator<string> {
  yield first;
  yield* rest;
}

const idOf = (request: FastifyRequest) =>
  (request.params as { readonly payment_id: string }).payment_id.toLowerCase();

/** Sends an answer with an ETag, or 304 if the caller already has it. */
function sendTagged(request: FastifyRequest, reply: FastifyReply, answer: object): FastifyReply {
  const body = JSON.stringify(answer);
  const tag = `"${hash('sha256', body, 'base64url').slice(0, 27)}"`;
  reply.headers({ etag: tag, 'cache-control': 'private, no-cache' });
  const known = request.headers['if-none-match'] ?? '';
  const isKnown = known.split(',').some((one) => one.trim().replace(/^W\//, '') === tag);
  if (isKnown) return reply.code(304).send();
  return reply.type('application/json; charset=utf-8').send(body);
}
