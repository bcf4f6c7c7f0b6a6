import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { expect, it } from 'vitest';
import { createIpnTokens } from '../payment/ipn-token.ts';
import { createSecretBox } from '../platform/secret-box.ts';
import type { DeliveryOutcome } from './delivery-types.ts';
import {
  type SendWebhooksContext,
  sendWebhook,
  type WaitingWebhook,
  type Webhook,
  type WebhookResult,
} from './send-webhook.ts';
import {
  chooseWebhooks,
  claimWebhooks,
  type DeliveryBounds,
  fullHosts,
  type OpenDelivery,
} from './webhook-queue.ts';
import { createSigningSecret, SIGNING_SECRETS } from './webhook-signatures.ts';

const PAYMENT_ID = '01890a5d-ac96-774b-bcce-b302099a8057';
const tokens = createIpnTokens('the secret of this test, long enough');
const box = createSecretBox(SIGNING_SECRETS, 'the secret of this test, long enough');
const outcome: DeliveryOutcome = {
  outcome: 'delivered',
  httpStatus: 200,
  reason: null,
  durationMs: 7,
  responseExcerpt: 'thanks',
};

const webhook: Webhook = {
  id: `${PAYMENT_ID}:payment.paid`,
  accountId: 'acc_shop',
  paymentId: PAYMENT_ID,
  event: 'payment.paid',
  fields: { event: 'payment.paid', note: 'ünïcode "quoted"' },
  url: 'https://shop.example.com/hook',
  host: 'shop.example.com',
  tokenFingerprint: tokens.currentFingerprint,
  sealedSecrets: [],
  status: 'sending',
  createdAtMs: 1,
  claimedAtMs: 2,
  result: null,
};

/** Computes the signature of a body as a receiver does. */
function signatureOf(body: string | null): string {
  return createHmac('sha256', tokens.create(PAYMENT_ID)).update(String(body), 'utf8').digest('hex');
}

/** Sends a webhook. Returns the recorded results, those passed to `onResult`, and the thrown error or null. */
async function send(change: Partial<SendWebhooksContext>, sent: Partial<Webhook> = {}) {
  const recorded: WebhookResult[] = [];
  const told: WebhookResult[] = [];
  const context: SendWebhooksContext = {
    webhooks: {
      recordWebhookResult: async (_id, result) => void recorded.push(result),
      claimWebhooks: async () => [],
      listWaitingWebhooks: async () => [],
      abandonStaleWebhooks: async () => 0,
      listWebhooks: async () => [],
    },
    tokens,
    signingSecrets: box,
    deliver: async () => outcome,
    nowMs: () => 1_700_000_000_999,
    onResult: (_webhook, result) => void told.push(result),
    ...change,
  };
  const thrown: unknown = await sendWebhook(context, { ...webhook, ...sent }).then(
    () => null,
    (error: unknown) => error,
  );
  return { recorded, told, thrown };
}

it('signs the very bytes that it sends, with the time in whole seconds', async () => {
  const deliveries: unknown[] = [];
  const deliver = async (delivery: unknown) => {
    deliveries.push(delivery);
    return outcome;
  };
  const { recorded, told, thrown } = await send({ deliver });
  expect(thrown).toBeNull();
  expect(told).toEqual(recorded);
  const [result] = recorded as [WebhookResult];
  expect(deliveries).toEqual([
    { url: webhook.url, body: result.body, signature: result.signature, headers: {} },
  ]);
  const { body, signature } = result;
  expect(result).toEqual({ ...outcome, body, signature, finishedAtMs: 1_700_000_000_999 });
  expect(JSON.parse(result.body as string)).toEqual({ ...webhook.fields, timestamp: 1_700_000_000 });
  expect(result.signature).toBe(signatureOf(result.body));
});

it('signs by Standard Webhooks too, with each secret of the account, as the official library verifies', async () => {
  const [older, newer] = [createSigningSecret(), createSigningSecret()];
  for (const secrets of [[older], [older, newer], [newer]]) {
    const sealedSecrets = secrets.map((secret) => box.seal(secret, webhook.accountId));
    const [headers, sent] = [{} as Record<string, string>, { body: '' }];
    const deliver: SendWebhooksContext['deliver'] = async ({ body, headers: more }) => {
      Object.assign(headers, more);
      sent.body = body;
      return outcome;
    };
    await send({ deliver, nowMs: Date.now }, { sealedSecrets });
    const event = JSON.parse(sent.body);
    expect(headers['webhook-id']).toBe('evt_01890a5dac96774bbcceb302099a8057_payment_paid');
    expect(headers['webhook-timestamp']).toBe(String(event.timestamp));
    for (const secret of [older, newer]) {
      const verify = (body: string) => new StandardWebhook(secret).verify(body, headers);
      if (secrets.includes(secret)) expect(verify(sent.body)).toEqual(event);
      else expect(() => verify(sent.body)).toThrow('No matching signature');
      expect(() => verify(`${sent.body} `)).toThrow('No matching signature');
    }
  }
});

