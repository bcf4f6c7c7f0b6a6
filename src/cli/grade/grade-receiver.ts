import { setTimeout as delay } from 'node:timers/promises';
import { signWebhook } from '../../webhooks/webhook-signatures.ts';
import { evaluate, evaluateEvents, type Finding } from './evaluate.ts';
import { postWebhook, type WebhookAnswer } from './post-webhook.ts';
import type { GradedOrder, StandInService } from './stand-in-service.ts';

export const ORDERS_NEEDED = 6;

const DUPLICATES = 5;
const HOUR_SECONDS = 3600;
const POLL_INTERVAL_MS = 50;

export interface GradeContext {
  readonly endpoint: URL;
  readonly service: StandInService;
  readonly readFulfilments: ((paymentId: string) => Promise<number>) | null;
  /** Time limit of an attempt: 10,000, as in the service. */
  readonly timeLimitMs: number;
  /** Maximum wait for work that the shop does after its answer. */
  readonly patienceMs: number;
  /** Maximum wait for a shop that reads the event log, because it may poll only every few seconds. */
  readonly eventPatienceMs: number;
}

type SixOrders = [GradedOrder, GradedOrder, GradedOrder, GradedOrder, GradedOrder, GradedOrder];

export async function gradeReceiver(context: GradeContext): Promise<readonly Finding[]> {
  const [, plain, odd, guarded, unpaid, repeated] = context.service.orders.slice(-ORDERS_NEEDED) as SixOrders;
  for (const order of [plain, odd, guarded, repeated]) order.status = 'paid';

  const good = await send(context, genuine(plain));
  await settled(context, plain);
  const slowBody = await sendSlowly(context, plain);
  const oddAnswer = await sendOdd(context, odd);
  await settled(context, odd);

  const forgeries = await sendForgeries(context, guarded, plain);
  await send(context, genuine(unpaid));
  const duplicates = await sendDuplicates(context, repeated);

  // Waits, because a shop may read the status only after it has answered.
  await waitUntil(context.patienceMs, async () => unpaid.statusReads > 0);
  return evaluate({
    good,
    slowBody,
    odd: oddAnswer,
    forgeries,
    ...duplicates,
    statusReads: { plain: plain.statusReads, unpaid: unpaid.statusReads },
    fulfilments: {
      plain: await fulfilmentsOf(context, plain),
      odd: await fulfilmentsOf(context, odd),
      guarded: await fulfilmentsOf(context, guarded),
      unpaid: await fulfilmentsOf(context, unpaid),
      repeated: await fulfilmentsOf(context, repeated),
    },
    timeLimitMs: context.timeLimitMs,
  });
}

/** Grades how the shop handles a missing webhook. Must run after `gradeReceiver`, because it causes fulfillments. */
export async function gradeEvents(context: GradeContext): Promise<Finding> {
  const { service, readFulfilments } = context;
  const [missed, known] = service.orders.slice(-ORDERS_NEEDED) as [GradedOrder, GradedOrder];
  missed.status = 'paid';
  for (const order of [known, missed]) service.events.push(order);
  const patient = { ...context, patienceMs: context.eventPatienceMs };
  if (readFulfilments !== null) await settled(patient, missed);
  else await waitUntil(context.eventPatienceMs, async () => service.eventReads > 0);
  return evaluateEvents({
    isFollowed: service.eventReads > 0,
    missed: await fulfilmentsOf(context, missed),
    known: await fulfilmentsOf(context, known),
  });
}

/** Grades with an unpaid payment of the shop's own service, by the shop's answers and, with a probe, fulfillments. */
export async function gradeWithPayment(
  context: SendContext,
  order: GradedOrder,
): Promise<readonly Finding[]> {
  const forgeries = await sendForgeries(context, order, { ipnToken: 'ipn_of_another_payment' });
  const guarded = await fulfilmentsOf(context, order);
  const good = await send(context, genuine(order));
  const slowBody = await sendSlowly(context, order);
  const odd = await sendOdd(context, order);
  const duplicates = await sendDuplicates(context, order);
  const unpaid = await fulfilmentsOf(context, order);
  return evaluate({
    good,
    slowBody,
    odd,
    forgeries,
    ...duplicates,
    statusReads: null,
    // Fulfillments caused by forgeries belong to the finding on the signature.
    fulfilments: { plain: null, odd: null, guarded, unpaid: guarded === 0 ? unpaid : null, repeated: null },
    timeLimitMs: context.timeLimitMs,
  });
}

