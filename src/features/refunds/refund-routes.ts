import type { FastifyRequest } from 'fastify';
import { accountOf } from '../../api/authenticate.ts';
import type { ValueOf } from '../../api/json-schema.ts';
import { type MerchantRoutes, sendTagged } from '../../api/merchant/merchant-routes.ts';
import { readIdempotencyKey } from '../../api/parse-create-request.ts';
import { isoTime, isoTimeOrNull } from '../../api/payment-routes.ts';
import { readParameters, requireNoParameters, requireNoQuery } from '../../api/request-input.ts';
import type { Address } from '../../payment/address.ts';
import { invalidField } from '../../payment/errors.ts';
import { formatUnits } from '../../payment/money.ts';
import type { NumberedEvent } from '../../payment/payment-events.ts';
import { paymentUri } from '../../payment/payment-uri.ts';
import { type Refund, refundStatusAt } from './refund.ts';
import {
  confirmRefundParameters,
  createRefundParameters,
  type refundListSchema,
  type refundSchema,
  refundTransactionParameters,
} from './refund-schemas.ts';
import {
  cancelOpenRefund,
  confirmRefundAddress,
  createRefund,
  type RefundContext,
  readRefund,
  readRefunds,
  refundAmounts,
  refundLink,
  submitTransaction,
} from './refunds.ts';

export interface RefundRoutesContext extends RefundContext {
  readonly token: Address;
  readonly chainId: number;
}

function presentRefund(
  { token, chainId, nowMs }: Pick<RefundRoutesContext, 'token' | 'chainId' | 'nowMs'>,
  refund: Refund,
  addressUrl: string | null = null,
): ValueOf<typeof refundSchema> {
  const status = refundStatusAt(refund, nowMs());
  const { destination: to, units } = refund;
  const isExpected = status === 'awaiting_transfer' && to !== null;
  return {
    refund_id: refund.id,
    payment_id: refund.paymentId,
    status,
    amount: formatUnits(units),
    reason: refund.reason,
    destination: to,
    payment_uri: isExpected ? paymentUri({ token, chainId, to, units }) : null,
    submitted_transaction: refund.submittedHash,
    transaction_problem: refund.transactionProblem,
    transaction: refund.transactionHash,
    sender: refund.sender,
    created_at: isoTime(refund.createdAtMs),
    expires_at: isoTime(refund.expiresAtMs),
    paid_at: isoTimeOrNull(refund.paidAtMs),
    address_url: addressUrl,
  };
}

export async function readEventRefunds(
  context: RefundRoutesContext,
  accountId: string,
  events: readonly NumberedEvent[],
): Promise<(event: NumberedEvent) => object> {
  const ids = [...new Set(events.flatMap(({ subjectId }) => subjectId ?? []))];
  const refunds = await Promise.all(ids.map((id) => context.refunds.findRefund(accountId, id)));
  const refundOf = new Map(refunds.flatMap((refund) => (refund === null ? [] : [[refund.id, refund]])));
  return ({ subjectId }) => {
    const refund = refundOf.get(subjectId ?? '');
    return { refund: refund === undefined ? null : presentRefund(context, refund) };
  };
}

type PaymentRoute = { Params: { payment_id: string } };
type RefundRoute = { Params: { refund_id: string } };

export function registerRefunds({ server, guard }: MerchantRoutes, context: RefundRoutesContext): void {
  const [read, write] = [guard('read'), guard('refund')];
  const own = (request: FastifyRequest<RefundRoute>) =>
    readRefund(context, accountOf(request).id, request.params.refund_id);

  server.post<PaymentRoute>('/payments/:payment_id/refunds', write, async (request) => {
    const body = readParameters(request, createRefundParameters);
    const { reason = null, destination = null } = body;
    const [kind = 'amount', another] = refundAmounts.filter((name) => body[name] !== undefined);
    if (another !== undefined) throw invalidField(another, `cannot be sent together with ${kind}`);
    const paymentId = request.params.payment_id.toLowerCase();
    const idempotencyKey = readIdempotencyKey(request.headers);
    const asked = { kind, amount: body[kind] ?? 'all', reason, destination, idempotencyKey };
    const refund = await createRefund(context, accountOf(request).id, paymentId, asked);
    return presentRefund(context, refund, refundLink(context, refund));
  });

  server.get<PaymentRoute>('/payments/:payment_id/refunds', read, async (request, reply) => {
    requireNoQuery(request);
    const { refunds, leftUnits } = await readRefunds(
      context,
      accountOf(request).id,
      request.params.payment_id.toLowerCase(),
    );
    return sendTagged(request, reply, {
      refunds: refunds.map((refund) => presentRefund(context, refund)),
      refundable_amount: formatUnits(leftUnits),
    } satisfies ValueOf<typeof refundListSchema>);
  });

  server.get<RefundRoute>('/refunds/:refund_id', read, async (request, reply) => {
    requireNoQuery(request);
    return sendTagged(request, reply, presentRefund(context, await own(request)));
  });

  server.post<RefundRoute>('/refunds/:refund_id/confirm', write, async (request) => {
    const { destination } = readParameters(request, confirmRefundParameters);
    return presentRefund(context, await confirmRefundAddress(context, await own(request), destination));
  });

  server.post<RefundRoute>('/refunds/:refund_id/transaction', write, async (request) => {
    const { transaction } = readParameters(request, refundTransactionParameters);
    return presentRefund(context, await submitTransaction(context, await own(request), transaction));
  });

  server.post<RefundRoute>('/refunds/:refund_id/cancel', write, async (request) => {
    requireNoParameters(request);
    return presentRefund(context, await cancelOpenRefund(context, await own(request)));
  });
}
