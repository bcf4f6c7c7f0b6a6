import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { featureCommands } from '../../src/app/feature-commands.ts';
import { type Grade, gradeLines } from '../../src/cli/grade/grade-command.ts';
import { runGrade } from '../../src/cli/grade/run-grade.ts';
import { startStandInService } from '../../src/cli/grade/stand-in-service.ts';
import { freePorts } from '../support/free-ports.ts';

/** The service hangs up after this in these tests. */
const timeLimitMs = 5_000;
const quiet = { eventFields: featureCommands.eventFields, log: () => {} };

/** What a receiver does wrong; nothing by default. */
interface Mistakes {
  /** Verifies what it has written again after parsing. */
  readonly writesBodyAgain?: boolean;
  readonly believesAnything?: boolean;
  /** Verifies only where there is a signature. */
  readonly needsNoSignature?: boolean;
  readonly confirmsNothing?: boolean;
  /** Asks, and does not listen to the answer. */
  readonly ignoresStatus?: boolean;
  readonly fulfilsEachTime?: boolean;
  /** Looks whether it was fulfilled, and fulfils a moment later. */
  readonly looksBeforeItLeaps?: boolean;
  readonly fulfilsNever?: boolean;
  readonly isSlow?: boolean;
  readonly redirects?: boolean;
  readonly refusesRepetitions?: boolean;
  /** Closes a connection on which a second request arrives, as a server whose idle time just ended. */
  readonly closesUsedConnections?: boolean;
  /** Follows the event log: rightly, without looking whether an order is fulfilled, or without fulfilling. */
  readonly follows?: 'once' | 'each event' | 'in vain';
}

/** A shop with these mistakes, which uses the service at this address. */
async function startShop(serviceUrl: string, mistakes: Mistakes) {
  const orders = new Map<string, { ipnToken: string; fulfilments: number }>();
  const headers = { 'x-api-key': 'service_live_test', 'content-type': 'application/json' };

  async function receive(rawBody: Buffer, signature: string): Promise<number> {
    const event = JSON.parse(rawBody.toString()) as { paymentId: string };
    const order = orders.get(event.paymentId);
    if (order === undefined) return 401;
    const signed = mistakes.writesBodyAgain === true ? Buffer.from(JSON.stringify(event)) : rawBody;
    const expected = createHmac('sha256', order.ipnToken).update(signed).digest('hex');
    const isGenuine =
      signature.length === expected.length && timingSafeEqual(Buffer.from(signature), Buffer.from(expected));
    const isExcused = mistakes.needsNoSignature === true && signature === '';
    if (!isGenuine && !isExcused && mistakes.believesAnything !== true) return 401;

    if (mistakes.confirmsNothing !== true) {
      const response = await fetch(`${serviceUrl}/api/v1/payment-status?payment_id=${event.paymentId}`, {
        headers,
      });
      const { status } = (await response.json()) as { status: string };
      if (status !== 'paid' && mistakes.ignoresStatus !== true) return 204;
    }
    if (order.fulfilments > 0 && mistakes.refusesRepetitions === true) return 409;
    if (mistakes.isSlow === true && order.fulfilments === 0) await delay(timeLimitMs + 300);
    const isFulfilled = order.fulfilments > 0;
    if (mistakes.looksBeforeItLeaps === true && !isFulfilled) await delay(1_000);
    if (mistakes.fulfilsNever !== true && (!isFulfilled || mistakes.fulfilsEachTime === true))
      order.fulfilments++;
    return mistakes.redirects === true ? 302 : 204;
  }

  let [after, isRunning] = [0, mistakes.follows !== undefined];
  async function follow(): Promise<void> {
    for (; isRunning; await delay(20)) {
      const answer = await fetch(`${serviceUrl}/merchant/v1/events?after=${after}`, { headers }).catch(
        () => null,
      );
      if (answer === null) continue;
      const page = (await answer.json()) as {
        events: { payment: { payment_id: string } }[];
        next_after: number;
      };
      for (const { payment } of page.events) {
        const order = orders.get(payment.payment_id);
        const isDue = order?.fulfilments === 0 || mistakes.follows === 'each event';
        if (order !== undefined && isDue && mistakes.follows !== 'in vain') order.fulfilments++;
      }
      after = page.next_after;
    }
  }
  const following = follow();

  const used = new WeakSet<object>();
  const server = createServer(async (request, response) => {
    if (used.has(request.socket) && mistakes.closesUsedConnections === true) return request.socket.destroy();
    used.add(request.socket);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (request.url === '/orders') {
      const answer = await fetch(`${serviceUrl}/api/v1/wallet`, {
        method: 'POST',
        headers,
        body: Buffer.concat(chunks),
      });
      const payment = (await answer.json()) as { payment_id: string; ipn_token: string };
      orders.set(payment.payment_id, { ipnToken: payment.ipn_token, fulfilments: 0 });
      response.end();
    } else if (request.url === '/webhook') {
      const signature = String(request.headers['x-service-signature'] ?? '');
      const status = await receive(Buffer.concat(chunks), signature).catch(() => 500);
      response.writeHead(status).end();
    } else {
      const order = orders.get(request.url?.split('/')[2] ?? '');
      response.end(JSON.stringify({ fulfilments: order?.fulfilments }));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      isRunning = false;
      await following;
      await new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      });
    },
  };
}

