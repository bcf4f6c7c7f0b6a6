import { larger, smaller } from '../../payment/money.ts';
import { isOver } from '../../payment/release-schedule.ts';
import type { RelayLimits } from '../batch-and-gas-limits.ts';
import type { FeeQuote } from '../chain/chain.ts';
import type { RelayAttempt } from '../settlement-store.ts';

export interface FeeSituation {
  /** All attempts signed with this nonce, the most expensive last. At least one. */
  readonly attempts: readonly RelayAttempt[];
  readonly quote: FeeQuote;
  /** Whether a node has the transaction or asks for a better price; other refusals are not about fees. */
  readonly wasTaken: boolean;
  readonly nowMs: number;
  readonly limits: Pick<RelayLimits, 'bumpAfterMs' | 'maximumFeePerGas'>;
}

/** Cap on tips as a multiple of the quoted one, because more has no effect and a mistake would be expensive. */
const MAXIMUM_TIP_MULTIPLE = 4n;

/** Multiple of `bumpAfterMs` to wait if the last attempt's fees reach the quote; each further attempt doubles it. */
const WAIT_FACTOR = 8;
const MAXIMUM_DOUBLINGS = 6;

/**
 * Fees for another attempt, if the quote exceeds the last one's, or the last one has waited long; null to keep it.
 * Both fees rise by at least an eighth (nodes require a tenth), within the limits and the tip multiple.
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

  // More than the tip's raise, so that the fee follows the base fee even if the tip is capped.
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

/** Adds an eighth, rounded up so that the result is always higher. */
export function bumpByPercent(wei: bigint): bigint {
  return wei + wei / 8n + 1n;
}
