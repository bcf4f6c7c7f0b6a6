import type { LeaseStore } from '../../../src/settlement/settlement-store.ts';

/**
 * Leases in simulated time. Those of the database go by the server's own clock, which nobody can turn: that they end
 * and are taken over there is shown by test/store/postgres-instances.test.ts.
 */
export interface SimulatedLeases extends LeaseStore {
  /** While this is true everybody gets every lease: each instance believes that it is the only one. */
  isSplit: boolean;
}

export function createSimulatedLeases(nowMs: () => number): SimulatedLeases {
  const held = new Map<string, { readonly holder: string; readonly endsAtMs: number }>();
  const leases: SimulatedLeases = {
    isSplit: false,
    async takeLease(name, holder, durationMs) {
      const present = held.get(name);
      const isFree = present === undefined || present.holder === holder || present.endsAtMs <= nowMs();
      if (!isFree && !leases.isSplit) return false;
      held.set(name, { holder, endsAtMs: nowMs() + durationMs });
      return true;
    },
    async releaseLease(name, holder) {
      if (held.get(name)?.holder === holder) held.delete(name);
    },
  };
  return leases;
}
