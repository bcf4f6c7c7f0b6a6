import { visible } from '../print.ts';

/** A copy of an event, as the sandbox hands it out. */
export interface EventCopy {
  readonly event: string;
  readonly payment_id: string;
  /** Where the event itself goes. */
  readonly callback: string;
  /** Exactly the bytes that were signed. */
  readonly body: string;
  readonly signature: string;
  /** The token that verifies it; the merchant got it with the payment. */
  readonly ipn_token: string | null;
  readonly at: string;
}

/** How the local endpoint answered a copy. */
export interface Forwarded {
  /** Null when there was no answer. */
  readonly status: number | null;
  readonly problem: string | null;
  readonly duration_ms: number;
  /** The beginning of the answer's body. */
  readonly answer: string;
}

/** What a listener is told first. */
export function greeting(endpoint: URL | null): string {
  return `Listening to the sandbox. ${
    endpoint === null
      ? 'Events are shown only; --forward-to hands them to your endpoint.'
      : `Each event goes to ${visible(endpoint.href)} too.`
  }
These are copies: the event itself goes to the payment's callback, once, whether anybody listens or not.

To verify one: the HMAC-SHA256 of the raw body with the payment's ipn_token, as hex, is X-Service-Signature.
  printf '%s' "$BODY" | openssl dgst -sha256 -hmac "$IPN_TOKEN"

Bring one about in another terminal: card-checkout trigger payment.paid
`;
}

/** An event with all that it takes to verify it. */
export function eventLines(event: EventCopy): string {
  return [
    '',
    headOf(event),
    `  to         ${visible(event.callback)}`,
    `  body       ${visible(event.body)}`,
    `  signature  ${event.signature}`,
    `  ipn_token  ${event.ipn_token ?? '–'}`,
    '',
  ].join('\n');
}

/** How the endpoint answered, on a line of its own, because others may have come meanwhile. */
export function forwardedLine(event: EventCopy, { status, problem, duration_ms, answer }: Forwarded): string {
  const outcome = status === null ? (problem ?? 'no answer') : `answered ${status}`;
  const text = answer.trim() === '' ? '' : `: ${visible(answer.trim())}`;
  return `${headOf(event)} → ${visible(outcome)} after ${duration_ms} ms${text}\n`;
}

function headOf({ at, event, payment_id }: EventCopy): string {
  return `${at.slice(11, 19)} ${visible(event)} ${visible(payment_id)}`;
}