it('sends without the second signature where the key of the secret is missing', async () => {
  const foreign = createSecretBox(SIGNING_SECRETS, 'another secret of this test, long too');
  const sealedSecrets = [foreign.seal(createSigningSecret(), webhook.accountId)];
  const deliver: SendWebhooksContext['deliver'] = async ({ headers }) => {
    expect(headers).toEqual({});
    return outcome;
  };
  expect((await send({ deliver }, { sealedSecrets })).recorded).toMatchObject([{ outcome: 'delivered' }]);
});

it('signs with the secret that was current when the payment was created', async () => {
  const newer = createIpnTokens('a newer secret of this test, long too', [
    'the secret of this test, long enough',
  ]);
  const { recorded } = await send({ tokens: newer });
  const [result] = recorded as [WebhookResult];
  expect(result.signature).toBe(signatureOf(result.body));
});

it('ends as failed, with nothing sent, when the secret is gone', async () => {
  let deliveries = 0;
  const deliver = async () => {
    deliveries++;
    return outcome;
  };
  const { recorded, thrown } = await send({ deliver }, { tokenFingerprint: 'absent' });
  expect(deliveries).toBe(0);
  expect(recorded).toMatchObject([
    { outcome: 'failed', reason: 'signing_key_missing', body: null, signature: null },
  ]);
  expect(String(thrown)).toContain('SECRET_KEY_PREVIOUS');
});

it('ends as failed, with nothing sent, when the stored event cannot be read', async () => {
  const { recorded, thrown } = await send({}, { fields: {} });
  expect(recorded).toMatchObject([
    { outcome: 'failed', reason: 'event_unreadable', body: null, signature: null },
  ]);
  expect(String(thrown)).toContain('no fields that can be read');
});

/** Runs one pass over the waiting webhooks. The clock advances by a second with each query of the store. */
async function claim(
  waiting: readonly WaitingWebhook[],
  open: readonly OpenDelivery[],
  bounds: DeliveryBounds,
) {
  let nowMs = 1_700_000_000_000;
  const claims: unknown[] = [];
  const listed: unknown[] = [];
  const webhooks = {
    listWaitingWebhooks: async (...asked: unknown[]) => {
      nowMs += 1_000;
      listed.push(asked);
      return waiting;
    },
    claimWebhooks: async (ids: readonly string[], ...claim: unknown[]) => {
      claims.push([ids, ...claim]);
      return ids;
    },
  } as unknown as SendWebhooksContext['webhooks'];
  const newer = createIpnTokens('a newer secret of this test, long too', [
    'the secret of this test, long enough',
  ]);
  const result = await claimWebhooks({ webhooks, tokens: newer, nowMs: () => nowMs }, open, bounds);
  return { ...result, claims, listed };
}

it('leaves a webhook that it cannot sign to others for ten minutes before the claim', async () => {
  const [waiting] = waitingOf('one', 1) as [WaitingWebhook];
  const { claims, claimed, hasBacklog } = await claim([waiting], [], { open: 10, openPerHost: 10 });
  const claimedAtMs = 1_700_000_001_000;
  const fingerprints = [expect.any(String), tokens.currentFingerprint];
  const signable = { fingerprints, anyCreatedBeforeMs: claimedAtMs - 10 * 60_000 };
  expect(claims).toEqual([[[waiting.id], claimedAtMs, signable]]);
  expect(claimed).toEqual([waiting.id]);
  expect(hasBacklog).toBe(false);
});

it('claims nothing and has no backlog where nothing waits', async () => {
  const { claims, listed, claimed, hasBacklog } = await claim([], [], { open: 10, openPerHost: 10 });
  expect([claims, claimed, hasBacklog]).toEqual([[], [], false]);
  expect(listed).toEqual([[100, []]]);
});

it('has a backlog where more waits than may be open', async () => {
  const waiting = waitingOf('one', 3);
  const { claimed, hasBacklog } = await claim(waiting, [], { open: 4, openPerHost: 4 });
  expect(claimed).toEqual(waiting.slice(0, 2).map(({ id }) => id));
  expect(hasBacklog).toBe(true);
});

it('asks for nothing to hosts without a free place, and takes it that more waits for them', async () => {
  const open = [
    { accountId: 'one', host: 'full.example.com' },
    { accountId: 'two', host: 'full.example.com' },
    { accountId: 'two', host: 'free.example.com' },
  ];
  const { listed, claimed, hasBacklog } = await claim([], open, { open: 10, openPerHost: 2 });
  expect(listed).toEqual([[100, ['full.example.com']]]);
  expect([claimed, hasBacklog]).toEqual([[], true]);
});

it('ends as unknown when the delivery breaks in our own hands, because it may have arrived', async () => {
  const mistake = new Error('a mistake of our own');
  let nowMs = 1_700_000_000_000;
  const deliver = () => {
    nowMs += 25;
    return Promise.reject(mistake);
  };
  const { recorded, told, thrown } = await send({ deliver, nowMs: () => nowMs });
  expect(thrown).toBe(mistake);
  const ending = { outcome: 'unknown', reason: 'internal_error', httpStatus: null };
  expect(recorded).toMatchObject([{ ...ending, durationMs: 25, responseExcerpt: '' }]);
  expect(recorded[0]?.body).toContain('payment.paid');
  expect(told).toEqual(recorded);
});

