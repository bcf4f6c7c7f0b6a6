import type { Clock } from '../platform/clock.ts';
import { within } from '../platform/outgoing-calls.ts';
import { LATE_SCAN_MS, type Relayer } from '../settlement/chain/chain.ts';
import type { ObservationStore } from '../settlement/settlement-store.ts';
import type { SharedStore } from '../store/assemble-core.ts';
import type { Degradation, Readiness } from '../web/well-known.ts';
import type { ExternalServices } from './external-services.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import { canOpenFile } from './servers.ts';

const CHECK_INTERVAL_MS = 2_000;
const READ_LIMIT_MS = 5_000;
/** Time without an answer after which the database counts as lost. Restarting the database takes less. */
const LOST_AFTER_MS = 10_000;

interface HealthParts {
  readonly store: Readonly<{ observations: Pick<ObservationStore, 'readCursor'> }> & {
    readonly shared: Pick<SharedStore, 'countCalls'> | null;
  };
  readonly clock: Clock;
  readonly metrics: Pick<Metrics, 'setScannedAt' | 'databaseCalls'>;
  readonly log: Pick<Log, 'error' | 'info'>;
  readonly leaving: Pick<AbortSignal, 'aborted'>;
  readonly external: Pick<ExternalServices, 'isFactoryVerified'> & {
    readonly relayers: readonly Pick<Relayer, 'signerFailure'>[];
  };
}

/**
 * Tracks whether the database answers and whether a worker scans, in this or another process.
 *
 * An instance without its database stays ready. Otherwise, an outage would take all instances out of service, and
 * callers would get the proxy's error instead of this service's.
 */
export function createHealth(parts: HealthParts) {
  const { store, clock, metrics, log, leaving, external } = parts;
  let answeredAtMs = clock.monotonicMs();
  let scannedAtMs: number | null = null;
  let isLost = false;

  async function check(): Promise<void> {
    for (const [state, calls] of Object.entries(store.shared?.countCalls() ?? {}))
      metrics.databaseCalls.set({ state }, calls);
    try {
      const late = () => new Error(`the database did not answer within ${READ_LIMIT_MS / 1000} s`);
      const cursor = await within(READ_LIMIT_MS, store.observations.readCursor(), late);
      answeredAtMs = clock.monotonicMs();
      scannedAtMs = cursor?.timestampMs ?? null;
      metrics.setScannedAt(scannedAtMs);
      if (isLost) log.info('the database answers again');
      isLost = false;
    } catch (error) {
      if (clock.monotonicMs() - answeredAtMs < LOST_AFTER_MS) return;
      if (!isLost) log.error({ err: error }, 'the database has not answered for ten seconds');
      isLost = true;
    }
  }

  const scannedAgeMs = () => (scannedAtMs === null ? null : Math.max(0, clock.nowMs() - scannedAtMs));
  return {
    check,
    start(): () => void {
      const timer = setInterval(() => void check(), CHECK_INTERVAL_MS);
      timer.unref();
      return () => clearInterval(timer);
    },
    isReady(): Readiness {
      if (leaving.aborted) return { ready: false, reason: 'it is shutting down' };
      if (!canOpenFile()) return { ready: false, reason: 'it cannot open more files' };
      const ageMs = scannedAgeMs();
      const degraded: Degradation[] = [];
      if (isLost) degraded.push('database_lost');
      if (ageMs !== null && ageMs > LATE_SCAN_MS) degraded.push('scan_late');
      if (external.isFactoryVerified?.() === false) degraded.push('factory_unverified');
      if (external.relayers.some((relayer) => relayer.signerFailure() !== null))
        degraded.push('signer_failing');
      return { ready: true, degraded, scannedAgeMs: ageMs };
    },
  };
}
