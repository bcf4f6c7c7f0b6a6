import type { Store } from '../../../src/app/store/store.ts';
import type { Decide, PaymentDecision, PaymentView } from '../../../src/payment/payment-store.ts';
import { StoreWriteError } from '../../../src/store/store-errors.ts';
import type { Draws } from './draws.ts';
import type { ProcessLife } from './process-life.ts';

/** What goes wrong between the steps and the database for a while: so many calls of a hundred fail. */
export interface StoreTrouble {
  percent: number;
}

const reasons = ['database is locked', 'database or disk is full', 'connection terminated'] as const;

/** For ports whose functions decide nothing about payments. */
const unwatched = (parameter: unknown) => parameter;

type Port = Record<string, (...parameters: unknown[]) => unknown>;

/**
 * The real store behind a process that may die and a database that may fail: before the call, so that nothing was done,
 * or after it, so that all was done and nobody knows. Every decision is shown to `onDecision`.
 */
export function withTrouble(
  store: Store,
  options: {
    readonly life: ProcessLife;
    readonly draws: Draws;
    readonly trouble: StoreTrouble;
    readonly onTrouble: (when: 'before' | 'after') => void;
    readonly onDecision: (view: PaymentView, decision: PaymentDecision | null) => void;
  },
): Store {
  const { life, draws, trouble, onTrouble, onDecision } = options;

  function failNow(name: string, when: 'before' | 'after'): void {
    if (trouble.percent === 0 || !draws.chance(trouble.percent / 2)) return;
    onTrouble(when);
    throw new StoreWriteError(`${name}: ${draws.oneOf(reasons)}`);
  }

  function watched(parameter: unknown): unknown {
    if (typeof parameter !== 'function') return parameter;
    const decide = parameter as Decide;
    return (view: PaymentView) => {
      const decision = decide(view);
      onDecision(view, decision);
      return decision;
    };
  }

  function wrap<T extends object>(port: T, seen: (parameter: unknown) => unknown = watched): T {
    const wrapped: Port = {};
    for (const [name, method] of Object.entries(port as unknown as Port)) {
      wrapped[name] = (...parameters) =>
        life.pass(name, async () => {
          failNow(name, 'before');
          const result = await method(...parameters.map(seen));
          failNow(name, 'after');
          return result;
        });
    }
    return wrapped as unknown as T;
  }

  return {
    ...store,
    payments: wrap(store.payments),
    observations: wrap(store.observations),
    relay: wrap(store.relay),
    webhooks: wrap(store.webhooks),
    accounts: wrap(store.accounts, unwatched),
    emails: wrap(store.emails, unwatched),
    receipts: wrap(store.receipts, unwatched),
    refunds: wrap(store.refunds, unwatched),
    search: wrap(store.search),
    events: wrap(store.events),
  };
}
