import { larger, smaller } from '../../payment/money.ts';
import { isOver } from '../../payment/release-schedule.ts';
import type { RelayLimits } from '../batch-and-gas-limits.ts';
import type { FeeQuote } from '../chain/chain.ts';
import type { RelayAttempt } from '../settlement-store.ts';

export interface FeeSituation {
  /** All attempts with this nonce, at least one, with the most expensive last. */
  readonly attempts: readonly RelayAttempt[];
  readonly quote: FeeQuote;
  /** Whether a node has the transaction or asks for a higher price. Other refusals do not concern fees. */
  readonly wasTaken: boolean;
  readonly nowMs: number;
  readonly limits: Pick<RelayLimits, 'bumpAfterMs' | 'maximumFeePerGas'>;
}

/** Maximum tip as a multiple of the quoted one. A higher tip has no effect, and a mistake would be expensive. */
const MAXIMUM_TIP_MULTIPLE = 4n;

/** Multiple of `bumpAfterMs` to wait if the last fees reach the quote. Each further attempt doubles the wait. */
const WAIT_FACTOR = 8;
const MAXIMUM_DOUBLINGS = 6;

/**
 * Returns fees for another attempt if the quote exceeds the last attempt's fees, or if that attempt has waited long;
 * null to keep it. Both fees rise by an eighth or more (nodes require a tenth), within the limits and the tip multiple.
 */
export function raiseFees(situation: FeeSituation): FeeQuote | null {
  const { attempts, quote, limits, nowMs } = situation;
  const last = attempts.at(-1) as RelayAttempt;
  const isBelowQuote =
    quote.maxFeePerGas > last.maxFeePerGas || quote.maxPriorityFeePerGas > last.maxPriorityFeePerGas;
  if (!isBelowQuote && !situation.wasTaken) return null;
  const doublings = Math.min(attempts.length - 1, MAXIMUM_DOUBLINGS);
  const waitMs = limits.bumpAfterMs * (isBelowQuote ? 1 : WAIT_FACTOR * 2 ** doublings);
  if (!isOver(last.signedAtMs, waitMs, nowMs)) return null;

  // The fee rises more than the tip, so that it follows the base fee even if the tip is capped.
  const aQuarterMore = last.maxFeePerGas + last.maxFeePerGas / 4n + 1n;
  const maxFeePerGas = smaller(larger(quote.maxFeePerGas, aQuarterMore), limits.maximumFeePerGas);
  const maxPriorityFeePerGas = smaller(
    larger(quote.maxPriorityFeePerGas, bumpByPercent(last.maxPriorityFeePerGas)),
    smaller(quote.maxPriorityFeePerGas * MAXIMUM_TIP_MULTIPLE, maxFeePerGas),
  );
  const isReplacement =
    maxFeePerGas >= bumpByPercent(last.maxFeePerGas) &&
    maxPriorityFeePerGas >= bumpByPercent(last.maxPriorityFeePerGas);
  return isReplacement ? { maxFeePerGas, maxPriorityFeePerGas } : null;
}

/** Adds an eighth and one wei, so that the result is always higher. */
export function bumpByPercent(wei: bigint): bigint {
  return wei + wei / 8n + 1n;
}
