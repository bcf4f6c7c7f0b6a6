/** What is left of the webhook after a kill at a point: how it ends, and how many POSTs its receiver has seen. */
interface WebhookAfter {
  readonly outcome: 'delivered' | 'unknown' | 'either';
  readonly posts: 0 | 1 | null;
}

const sent: WebhookAfter = { outcome: 'delivered', posts: 1 };
/** The webhook is sent at the same time, by another task. */
const meanwhile: WebhookAfter = { outcome: 'either', posts: null };

/**
 * The steps of a payment from its request to the recorded outcome of its webhook, in their order: at each of them a
 * test can have the process killed. `…` says what has not been done yet at that point.
 */
export const killPoints = {
  'create accepted … written': sent,
  'create written … answered': sent,
  'session started … written': sent,
  'session written … answered': sent,
  'deposit seen … recorded': sent,
  'deposit recorded … final': sent,
  'deposit final … recorded': sent,
  'final deposit recorded … claimed': sent,
  'release claimed … signed': sent,
  'release signed … stored': sent,
  'release stored … broadcast': sent,
  'release broadcast … noted': sent,
  'higher fees signed … stored': sent,
  'higher fees stored … broadcast': sent,
  'higher fees broadcast … noted': sent,
  'release seen … recorded': sent,
  'release recorded … final': sent,
  'release final … recorded': sent,
  'paid recorded … webhook claimed': meanwhile,
  'batch final … closed': meanwhile,
  'batch closed … next': meanwhile,
  'webhook claimed … connected': { outcome: 'unknown', posts: 0 },
  'webhook connected … sent': { outcome: 'unknown', posts: 0 },
  'webhook arrived … answered': { outcome: 'unknown', posts: 1 },
  'webhook answered … recorded': { outcome: 'unknown', posts: 1 },
  'webhook recorded … next': sent,
} as const satisfies Record<string, WebhookAfter>;

export type KillPoint = keyof typeof killPoints;

export const killPointNames = Object.keys(killPoints) as KillPoint[];

/** The receiver of webhooks, and not the process itself, kills it here. */
export const ARRIVED: KillPoint = 'webhook arrived … answered';

/** Only a release that no block takes gets there, so its first broadcast has to be held back. */
export const isWithHigherFees = (point: KillPoint): boolean => point.startsWith('higher fees');
