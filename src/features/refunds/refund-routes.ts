import type { FastifyRequest } from 'fastify';
import { accountOf } from '../../api/authenticate.ts';
import * as json from '../../api/json-schema.ts';
import { nullable, required } from '../../api/merchant/merchant-parameters.ts';
import { type MerchantRoutes, sendTagged } from '../../api/merchant/merchant-routes.ts';
import { idempotency, type Operation, operation } from '../../api/openapi/operations.ts';
import { readIdempotencyKey } from '../../api/parse-create-request.ts';
import { isoTime, isoTimeOrNull } from '../../api/payment-routes.ts';
import { readParameters, requireNoParameters, requireNoQuery } from '../../api/request-input.ts';
import type { Address } from '../../payment/address.ts';
import { invalidField } from '../../payment/errors.ts';
import { formatUnits } from '../../payment/money.ts';
import type { NumberedEvent } from '../../payment/payment-events.ts';
import { paymentUri } from '../../payment/payment-uri.ts';
import {
  MAXIMUM_REASON_LENGTH,
  REFUND_RULE,
  type Refund,
  type RefundStatus,
  refundErrors,
  refundEventTypes,
  refundStatusAt,
  refundStatuses,
  type TransactionProblem,
  transactionProblems,
} from './refund.ts';
import {
  addressUrl,
  cancelOpenRefund,
  confirmRefundAddress,
  createRefund,
  type RefundContext,
  readRefund,
  readRefunds,
  refundAmounts,
  submitTransaction,
} from './refunds.ts';

const PART_PATTERN = '^[0-9]{1,9}(\\.[0-9]{1,2})?$';

const addressSchema = { type: 'string', pattern: json.ADDRESS_PATTERN };

const createRefundParameters = {
  amount: {
    ...nullable(
      { type: 'string', pattern: '^(all|surplus|[0-9]{1,9}(\\.[0-9]{1,6})?)$' },
      'An amount in USDC, `all` for what is left, or `surplus` for the excess of an overpaid payment.',
      '12.50',
    ),
    default: 'all',
  },
  charge_amount: nullable(
    { type: 'string', pattern: PART_PATTERN },
    'Instead of `amount`: an amount of the charge, in its currency.',
    '25.00',
  ),
  share: nullable(
    { type: 'string', pattern: PART_PATTERN },
    'Instead of `amount`: a share of the charge, in percent.',
    '50',
  ),
  reason: nullable(
    { type: 'string', maxLength: MAXIMUM_REASON_LENGTH },
    'Why you refund it. The customer does not see it.',
    'Order 1042 was returned',
  ),
  destination: nullable(
    addressSchema,
    "The customer's Polygon address, if you know it. Without it, the response has a link for the customer.",
    json.EXAMPLE_ADDRESS,
  ),
};

const confirmRefundParameters = {
  destination: required(
    addressSchema,
    'The address that the customer named, as you showed it to the person who confirms it.',
    json.EXAMPLE_ADDRESS,
  ),
};

const refundTransactionParameters = {
  transaction: required(
    { type: 'string', pattern: '^0x[0-9a-fA-F]{64}$' },
    'The hash of the transaction with your transfer.',
    json.EXAMPLE_HASH,
  ),
};

const refundSchema = json.object({
  refund_id: json.text("The refund's id: `rfd_` and 20 hex digits.", 'rfd_5b484cd3e9340db05b48'),
  payment_id: json.text("The payment's id, a lower-case UUID.", json.EXAMPLE_ID),
  status: json.oneOf('The state.', Object.keys(refundStatuses) as RefundStatus[], 'awaiting_transfer'),
  amount: json.usdc(
    'The USDC that you transfer; once paid, what was transferred. The last digits identify the refund.',
  ),
  reason: json.textOrNull('The reason, or null.', 'Order 1042 was returned'),
  destination: json.textOrNull(
    "The customer's address, or null until the customer enters it.",
    json.EXAMPLE_ADDRESS,
  ),
  payment_uri: json.textOrNull(
    'The transfer for a wallet (EIP-681) while it is expected; otherwise null.',
    `ethereum:0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359@137/transfer?address=${json.EXAMPLE_ADDRESS}&uint256=21010000`,
  ),
  submitted_transaction: json.textOrNull('The transaction that you submitted, until it is checked.', null),
  transaction_problem: json.oneOfOrNull(
    "Why the last transaction is not the refund's, or null.",
    Object.keys(transactionProblems) as TransactionProblem[],
  ),
  transaction: json.textOrNull('The final transaction, or null.', null),
  sender: json.textOrNull('The address that sent the USDC, or null. It may be that of an exchange.', null),
  created_at: json.time('When it was opened.'),
  expires_at: json.time('Deadline for the address or the transfer.'),
  paid_at: json.timeOrNull('When the transfer was booked, or null.'),
  address_url: json.textOrNull(
    'The link through which the customer enters an address. Null except in the response that opens a refund without a destination.',
    'https://pay.example/refund/rfd_5b484cd3e9340db05b48/Zm9vYmFyYmF6',
  ),
});

