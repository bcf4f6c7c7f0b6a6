import { hash } from 'node:crypto';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AuditStore } from '../../accounts/account-store.ts';
import type { KeyScope } from '../../accounts/api-key.ts';
import { presentAuditEntry, readAuditPage } from '../../accounts/read-audit-log.ts';
import { type CancelPaymentContext, cancelPayment } from '../../payment/cancel-payment.ts';
import { createDirectPayment, createPayment } from '../../payment/create-payment.ts';
import { ServiceError } from '../../payment/errors.ts';
import type { EventPage, EventStore } from '../../payment/event-store.ts';
import { isDirect, type Payment } from '../../payment/payment.ts';
import type { NumberedEvent } from '../../payment/payment-events.ts';
import type { PaymentSearchStore } from '../../payment/payment-search-store.ts';
import { exportJournal } from '../../reports/journal-and-statement.ts';
import { readStatistics } from '../../reports/read-statistics.ts';
import { readPaymentHistory, viewPaymentOf } from '../../webhooks/payment-history.ts';
import type { WebhookStore } from '../../webhooks/send-webhook.ts';
import { eventIdOf } from '../../webhooks/webhook-signatures.ts';
import type { ApiRateLimiters } from '../api-rate-limits.ts';
import {
  type Admit,
  type ApiContext,
  accountOf,
  registerKeyRoutes,
  requireCallbackHost,
} from '../authenticate.ts';
import type { RequestParameters, ValueOf } from '../json-schema.ts';
import { parseCreateRequest, readIdempotencyKey } from '../parse-create-request.ts';
import { isoTime } from '../payment-routes.ts';
import { queryOf, readJsonObject, requireNoParameters, requireNoQuery } from '../request-input.ts';
import { checkoutParameters, parseOrder } from './checkout-parameters.ts';
import {
  auditParameters,
  completeParameters,
  DEFAULT_DAYS,
  DEFAULT_PAGE,
  dayParameters,
  directParameters,
  eventParameters,
  MAXIMUM_PAGE,
  paymentParameters,
  readListQuery,
  readMonth,
  readQuery,
} from './merchant-parameters.ts';
import type {
  auditLogSchema,
  Expansion,
  MerchantEvents,
  merchantDaysSchema,
  merchantPaymentListSchema,
} from './merchant-schemas.ts';
import {
  presentCheckout,
  presentDay,
  presentDirectPayment,
  presentExpandedPayment,
  presentMerchantPayment,
} from './present-payments.ts';

export interface MerchantContext extends CancelPaymentContext, ApiContext {
  readonly search: PaymentSearchStore;
  readonly webhooks: Pick<WebhookStore, 'listWebhooks'>;
  readonly events: Pick<EventStore, 'listEvents'>;
  readonly audit: Pick<AuditStore, 'listEntries'>;
  /** Time after creation during which a checkout can be paid. */
  readonly expiryMs: number;
}

/** Function that returns the checks of key, rate and scope that precede an operation. */
type Guard = (scope: KeyScope) => ReturnType<Admit>;

/** Parts with which features register operations of the merchant API. */
export interface MerchantRoutes {
  readonly server: FastifyInstance;
  readonly guard: Guard;
  readonly limits: ApiRateLimiters;
}

export interface MerchantFeatures {
  readonly operations: readonly ((routes: MerchantRoutes) => void)[];
  /** Reads the fields that features add to the given events. Resolves to a function that returns those of one event. */
  readonly readEventFields: (
    accountId: string,
    events: readonly NumberedEvent[],
  ) => Promise<(event: NumberedEvent) => object>;
}

export function registerMerchantApi(
  server: FastifyInstance,
  context: MerchantContext,
  features: MerchantFeatures,
): void {
  const { limits } = context;
  registerKeyRoutes(server, '/merchant/v1', context, (routes, admit) => {
    const guard = (scope: KeyScope) => admit(scope === 'create' ? limits.create : limits.merchant, scope);
    registerPayments(routes, context, guard);
    registerAuditLog(routes, context, guard('audit'));
    registerReports(routes, context, guard('read'), features.readEventFields);
    for (const register of features.operations) register({ server: routes, guard, limits });
  });
}