it('records a result only once, even when that fails', async () => {
  let records = 0;
  const { thrown, told } = await send({
    webhooks: {
      async recordWebhookResult() {
        records++;
        throw new Error('disk full');
      },
      claimWebhooks: async () => [],
      listWaitingWebhooks: async () => [],
      abandonStaleWebhooks: async () => 0,
      listWebhooks: async () => [],
    },
  });
  expect(String(thrown)).toContain('disk full');
  expect(records).toBe(1);
  expect(told).toEqual([]);
});

let number = 0;

function waitingOf(accountId: string, count: number, host = () => `host ${++number}`): WaitingWebhook[] {
  return Array.from({ length: count }, () => {
    const createdAtMs = ++number;
    return { id: `webhook ${String(createdAtMs).padStart(9, '0')}`, accountId, host: host(), createdAtMs };
  });
}

const bounds: DeliveryBounds = { open: 300, openPerHost: 40 };
const heldBy = (open: readonly OpenDelivery[], accountId: string) =>
  open.filter((delivery) => delivery.accountId === accountId).length;

it('an account alone takes half of the places, two a third each, and there are always some left', () => {
  const one = chooseWebhooks(waitingOf('one', 1_000), [], bounds);
  expect(one).toHaveLength(150);
  const both = chooseWebhooks([...waitingOf('one', 1_000), ...waitingOf('two', 1_000)], [], bounds);
  expect([heldBy(both, 'one'), heldBy(both, 'two')]).toEqual([100, 100]);
});

it('an account that comes late, after seven that took what they could, gets a place at once', () => {
  let open: OpenDelivery[] = [];
  for (let hostile = 0; hostile < 7; hostile++) {
    const taken = chooseWebhooks(waitingOf(`hostile ${hostile}`, 1_000), open, bounds);
    open = [...open, ...taken];
  }
  expect(chooseWebhooks(waitingOf('late', 1), open, bounds)).toHaveLength(1);
});

it('whoever holds least comes first, then the oldest', () => {
  const busy = waitingOf('busy', 3);
  const idle = waitingOf('idle', 2);
  const open = waitingOf('busy', 1);
  const chosen = chooseWebhooks([...idle, ...busy], open, { open: 6, openPerHost: 6 });
  expect(chosen).toEqual([idle[0], busy[0], idle[1]]);
});

it('of the same moment the smaller id comes first, in whatever order they were listed', () => {
  const same = waitingOf('one', 3).map((one) => ({ ...one, createdAtMs: 1 }));
  const [first, second, third] = same as [WaitingWebhook, WaitingWebhook, WaitingWebhook];
  const bounds = { open: 6, openPerHost: 6 };
  expect(chooseWebhooks([third, first, second], [], bounds)).toEqual(same);
  expect(chooseWebhooks([first, third, second], [], bounds)).toEqual(same);
});

it('a host gets no more than its places, and takes none from other hosts of the account', () => {
  const toOne = waitingOf('one', 400, () => 'hanging.example.com');
  const other = waitingOf('one', 1);
  const chosen = chooseWebhooks([...toOne, ...other], [], bounds);
  expect(chosen).toEqual([...toOne.slice(0, 40), ...other]);
  expect(fullHosts(chosen, bounds)).toEqual(['hanging.example.com']);
  expect(fullHosts(chosen.slice(1), bounds)).toEqual([]);
});

it('keeps every bound and leaves nothing waiting that could go, whatever waits', () => {
  const delivery = fc.record({
    accountId: fc.constantFrom('a', 'b', 'c', 'd'),
    host: fc.constantFrom('x', 'y', 'z'),
  });
  const small = { open: 12, openPerHost: 5 };
  fc.assert(
    fc.property(
      fc.array(delivery, { maxLength: 6 }),
      fc.array(delivery, { maxLength: 30 }),
      (open, asked) => {
        const waiting = asked.map((one, index) => ({ ...one, id: `${index}`, createdAtMs: index }));
        const chosen = chooseWebhooks(waiting, open, small);
        const all = [...open, ...chosen];
        expect(all.length).toBeLessThanOrEqual(small.open);
        for (const { host } of chosen) {
          expect(all.filter((one) => one.host === host).length).toBeLessThanOrEqual(small.openPerHost);
        }
        for (const { accountId } of chosen)
          expect(heldBy(all, accountId)).toBeLessThanOrEqual(
            small.open - all.length + 1 + others(chosen, accountId),
          );
        // No remaining webhook fits within the bounds.
        const left = waiting.filter((one) => !chosen.includes(one));
        expect(chooseWebhooks(left, all, small)).toEqual([]);
      },
    ),
  );
});

/** Counts the slots that other accounts took in the same pass, some perhaps after this account's last one. */
function others(chosen: readonly WaitingWebhook[], accountId: string): number {
  return chosen.length - heldBy(chosen, accountId);
}
