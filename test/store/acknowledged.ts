import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'vitest';
import type { Store } from '../../src/store/store.ts';

/** What a process has said is durable: state and Idempotency-Key (`-` for none) of payments, by their ids. */
type Acknowledged = ReadonlyMap<string, { readonly status: string; readonly key: string }>;

/**
 * Has another process create payments until it has acknowledged so many at least, and kills it.
 *
 * @param place a SQLite file, or the URL of a PostgreSQL database
 */
export async function createUntilKilled(place: string, atLeast: number): Promise<Acknowledged> {
  const script = join(import.meta.dirname, 'create-until-killed.ts');
  const child: ChildProcess = spawn(process.execPath, [script, place], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const acknowledged = new Map<string, { status: string; key: string }>();
  try {
    for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
      // The last line may be cut off by the kill.
      const match = /^(\S{36}) (paid|unpaid) (\S+);$/.exec(line) as [string, string, string, string] | null;
      if (match !== null) acknowledged.set(match[1], { status: match[2], key: match[3] });
      if (acknowledged.size >= atLeast) child.kill('SIGKILL');
    }
  } finally {
    child.kill('SIGKILL');
    await exited;
  }
  expect(acknowledged.size).toBeGreaterThanOrEqual(atLeast);
  return acknowledged;
}

/** Looks each of them up. */
export async function expectAllKept(store: Store, acknowledged: Acknowledged): Promise<void> {
  for (const [id, { status, key }] of acknowledged) {
    const payment = await store.payments.findPaymentById(id);
    expect(payment?.status).toBe(status);
    expect(await store.webhooks.listWebhooks(id)).toHaveLength(status === 'paid' ? 1 : 0);
    const replayed = await store.payments.findIdempotent(payment?.accountId as string, key, 0);
    expect(replayed?.payment.id).toBe(key === '-' ? undefined : id);
  }
}
