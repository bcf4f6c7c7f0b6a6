import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, it } from 'vitest';
import { freePorts } from './free-ports.ts';

it('gives no port twice, also where many ask at once and nobody listens yet', async () => {
  const ports = (await Promise.all(Array.from({ length: 50 }, () => freePorts(2)))).flat();
  expect(new Set(ports).size).toBe(100);
  for (const port of ports) {
    expect(port).toBeGreaterThanOrEqual(12_000);
    expect(port).toBeLessThan(32_768);
  }
});

it('passes over a port that somebody listens on', async () => {
  const [first] = (await freePorts(1, 0)) as [number];
  const taken = createServer().listen(first + 6, '127.0.0.1');
  await once(taken, 'listening');
  const [next] = (await freePorts(1, 1)) as [number];
  expect(next).toBeGreaterThan(first + 6);
  await new Promise((resolve) => taken.close(resolve));
});
