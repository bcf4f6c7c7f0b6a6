import { setTimeout as delay } from 'node:timers/promises';
import { NoServerError } from '../control-client.ts';
import { postWebhook } from '../grade/post-webhook.ts';
import { type EventCopy, eventLines, type Forwarded, forwardedLine, greeting } from './present-event.ts';

/** What is typed after `listen`. */
export interface ListenOptions {
  /** Where each event is sent as well; without it events are shown only. */
  readonly forwardTo?: string;
  readonly isJson: boolean;
}

/** How it is run, beside what is typed. */
export interface ListenContext extends ListenOptions {
  /** The data folder of the sandbox, for people. */
  readonly dataDir: string;
  /** Asks the sandbox for what came after the cursor. */
  readonly readEvents: (cursor: string | null) => Promise<unknown>;
  /** Standard output. */
  readonly write: (text: string) => void;
  /** Standard error. */
  readonly tell: (text: string) => void;
  /** Ends it; a person presses Ctrl-C. */
  readonly signal?: AbortSignal;
  readonly timeLimitMs?: number;
}

/** What the sandbox answers. */
interface EventPage {
  readonly cursor: string;
  readonly missed: number;
  readonly events: readonly EventCopy[];
}

/** That of the real webhook. */
const TIME_LIMIT_MS = 10_000;
const RETRY_MS = 500;

/**
 * Shows copies of the sandbox's events as they are sent, and hands each to a local endpoint, body and signature unchanged.
 * Goes on when the sandbox is started again. Returns when it is told to; throws when no sandbox runs at the beginning.
 */
export async function listen(context: ListenContext): Promise<void> {
  const endpoint = context.forwardTo === undefined ? null : readEndpoint(context.forwardTo);
  let { cursor } = await firstPage(context);
  const lines = greeting(endpoint);
  if (context.isJson) context.tell(lines);
  else context.write(lines);
  while (context.signal?.aborted !== true) {
    const page = await nextPage(context, cursor);
    if (page === null) continue;
    cursor = page.cursor;
    if (page.missed > 0) context.tell(`${page.missed} events came too fast to be shown.\n`);
    for (const event of page.events) void show(context, event, endpoint);
  }
}

async function firstPage(context: ListenContext): Promise<EventPage> {
  try {
    return (await context.readEvents(null)) as EventPage;
  } catch (error) {
    if (!(error instanceof NoServerError)) throw error;
    throw new Error(
      `no sandbox runs on the data folder ${context.dataDir}: start one with npm start, or set DATA_DIR to the folder of the one that runs`,
      { cause: error },
    );
  }
}

/** Null while the sandbox is away. What it refuses is thrown. */
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

/** Prints an event when it comes, and how the endpoint answered when it has; one that is slow holds up no other. */
async function show(context: ListenContext, event: EventCopy, endpoint: URL | null): Promise<void> {
  if (!context.isJson) context.write(eventLines(event));
  const forwarded = endpoint === null ? null : await forward(context, event, endpoint);
  if (context.isJson) context.write(`${JSON.stringify({ ...event, forwarded })}\n`);
  else if (forwarded !== null) context.write(forwardedLine(event, forwarded));
}

async function forward(
  { timeLimitMs = TIME_LIMIT_MS }: ListenContext,
  { body, signature }: EventCopy,
  endpoint: URL,
): Promise<Forwarded> {
  const { status, problem, durationMs, excerpt } = await postWebhook(
    endpoint,
    { body, signature },
    timeLimitMs,
  );
  return { status, problem, duration_ms: durationMs, answer: excerpt };
}

function readEndpoint(text: string): URL {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new Error('--forward-to must be an http or https address');
  }
  return url;
}
