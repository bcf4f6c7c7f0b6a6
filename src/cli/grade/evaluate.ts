import type { WebhookAnswer } from './post-webhook.ts';

export interface Observations {
  readonly good: WebhookAnswer;
  /** Answer to a genuine webhook whose body takes a second to arrive. */
  readonly slowBody: WebhookAnswer;
  readonly odd: WebhookAnswer;
  readonly forgeries: readonly { readonly name: string; readonly answer: WebhookAnswer }[];
  readonly duplicates: readonly WebhookAnswer[];
  /** Answer to the same webhook, sent again after the order was fulfilled. */
  readonly late: WebhookAnswer;
  /** Numbers of status reads; null if the shop uses another service, where the grader cannot count them. */
  readonly statusReads: { readonly plain: number; readonly unpaid: number } | null;
  /** Number of fulfillments of each order; null without a probe, or if there was no reason to fulfill the order. */
  readonly fulfilments: Readonly<Record<'plain' | 'odd' | 'guarded' | 'unpaid' | 'repeated', number | null>>;
  readonly timeLimitMs: number;
}

export interface Finding {
  readonly obligation: string;
  /** `not_seen`: the shop reports no fulfillments. `not_checked`: some checks need the stand-in service. */
  readonly mark: 'met' | 'missed' | 'not_seen' | 'not_checked';
  readonly problems: readonly string[];
  /** How to meet the obligation; null if it is met. */
  readonly mend: string | null;
}

const isAccepted = ({ status }: WebhookAnswer) => status !== null && status >= 200 && status < 300;

function wordsOf({ status, problem }: WebhookAnswer): string {
  return status === null ? (problem ?? 'no answer') : `it answered ${status}`;
}

/** Evaluates the observations by obligation, in the order of the specification. */
export function evaluate(seen: Observations): readonly Finding[] {
  return [
    readsRawBody(seen),
    verifiesSignature(seen),
    confirms(seen),
    fulfilsOnce(seen),
    answersInTime(seen),
  ];
}

/** Observations of how the shop uses the event log. Fulfillments are null without a probe. */
interface EventObservations {
  readonly isFollowed: boolean;
  /** Fulfillments of the order that appears only in the event log. */
  readonly missed: number | null;
  /** Fulfillments of the order that also has a webhook. */
  readonly known: number | null;
}

/** Evaluates the use of the event log. Webhooks are sent once, so only a shop that follows the log misses no event. */
export function evaluateEvents({ isFollowed, missed, known }: EventObservations): Finding {
  const problems: string[] = [];
  if (isFollowed && missed === 0)
    problems.push('an order whose webhook never came was not fulfilled by its event');
  if (missed !== null && missed > 1) problems.push(`such an order was fulfilled ${missed} times`);
  if (known !== null && known > 1)
    problems.push(`an order with a webhook and an event was fulfilled ${known} times`);
  const obligation = 'recommended: follow the event log';
  const mend =
    'A webhook is sent once. Read GET /merchant/v1/events from the stored number on, and fulfil an order of payment.paid in the transaction that stores the next number.';
  const graded = finding(obligation, problems, mend, isFollowed && missed !== null ? 'met' : 'not_seen');
  return isFollowed ? graded : { ...graded, mend };
}

function finding(
  obligation: string,
  problems: readonly string[],
  mend: string,
  otherwise: 'met' | 'not_seen' | 'not_checked' = 'met',
): Finding {
  if (problems.length > 0) return { obligation, mark: 'missed', problems, mend };
  return { obligation, mark: otherwise, problems, mend: ways[otherwise] };
}

const ways = {
  met: null,
  not_seen: 'Let the shop tell how often an order was fulfilled, and name the address with --probe-url.',
  not_checked:
    'Only the stand-in service can call payments paid: run a shop that asks it, and grade that one without --payment.',
} as const;

function readsRawBody({ odd, fulfilments }: Observations): Finding {
  const problems: string[] = [];
  if (!isAccepted(odd)) problems.push(`a genuine webhook with unusual spaces and escapes: ${wordsOf(odd)}`);
  if (fulfilments.odd === 0) problems.push('its order was not fulfilled');
  return finding(
    '1. read the raw body before parsing',
    problems,
    'Verify the bytes as they came. A body that was parsed and written again is another one: take it before the framework’s JSON parser does (express.raw, request.text(), php://input).',
  );
}

function verifiesSignature({ good, forgeries, fulfilments }: Observations): Finding {
  const problems = forgeries
    .filter(({ answer }) => isAccepted(answer))
    .map(({ name, answer }) => `a webhook ${name}: ${wordsOf(answer)}`);
  if (!isAccepted(good)) problems.push(`a genuine webhook: ${wordsOf(good)}`);
  if ((fulfilments.guarded ?? 0) > 0) problems.push('a forged webhook had an order fulfilled');
  return finding(
    '2. verify the signature',
    problems,
    'Compute the HMAC-SHA256 of the raw body with the ipn_token that was stored with this payment, compare it with X-Service-Signature in constant time, and answer 401 if it differs or is missing.',
  );
}

function confirms({ statusReads, fulfilments }: Observations): Finding {
  const problems: string[] = [];
  if (statusReads?.plain === 0) problems.push('a genuine webhook came, and the status was not read');
  if (statusReads?.unpaid === 0) problems.push('the status of an unpaid payment was not read');
  if ((fulfilments.unpaid ?? 0) > 0) {
    problems.push('an order was fulfilled whose payment the status lookup calls unpaid');
  }
  return finding(
    '3. confirm with the status',
    problems,
    'Read GET /api/v1/payment-status after the signature, and go on only if status is paid.',
    statusReads === null ? 'not_checked' : 'met',
  );
}

function fulfilsOnce({ fulfilments, duplicates, statusReads }: Observations): Finding {
  const problems: string[] = [];
  const { plain, repeated } = fulfilments;
  if (plain === 0) problems.push('a paid order was not fulfilled');
  if (plain !== null && plain > 1) problems.push(`one that came twice was fulfilled ${plain} times`);
  if (repeated !== null && repeated !== 1) {
    problems.push(`${duplicates.length} at once, one later and one played back: fulfilled ${repeated} times`);
  }
  const unseen = statusReads === null ? 'not_checked' : 'not_seen';
  return finding(
    '4. fulfil once per payment',
    problems,
    'Let the database decide in the transaction that fulfils: UPDATE orders SET fulfilled_at = now() WHERE payment_id = ? AND fulfilled_at IS NULL, and ship only if that changed a row.',
    plain === null ? unseen : 'met',
  );
}

function answersInTime({ good, slowBody, odd, duplicates, late, timeLimitMs }: Observations): Finding {
  const genuine = [
    ['a genuine webhook', good],
    ['one whose body takes a second to arrive', slowBody],
    // Included only if there was no answer, because a refusal is a finding of the first obligation.
    ...(odd.status === null ? [['one with unusual spaces', odd] as const] : []),
    ...duplicates.map((answer) => ['one of several at once', answer] as const),
    ['a repeated one', late],
  ] as const;
  const problems = genuine
    .filter(([, answer]) => !isAccepted(answer))
    .map(([name, answer]) => `${name}: ${wordsOf(answer)}`);
  return finding(
    '5. reply 2xx within 10 seconds',
    [...new Set(problems)],
    `Answer 2xx within ${timeLimitMs / 1000} seconds, to a repeated webhook too, and never with a redirect. Do slow work afterwards; the event is not sent again.`,
  );
}