async function grade(mistakes: Mistakes, change: { probeUrl?: undefined } = {}): Promise<Grade> {
  const [port] = (await freePorts(1)) as [number];
  const shop = await startShop(`http://127.0.0.1:${port}`, mistakes);
  try {
    const { probeUrl } = { probeUrl: `${shop.url}/orders/{payment_id}`, ...change };
    return await runGrade({
      url: `${shop.url}/webhook`,
      orderUrl: `${shop.url}/orders`,
      ...(probeUrl === undefined ? {} : { probeUrl }),
      port: String(port),
      timeLimitMs,
      patienceMs: 200,
      eventPatienceMs: 1_000,
      ...quiet,
    });
  } finally {
    await shop.stop();
  }
}

const missed = ({ findings }: Grade) =>
  findings.flatMap(({ mark, obligation }) => (mark === 'missed' ? [Number(obligation[0])] : []));

describe.concurrent('the receiver grader', () => {
  it('gives full marks to a receiver that does all of it', async () => {
    const result = await grade({});
    expect(missed(result)).toEqual([]);
    expect(result.met).toBe(5);
  });

  it('asks over new connections', async () => {
    expect(missed(await grade({ closesUsedConnections: true }))).toEqual([]);
  });

  it.each<[string, Mistakes, number[]]>([
    ['parses the body and verifies what it writes again', { writesBodyAgain: true }, [1]],
    ['believes any signature', { believesAnything: true }, [2]],
    ['believes a webhook without a signature', { needsNoSignature: true }, [2]],
    ['does not confirm', { confirmsNothing: true }, [3]],
    ['confirms and does not listen', { ignoresStatus: true }, [3]],
    ['fulfils each time', { fulfilsEachTime: true }, [4]],
    ['looks first and fulfils later', { looksBeforeItLeaps: true }, [4]],
    ['does slow work before it answers', { isSlow: true }, [1, 2, 4, 5]],
    ['answers with a redirect', { redirects: true }, [1, 2, 5]],
    ['answers 409 to a repetition', { refusesRepetitions: true }, [5]],
    ['fulfils nothing at all', { fulfilsNever: true }, [1, 4]],
  ])('catches one that %s', async (_, mistakes, expected) => {
    const result = await grade(mistakes);
    expect(missed(result)).toEqual(expect.arrayContaining(expected.slice(-1)));
    expect(missed(result).filter((number) => !expected.includes(number))).toEqual([]);
    for (const { mark, mend, problems } of result.findings) {
      expect(mend === null).toBe(mark === 'met');
      expect(problems.length > 0).toBe(mark === 'missed');
    }
  });

  it.each([
    [undefined, 'not_seen'],
    ['once', 'met'],
    ['each event', 'missed'],
    ['in vain', 'missed'],
  ] as const)('calls a shop that follows events %s %s', async (follows, mark) => {
    const { met, events } = await grade(follows === undefined ? {} : { follows });
    expect([met, events?.mark]).toEqual([5, mark]);
    expect(events?.mend === null).toBe(mark === 'met');
  });

  it('says what it could not see where the shop does not tell how often it fulfils', async () => {
    const { met, findings } = await grade({}, { probeUrl: undefined });
    expect(met).toBe(4);
    expect(findings[3]).toMatchObject({ mark: 'not_seen', mend: expect.stringContaining('--probe-url') });
  });

  it('refuses addresses that are none, and a shop that uses another service', async () => {
    const options = { port: '0', ...quiet };
    await expect(runGrade({ url: 'ftp://x', ...options })).rejects.toThrow('http or https');
    await expect(runGrade({ url: 'http://127.0.0.1:9', probeUrl: 'http://x', ...options })).rejects.toThrow(
      '{payment_id}',
    );
    const shop = await startShop('http://127.0.0.1:9', {});
    try {
      const url = `${shop.url}/webhook`;
      const orderUrl = `${shop.url}/probe`;
      await expect(runGrade({ url, orderUrl, ...options })).rejects.toThrow('no checkout was created');
    } finally {
      await shop.stop();
    }
  });

  describe('with a payment of the shop’s own service', () => {
    /** The shop asks a service that the grader has nothing to do with. */
    async function gradeOwn(mistakes: Mistakes, isPaid = false): Promise<Grade> {
      const own = await startStandInService(0, {});
      const shop = await startShop(own.baseUrl, mistakes);
      try {
        await fetch(`${shop.url}/orders`, { method: 'POST', body: '{"amount":"25.00"}' });
        const [order] = own.orders as [(typeof own.orders)[number]];
        if (isPaid) order.status = 'paid';
        const { paymentId: payment, ipnToken } = order;
        return await runGrade({
          url: `${shop.url}/webhook`,
          port: '0',
          payment,
          ipnToken,
          probeUrl: `${shop.url}/orders/{payment_id}`,
          timeLimitMs,
          patienceMs: 200,
          ...quiet,
        });
      } finally {
        await shop.stop();
        await own.stop();
      }
    }

    it('is refused the event number of another service, as by the service', async () => {
      const standIn = await startStandInService(0, {});
      try {
        const url = `${standIn.baseUrl}/merchant/v1/events?after=5`;
        const answer = await fetch(url, { headers: { 'x-api-key': 'service_live_any' } });
        expect(answer.status).toBe(410);
        expect(await answer.json()).toMatchObject({ code: 'cursor_expired' });
      } finally {
        await standIn.stop();
      }
    });

    it('scores three obligations by the answers alone, and says which two it could not check', async () => {
      const { met, findings, events } = await gradeOwn({});
      expect(findings.map(({ mark }) => mark)).toEqual(['met', 'met', 'not_checked', 'not_checked', 'met']);
      expect(met).toBe(3);
      expect(events).toBeNull();
      expect(findings[2]?.mend).toContain('stand-in service');
      expect(gradeLines({ met, findings, events }).at(-1)).toBe(
        '3 of the 3 that could be checked; 2 could not',
      );
    });

    it.each<[string, Mistakes, number]>([
      ['writes the body again', { writesBodyAgain: true }, 1],
      ['believes any signature', { believesAnything: true }, 2],
      ['fulfils what its service calls unpaid', { confirmsNothing: true }, 3],
      ['answers 409 to a repetition', { refusesRepetitions: true }, 5],
    ])('catches one that %s', async (_, mistakes, number) => {
      // Repetitions are told apart only by a shop that has fulfilled.
      expect(missed(await gradeOwn(mistakes, mistakes.refusesRepetitions === true))).toContain(number);
    });

    it('names the option whose address does not answer', async () => {
      const [port] = (await freePorts(1)) as [number];
      const orderUrl = `http://127.0.0.1:${port}/orders`;
      await expect(runGrade({ url: orderUrl, orderUrl, port: '0', ...quiet })).rejects.toThrow(
        `--order-url: ${orderUrl} did not answer`,
      );
    });

    it('needs both the payment and its token, and no orders', async () => {
      const options = { url: 'http://127.0.0.1:9', port: '0', ...quiet };
      const payment = '01a1fbd7-b7b3-7002-be38-5df3e4ebf9f4';
      await expect(runGrade({ ...options, payment })).rejects.toThrow('--ipn-token');
      await expect(runGrade({ ...options, ipnToken: 'ipn_x' })).rejects.toThrow('--payment must be');
      await expect(
        runGrade({ ...options, payment, ipnToken: 'ipn_x', orderUrl: 'http://127.0.0.1:9' }),
      ).rejects.toThrow('exclude each other');
    });
  });
});
