import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as oneTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { giveNotice } from './give-notice.ts';

it.each([0, 40, 1_000, 8_050])(
  'waits for %d ms in all, in steps that are short beside a notice',
  async (noticeMs) => {
    const waitsMs: number[] = [];
    await giveNotice(noticeMs, async (waitMs) => void waitsMs.push(waitMs));
    expect(waitsMs.reduce((sum, waitMs) => sum + waitMs, 0)).toBe(noticeMs);
    for (const waitMs of waitsMs) expect(waitMs).toBeLessThanOrEqual(100);
  },
);

it('a process that stood still for longer than its notice answers what was asked meanwhile before it is over', async () => {
  const server = createServer((_request, response) => void response.end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const order: string[] = [];

  const notice = giveNotice(500).then(() => order.push('the notice is over'));
  const asked = new Promise<void>((resolve, reject) => {
    get({ port, host: '127.0.0.1', agent: false }, (answer) => {
      order.push('an answer');
      answer.resume().once('end', resolve);
    }).once('error', reject);
  });
  await oneTurn();
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600);
  await Promise.all([notice, asked]);
  expect(order).toEqual(['an answer', 'the notice is over']);

  await new Promise((resolve) => server.close(resolve));
});