type SendContext = Omit<GradeContext, 'service'>;

async function fulfilmentsOf({ readFulfilments }: SendContext, { paymentId }: GradedOrder) {
  return (await readFulfilments?.(paymentId)) ?? null;
}

const nowSeconds = () => Math.floor(Date.now() / 1000);

function genuine(order: GradedOrder, ageSeconds = 0) {
  const body = JSON.stringify(paidFields(order, nowSeconds() - ageSeconds));
  return { body, signature: signWebhook(body, order.ipnToken) };
}

function send(context: SendContext, webhook: Parameters<typeof postWebhook>[1]): Promise<WebhookAnswer> {
  return postWebhook(context.endpoint, webhook, context.timeLimitMs);
}

function sendSlowly(context: SendContext, order: GradedOrder): Promise<WebhookAnswer> {
  return send(context, { ...genuine(order), bodyDurationMs: context.timeLimitMs / 10 });
}

function sendOdd(context: SendContext, order: GradedOrder): Promise<WebhookAnswer> {
  const body = formattingVariants(paidFields(order, nowSeconds()));
  return send(context, { body, signature: signWebhook(body, order.ipnToken) });
}

/** Sends forged webhooks. The stand-in service reports the order as paid, so only the signature check can stop them. */
async function sendForgeries(context: SendContext, order: GradedOrder, other: Pick<GradedOrder, 'ipnToken'>) {
  const { body, signature } = genuine(order);
  const altered = body.replace(`"amount":${JSON.stringify(order.amount)}`, '"amount":"0.01"');
  const attempts = {
    'without a signature': { body, signature: null },
    'with an empty signature': { body, signature: '' },
    'signed with a guessed token': { body, signature: signWebhook(body, 'ipn_guessed') },
    "signed with another payment's token": { body, signature: signWebhook(body, other.ipnToken) },
    'altered after it was signed': { body: altered, signature },
    'with a signature of the right length that is none': { body, signature: '0'.repeat(64) },
  };
  const answers: { name: string; answer: WebhookAnswer }[] = [];
  for (const [name, webhook] of Object.entries(attempts)) {
    answers.push({ name, answer: await send(context, webhook) });
  }
  return answers;
}

async function sendDuplicates(context: SendContext, order: GradedOrder) {
  const webhook = genuine(order);
  const duplicates = await Promise.all(Array.from({ length: DUPLICATES }, () => send(context, webhook)));
  await settled(context, order);
  const late = await send(context, webhook);
  await send(context, genuine(order, HOUR_SECONDS));
  return { duplicates, late };
}

async function settled({ readFulfilments, patienceMs }: SendContext, order: GradedOrder): Promise<void> {
  if (readFulfilments === null) return;
  await waitUntil(patienceMs, async () => (await readFulfilments(order.paymentId)) > 0);
}

async function waitUntil(patienceMs: number, isReached: () => Promise<boolean>): Promise<void> {
  const deadlineMs = performance.now() + patienceMs;
  while (!(await isReached()) && performance.now() < deadlineMs) await delay(POLL_INTERVAL_MS);
}

export function paidFields(order: GradedOrder, timestampSeconds: number): Readonly<Record<string, unknown>> {
  return {
    event: 'payment.paid',
    id: order.paymentId,
    paymentId: order.paymentId,
    status: 'paid',
    amount: order.amount,
    originalAmount: null,
    customerFeeAmount: null,
    passFeeToCustomer: false,
    currency: order.currency,
    coin: 'polygon_usdc',
    receivedAmount: '20.000000',
    forwardedAmount: '19.500000',
    txidIn: `0x${'1'.repeat(64)}`,
    txidOut: `0x${'2'.repeat(64)}`,
    note: 'Grüße 👋 <b>&amp;</b>',
    email: null,
    timestamp: timestampSeconds,
  };
}

/** Returns valid JSON in an unusual form. A receiver that verifies re-serialized JSON refuses it. */
function formattingVariants(fields: Readonly<Record<string, unknown>>): string {
  const text = JSON.stringify({ ...fields, added_later: 1 }, null, 1);
  return `${text.replace('"added_later": 1', '"added_later": 1.0e0').replace('ü', '\\u00fc')}\n`;
}