function registerPayments(server: FastifyInstance, context: MerchantContext, guard: Guard): void {
  const { search, baseUrl } = context;
  const presentOne = async (payment: Payment) => {
    // Reads the sessions, which determine the remaining charge of a partially paid payment.
    const view =
      payment.amountMismatch === 'partially_paid' ? await context.payments.viewPayment(payment.id) : null;
    return presentMerchantPayment(baseUrl, view ?? { payment, sessions: [] });
  };

  server.get('/payments', guard('read'), async (request, reply) => {
    const { id: accountId } = accountOf(request);
    const asked = readListQuery(accountId, queryOf(request), context.nowMs());
    const { payments, next } = await search.searchPayments(asked.query, asked.before, asked.limit);
    const presentExpanded = async ({ id }: Payment) =>
      presentExpandedPayment(baseUrl, await readPaymentHistory(context, accountId, id), asked.expand);
    const presented = await Promise.all(payments.map(asked.expand.size === 0 ? presentOne : presentExpanded));
    const list: ValueOf<typeof merchantPaymentListSchema> = { payments: presented, next };
    return sendTagged(request, reply, list);
  });

  server.get('/payments/:payment_id', guard('read'), async (request, reply) => {
    const { expand = new Set<Expansion>() } = readQuery(queryOf(request), paymentParameters);
    const history = await readPaymentHistory(context, accountOf(request).id, idOf(request));
    return sendTagged(request, reply, presentExpandedPayment(baseUrl, history, expand));
  });

  server.post('/payments/:payment_id/cancel', guard('cancel'), async (request) => {
    requireNoParameters(request);
    const { payment } = await viewPaymentOf(context, accountOf(request).id, idOf(request));
    return presentOne(await cancelPayment(context, payment.id, 'merchant'));
  });

  async function readCreate(request: FastifyRequest, known: RequestParameters) {
    requireNoQuery(request);
    const body = readJsonObject(request, 'amount');
    const parameters = completeParameters(body, known, accountOf(request));
    const idempotencyKey = readIdempotencyKey(request.headers);
    const order = known === checkoutParameters ? parseOrder(body, context.expiryMs) : {};
    const requested = await parseCreateRequest(context, parameters, 'json', idempotencyKey);
    requireCallbackHost(request, requested.callbackUrl);
    return { ...requested, ...order };
  }

  server.post('/checkouts', guard('create'), async (request) => {
    const requested = await readCreate(request, checkoutParameters);
    return presentCheckout(context, await createPayment(context.create, accountOf(request), requested));
  });

  server.post('/direct-payments', guard('create'), async (request) => {
    const requested = await readCreate(request, directParameters);
    const payment = await createDirectPayment(context.create, accountOf(request), requested);
    return presentDirectPayment(context, payment);
  });
}

function registerAuditLog(server: FastifyInstance, context: MerchantContext, read: ReturnType<Guard>): void {
  server.get('/audit', read, async (request, reply) => {
    const { id } = accountOf(request);
    const { limit = DEFAULT_PAGE, ...given } = readQuery(queryOf(request), auditParameters);
    const before = given.before === undefined ? null : { atMs: 0, accountId: id, position: given.before };
    const range = { fromMs: given.created_from, beforeMs: given.created_before };
    const { entries, next } = await readAuditPage(context, id, before, limit, range);
    const presented = entries.map(presentAuditEntry);
    const log: ValueOf<typeof auditLogSchema> = { entries: presented, next: next?.position ?? null };
    return sendTagged(request, reply, log);
  });
}

function registerReports(
  server: FastifyInstance,
  context: MerchantContext,
  read: ReturnType<Guard>,
  readEventFields: MerchantFeatures['readEventFields'],
): void {
  const { events, payments, search, nowMs, baseUrl } = context;

  server.get('/events', read, async (request, reply) => {
    const { id: accountId } = accountOf(request);
    // Without `after`, reading starts with the oldest event kept, so the cursor cannot have expired.
    const { after = null, limit = MAXIMUM_PAGE } = readQuery(queryOf(request), eventParameters);
    const page = await events.listEvents(accountId, after ?? 0, limit);
    if (after !== null) requireKept(after, page, nowMs());
    const ids = [...new Set(page.events.map(({ paymentId }) => paymentId))];
    const views = await Promise.all(ids.map((id) => payments.viewPayment(id)));
    const fieldsOf = await readEventFields(accountId, page.events);
    const presented = page.events.map((event) => {
      const view = views[ids.indexOf(event.paymentId)] ?? null;
      if (view === null) throw new Error(`event ${event.number} of ${accountId} has no payment`);
      const { number, type, atMs } = event;
      const payment = presentMerchantPayment(baseUrl, view);
      const hasWebhook = type === 'payment.paid' || (type === 'payment.forwarded' && isDirect(view.payment));
      const webhookId = hasWebhook ? eventIdOf(event.paymentId, type) : null;
      const fields = { number, type, created_at: isoTime(atMs), webhook_id: webhookId, payment };
      return { ...fields, ...fieldsOf(event) };
    });
    const nextAfter = page.events.at(-1)?.number ?? after ?? page.newest;
    return sendTagged(request, reply, {
      events: presented,
      next_after: nextAfter,
      has_more: nextAfter < page.newest,
    } satisfies MerchantEvents);
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
    const lines = Readable.from(exportJournal(context.search, account, month));
    // Waits for the first line, so that an earlier failure gets an error response.
    await once(lines, 'readable');
    const disposition = `attachment; filename="journal-${month.month}.csv"`;
    return reply
      .headers({ 'content-disposition': disposition, 'cache-control': 'private, no-cache' })
      .type('text/csv; charset=utf-8')
      .send(lines);
  });
}

/** Throws `cursor_expired` if events after the cursor were deleted, or if the clock was set back behind the cursor. */
function requireKept(after: number, { newest, oldestAfter }: EventPage, nowMs: number): void {
  if (after >= oldestAfter && after <= Math.max(newest, nowMs)) return;
  throw new ServiceError(
    'cursor_expired',
    `Events after ${after} are not available. Continue with after=${oldestAfter}.`,
  );
}

const idOf = (request: FastifyRequest) =>
  (request.params as { readonly payment_id: string }).payment_id.toLowerCase();

/** Sends an answer with an ETag, or 304 if the caller already has that answer. */
export function sendTagged(request: FastifyRequest, reply: FastifyReply, answer: object): FastifyReply {
  const body = JSON.stringify(answer);
  const tag = `"${hash('sha256', body, 'base64url').slice(0, 27)}"`;
  reply.headers({ etag: tag, 'cache-control': 'private, no-cache' });
  const known = request.headers['if-none-match'] ?? '';
  const isKnown = known.split(',').some((one) => one.trim().replace(/^W\//, '') === tag);
  if (isKnown) return reply.code(304).send();
  return reply.type('application/json; charset=utf-8').send(body);
}
