import { setTimeout as delay } from 'node:timers/promises';
import { NoServerError } from '../src/cli/control-socket.ts';
import { postWebhook } from '../src/cli/grade/post-webhook.ts';
import { visible } from '../src/cli/present.ts';
import type { ListenOptions } from '../src/cli/program.ts';

export interface ListenContext extends ListenOptions {
  readonly dataDir: string;
  /** Requests the sandbox's events after the cursor. */
  readonly readEvents: (cursor: string | null) => Promise<unknown>;
  readonly write: (text: string) => void;
  readonly writeError: (text: string) => void;
  readonly signal?: AbortSignal;
}

interface EventPage {
  readonly cursor: string;
  readonly missed: number;
  readonly events: readonly EventCopy[];
}

const TIME_LIMIT_MS = 10_000;
const RETRY_MS = 500;

/**
 * Prints copies of the sandbox's events as they are sent, and forwards each unchanged to a local endpoint. Continues
 * after the sandbox restarts. Returns when the signal aborts. Throws if no sandbox is running at the start.
 */
export async function listen(context: ListenContext): Promise<void> {
  const endpoint = context.forwardTo === undefined ? null : readEndpoint(context.forwardTo);
  let { cursor } = await firstPage(context);
  const lines = greeting(endpoint);
  if (context.isJson) context.writeError(lines);
  else context.write(lines);
  while (context.signal?.aborted !== true) {
    const page = await nextPage(context, cursor);
    if (page === null) continue;
    cursor = page.cursor;
    if (page.missed > 0)
      context.writeError(`${page.missed} events are missing, because they came too fast.\n`);
    for (const event of page.events) void show(context, event, endpoint);
  }
}

async function firstPage(context: ListenContext): Promise<EventPage> {
  try {
    return (await context.readEvents(null)) as EventPage;
  } catch (error) {
    if (!(error instanceof NoServerError)) throw error;
    throw new Error(
      `no sandbox runs with the data folder ${context.dataDir}: start one with npm start, or set DATA_DIR to the folder of the running one`,
      { cause: error },
    );
  }
}

/** Reads the next page. Returns null while the sandbox is not running. Throws the sandbox's errors. */
async function nextPage(context: ListenContext, cursor: string): Promise<EventPage | null> {
  try {
    return (await context.readEvents(cursor)) as EventPage;
  } catch (error) {
    const isAway = error instanceof NoServerError || (error as NodeJS.ErrnoException).code === 'ECONNRESET';
    if (!isAway) throw error;
    await delay(RETRY_MS);
    return null;
  }
}

/** Prints an event at once and the endpoint's answer later, so that slow answers do not delay other events. */
async function show(context: ListenContext, event: EventCopy, endpoint: URL | null): Promise<void> {
  if (!context.isJson) context.write(eventLines(event));
  const forwarded = endpoint === null ? null : await forward(event, endpoint);
  if (context.isJson) context.write(`${JSON.stringify({ ...event, forwarded })}\n`);
  else if (forwarded !== null) context.write(forwardedLine(event, forwarded));
}

async function forward({ body, signature, headers }: EventCopy, endpoint: URL): Promise<Forwarded> {
  const answer = await postWebhook(endpoint, { body, signature, headers }, TIME_LIMIT_MS);
  const { status, problem, durationMs, excerpt } = answer;
  return { status, problem, duration_ms: durationMs, answer: excerpt };
}

function readEndpoint(text: string): URL {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new Error('--forward-to must be an http or https URL');
  }
  return url;
}

export interface EventCopy {
  readonly event: string;
  readonly payment_id: string;
  /** URL to which the service sends the original event. */
  readonly callback: string;
  readonly body: string;
  readonly signature: string;
  /** Standard Webhooks headers as sent; empty if the account has no signing secret. */
  readonly headers: Readonly<Record<string, string>>;
  /** Token that verifies the event. The merchant received it when the payment was created. */
  readonly ipn_token: string | null;
  readonly at: string;
}

interface Forwarded {
  readonly status: number | null;
  readonly problem: string | null;
  readonly duration_ms: number;
  readonly answer: string;
}

function greeting(endpoint: URL | null): string {
  return `Listening to the sandbox. ${
    endpoint === null
      ? 'Events are only printed; --forward-to sends them to your endpoint.'
      : `Each event is also sent to ${visible(endpoint.href)}.`
  }
These are copies: the service sends the event itself to the payment's callback, once.

To verify one, compare X-Service-Signature with the HMAC-SHA256 of the raw body under the payment's ipn_token:
  printf '%s' "$BODY" | openssl dgst -sha256 -hmac "$IPN_TOKEN"
If the account has a signing secret (dashboard, Webhooks), a copy has the headers of Standard Webhooks too.

To trigger one, run in another terminal: npx card-checkout trigger payment.paid
Your shop does not know that payment. To pay an order of your shop, add --payment PAYMENT_ID.
`;
}

function eventLines(event: EventCopy): string {
  return [
    '',
    headOf(event),
    `  to         ${visible(event.callback)}`,
    `  body       ${visible(event.body)}`,
    `  signature  ${event.signature}`,
    `  ipn_token  ${event.ipn_token ?? '–'}`,
    ...Object.entries(event.headers).map(([name, value]) => `  ${name}: ${value}`),
    '',
  ].join('\n');
}

/** Formats the endpoint's answer as a separate line, because other events may have been printed in between. */
function forwardedLine(event: EventCopy, { status, problem, duration_ms, answer }: Forwarded): string {
  const outcome = status === null ? (problem ?? 'no answer') : `answered ${status}`;
  const text = answer.trim() === '' ? '' : `: ${visible(answer.trim())}`;
  return `${headOf(event)} → ${visible(outcome)} after ${duration_ms} ms${text}\n`;
}

function headOf({ at, event, payment_id }: EventCopy): string {
  return `${at.slice(11, 19)} ${visible(event)} ${visible(payment_id)}`;
}
