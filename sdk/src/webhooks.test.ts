import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WebhookError } from './errors.ts';
import { constructEvent, constructEventAsync, sign as signForTests } from './webhooks.ts';

const paymentId = '01a1fbd7-b7b3-7002-be38-5df3e4ebf9f4';
const ipnToken = 'ipn_test';
const nowMs = 1_800_000_000_000;
const options = { nowMs };

const paid = {
  event: 'payment.paid',
  id: paymentId,
  paymentId,
  status: 'paid',
  amount: '25.00',
  note: 'Grüße 👋',
  timestamp: nowMs / 1000,
};
const forwarded = {
  event: 'payment.forwarded',
  paymentId,
  forwardTxid: `0x${'1'.repeat(64)}`,
  amountForwarded: '24.375000',
  toWallet: '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65',
  timestamp: nowMs / 1000,
};

function sign(body: string | Uint8Array, token = ipnToken): string {
  return createHmac('sha256', token).update(body).digest('hex');
}

function refusalOf(attempt: () => unknown): string {
  try {
    attempt();
  } catch (error) {
    if (error instanceof WebhookError) return error.reason;
    throw error;
  }
  throw new Error('it was accepted');
}

describe('a genuine webhook', () => {
  it.each([paid, forwarded])('is returned as the event that it is: $event', (fields) => {
    const body = JSON.stringify(fields);
    expect(constructEvent(body, sign(body), ipnToken, options)).toEqual(fields);
    expect(constructEvent(Buffer.from(body), [sign(body)], ipnToken, options)).toEqual(fields);
    const { buffer } = new TextEncoder().encode(body);
    expect(constructEvent(buffer, sign(body), ipnToken, options)).toEqual(fields);
    expect(signForTests(body, ipnToken)).toBe(sign(body));
  });

  it('has the signature that the documentation publishes', () => {
    const signature = '9368b00c91589141153a0cba79d3b0a78de0042a2fb7013eb3d4783ebe84685b';
    expect(refusalOf(() => constructEvent('{"event":"payment.paid"}', signature, 'ipn_test'))).toBe(
      'malformed',
    );
    expect(refusalOf(() => constructEvent('{"event":"payment.paid"} ', signature, 'ipn_test'))).toBe(
      'wrong_signature',
    );
  });

  it('is refused before and after its time, and nothing is let through by a tolerance that is no number', () => {
    const body = JSON.stringify(paid);
    const at = (seconds: number, toleranceSeconds?: number) => () =>
      constructEvent(body, sign(body), ipnToken, {
        nowMs: nowMs + seconds * 1000,
        ...(toleranceSeconds === undefined ? {} : { toleranceSeconds }),
      });
    expect(at(300)().event).toBe('payment.paid');
    expect(at(-300)().event).toBe('payment.paid');
    for (const seconds of [301, -301, 86_400]) expect(refusalOf(at(seconds))).toBe('not_fresh');
    expect(refusalOf(at(0, Number.NaN))).toBe('not_fresh');
    expect(at(86_400, Number.POSITIVE_INFINITY)().event).toBe('payment.paid');
  });
});

describe('what is refused', () => {
  it('is every altered body, whatever is altered', () => {
    const body = JSON.stringify(paid);
    const signature = sign(body);
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: Buffer.byteLength(body) - 1 }),
        fc.integer({ min: 1, max: 255 }),
        (at, by) => {
          const altered = Buffer.from(body);
          altered[at] = (altered[at] as number) ^ by;
          expect(refusalOf(() => constructEvent(altered, signature, ipnToken, options))).toBe(
            'wrong_signature',
          );
        },
      ),
    );
  });

  it('is every signature but the one', () => {
    const body = JSON.stringify(paid);
    const signature = sign(body);
    fc.assert(
      fc.property(fc.string(), (other) => {
        const reason = refusalOf(() => constructEvent(body, other, ipnToken, options));
        expect(['no_signature', 'wrong_signature']).toContain(reason);
      }),
    );
    for (const other of [
      null,
      undefined,
      '',
      [],
      [signature, signature],
      signature.toUpperCase(),
      ` ${signature}`,
    ]) {
      expect(refusalOf(() => constructEvent(body, other, ipnToken, options))).toBe('no_signature');
    }
    expect(refusalOf(() => constructEvent(body, sign(body, 'ipn_other'), ipnToken, options))).toBe(
      'wrong_signature',
    );
  });

  it('is what is signed and is no event', () => {
    const refused = (body: string | Uint8Array) =>
      refusalOf(() => constructEvent(body, sign(body), ipnToken, options));
    for (const body of ['', 'null', '[]', '{', '"text"', JSON.stringify({ ...paid, timestamp: 'now' })]) {
      expect(refused(body)).toBe('malformed');
    }
    expect(refused(JSON.stringify({ ...paid, status: 'unpaid' }))).toBe('malformed');
    expect(refused(JSON.stringify({ ...paid, event: 'payment.refunded' }))).toBe('unknown_event');
    expect(refused(Buffer.from([0x7b, 0xff, 0x7d]))).toBe('malformed');
    expect(refused(`{"a":"${'x'.repeat(70_000)}"}`)).toBe('malformed');
  });

  it('says by the status what to answer', () => {
    expect(new WebhookError('wrong_signature', '').httpStatus).toBe(401);
    expect(new WebhookError('malformed', '').httpStatus).toBe(400);
  });
});

describe('mistakes in the endpoint', () => {
  it('are told apart from forgeries: a parsed body, a missing token', () => {
    const body = JSON.stringify(paid);
    expect(() => constructEvent(paid as unknown as string, sign(body), ipnToken)).toThrow(/parsed body/);
    expect(() => constructEvent(body, sign(body), '')).toThrow(TypeError);
    expect(() => constructEvent(body, sign(body), undefined as unknown as string)).toThrow(TypeError);
  });
});

describe('the asynchronous form', () => {
  const body = JSON.stringify(paid);

  it('asks for the token of the payment that the body names', async () => {
    const asked: string[] = [];
    const findToken = async (id: string) => {
      asked.push(id);
      return ipnToken;
    };
    expect(await constructEventAsync(body, sign(body), findToken, options)).toEqual(paid);
    expect(asked).toEqual([paymentId]);
  });

  it.each([null, undefined, ''])('refuses a payment without a token (%j)', async (token) => {
    await expect(constructEventAsync(body, sign(body), () => token, options)).rejects.toMatchObject({
      reason: 'unknown_payment',
      httpStatus: 401,
    });
  });

  it('refuses what was signed with another token, and asks for nothing that is no id', async () => {
    await expect(constructEventAsync(body, sign(body, 'x'), () => ipnToken, options)).rejects.toMatchObject({
      reason: 'wrong_signature',
    });
    for (const id of ["' OR 1=1 --", 7, { $gt: '' }, undefined, '__proto__']) {
      const hostile = JSON.stringify({ ...paid, paymentId: id });
      const findToken = () => {
        throw new Error('it was asked');
      };
      await expect(constructEventAsync(hostile, sign(hostile), findToken, options)).rejects.toMatchObject({
        reason: 'malformed',
      });
    }
  });
});
