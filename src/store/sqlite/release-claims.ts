import type { Payment } from '../../domain/payment.ts';

/** Which relayer prepares the release of which payment. */
export interface ReleaseClaims {
  /** The first `limit` of the payments that no other relayer has claimed, now claimed by this one. */
  claim(relayer: string, payments: Iterable<Payment>, limit: number, durationMs: number): Payment[];
  drop(relayer: string): void;
}

/** In memory: one process has the data for itself, and its claims have to end with it. */
export function createReleaseClaims(monotonicMs = () => performance.now()): ReleaseClaims {
  const claims = new Map<string, { readonly relayer: string; readonly endsAtMs: number }>();

  function dropWhere(isOver: (claim: { relayer: string; endsAtMs: number }) => boolean): void {
    for (const [id, claim] of claims) if (isOver(claim)) claims.delete(id);
  }

  return {
    claim(relayer, payments, limit, durationMs) {
      const nowMs = monotonicMs();
      dropWhere(({ endsAtMs }) => endsAtMs <= nowMs);
      const claimed: Payment[] = [];
      for (const payment of payments) {
        if ((claims.get(payment.id)?.relayer ?? relayer) !== relayer) continue;
        claims.set(payment.id, { relayer, endsAtMs: nowMs + durationMs });
        claimed.push(payment);
        if (claimed.length === limit) break;
      }
      return claimed;
    },
    drop: (relayer) => dropWhere((claim) => claim.relayer === relayer),
  };
}