const refund = json.reference<typeof refundSchema>('Refund');

const refundListSchema = json.object({
  refunds: json.list('The refunds of the payment, the oldest first.', refund),
  refundable_amount: json.usdc('The USDC that can still be refunded.'),
});

const closed = { additionalProperties: false };

const bodies = {
  CreateRefund: createRefundParameters,
  ConfirmRefund: confirmRefundParameters,
  RefundTransaction: refundTransactionParameters,
};

const inPath = {
  refund_id: required(
    { type: 'string', pattern: '^rfd_[0-9a-f]{20}$' },
    "The refund's id: `rfd_` and 20 hex digits.",
    'rfd_5b484cd3e9340db05b48',
  ),
};

const operations: readonly Operation[] = [
  operation('post /merchant/v1/payments/{payment_id}/refunds', {
    id: 'createRefund',
    summary: 'Open a refund',
    description:
      'Opens a refund in USDC, which you transfer from your own wallet. ' +
      'Without `destination`, the response has a link with which the customer names an address. All refunds together never exceed what was received. ' +
      REFUND_RULE,
    body: 'CreateRefund',
    headers: idempotency,
    answer: 'Refund',
    errors: [refundErrors.conflict],
  }),
  operation('get /merchant/v1/payments/{payment_id}/refunds', {
    id: 'listRefunds',
    summary: 'List the refunds of a payment',
    description: 'All refunds of the payment, and what can still be refunded.',
    answer: 'RefundList',
  }),
  operation('get /merchant/v1/refunds/{refund_id}', {
    inPath,
    id: 'readRefund',
    summary: 'Read a refund',
    description: 'A refund of your account, as it is now.',
    answer: 'Refund',
    errors: [refundErrors.notFound],
  }),
  operation('post /merchant/v1/refunds/{refund_id}/confirm', {
    inPath,
    id: 'confirmRefund',
    summary: "Confirm the customer's address",
    description:
      'Check with the customer that the address is theirs: the email address of a payment is not verified. From then on the transfer is looked for.',
    body: 'ConfirmRefund',
    answer: 'Refund',
    errors: [refundErrors.notFound, refundErrors.conflict],
  }),
  operation('post /merchant/v1/refunds/{refund_id}/transaction', {
    inPath,
    id: 'submitRefundTransaction',
    summary: 'Submit the transaction of a transfer',
    description:
      "Needed only for a transfer whose amount differs from the refund's. It is checked and booked when it is final.",
    body: 'RefundTransaction',
    answer: 'Refund',
    errors: [refundErrors.notFound, refundErrors.conflict],
  }),
  operation('post /merchant/v1/refunds/{refund_id}/cancel', {
    inPath,
    id: 'cancelRefund',
    summary: 'Cancel a refund',
    description: 'Cancels a refund that is not paid. A transfer that arrives later is not booked.',
    answer: 'Refund',
    errors: [refundErrors.notFound, refundErrors.conflict],
  }),
];

export const describedRefunds = {
  operations,
  bodies,
  answers: { Refund: refundSchema, RefundList: refundListSchema },
  requests: Object.fromEntries(
    Object.entries(bodies).map(([name, parameters]) => [name, { ...json.bodyOf(parameters), ...closed }]),
  ),
  events: {
    types: Object.keys(refundEventTypes),
    fields: {
      refund: json.orNull(
        'For an event of a refund: the refund as it is now. Null for other events.',
        refund,
      ),
    },
  },
};

export interface RefundRoutesContext extends RefundContext {
  readonly token: Address;
  readonly chainId: number;
}

function presentRefund(
  { token, chainId, nowMs }: Pick<RefundRoutesContext, 'token' | 'chainId' | 'nowMs'>,
  refund: Refund,
  addressUrl: string | null = null,
): json.ValueOf<typeof refundSchema> {
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
    return presentRefund(context, refund, addressUrl(context, refund));
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
    } satisfies json.ValueOf<typeof refundListSchema>);
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
