import type { FeeQuote } from '../../domain/ports/chain.ts';
import type { RelayAttempt } from '../../domain/ports/relay-store.ts';
import { isOver, type RelayLimits } from './relay-context.ts';

/** What a decision about higher fees rests on. */
export interface FeeSituation {
  /** All that were signed with this nonce, the last one being the dearest. At least one. */
  readonly attempts: readonly RelayAttempt[];
  /** What the chain asks for now. */
  readonly quote: FeeQuote;
  /** Whether a node has the transaction, or asks for a better price: any other refusal has nothing to do with it. */
  readonly wasTaken: boolean;
  readonly nowMs: number;
  readonly limits: Pick<RelayLimits, 'bumpAfterMs' | 'maximumFeePerGas'>;
}

/** Tips are never raised above so many times what is usual now: more buys nothing, and a mistake would be dear. */
const MAXIMUM_TIP_MULTIPLE = 4n;

/** An attempt that is not below the quote gets so many times the usual wait, doubled with each attempt… */
const PATIENCE_FACTOR = 8;
/** …up to this many doublings. */
const MAXIMUM_DOUBLINGS = 6;

/**
 * The fees for another attempt, or null to leave things as they are. They rise when the latest quote exceeds the last
 * attempt's, or when a node has had it for long although it does not. Both fees rise by an eighth at least (nodes
 * replace for a tenth), and never above what limits and tip multiple allow. Whether the relayer can pay them is for the
 * caller to judge. Pure.
 */
export function raiseFees(situation: FeeSituation): FeeQuote | null {
  const { attempts, quote, limits, nowMs } = situation;
  const last = attempts.at(-1) as RelayAttempt;
  const isBelowQuote =
    quote.maxFeePerGas > last.maxFeePerGas || quote.maxPriorityFeePerGas > last.maxPriorityFeePerGas;
  if (!isBelowQuote && !situation.wasTaken) return null;
  const waitMs = isBelowQuote ? limits.bumpAfterMs : patienceMs(attempts.length, limits.bumpAfterMs);
  if (!isOver(last.signedAtMs, waitMs, nowMs)) return null;

  const maxFeePerGas = smaller(
    larger(quote.maxFeePerGas, aQuarterMore(last.maxFeePerGas)),
    limits.maximumFeePerGas,
  );
  const maxPriorityFeePerGas = smaller(
    larger(quote.maxPriorityFeePerGas, anEighthMore(last.maxPriorityFeePerGas)),
    smaller(quote.maxPriorityFeePerGas * MAXIMUM_TIP_MULTIPLE, maxFeePerGas),
  );
  const isReplacement =
    maxFeePerGas >= anEighthMore(last.maxFeePerGas) &&
    maxPriorityFeePerGas >= anEighthMore(last.maxPriorityFeePerGas);
  return isReplacement ? { maxFeePerGas, maxPriorityFeePerGas } : null;
}

function patienceMs(attempts: number, bumpAfterMs: number): number {
  return bumpAfterMs * PATIENCE_FACTOR * 2 ** Math.min(attempts - 1, MAXIMUM_DOUBLINGS);
}

/** Rounded up, and at least one more. */
function anEighthMore(wei: bigint): bigint {
  return wei + wei / 8n + 1n;
}

/** More than the tip rises by, so that the base fee is followed although the tip is bounded. */
function aQuarterMore(wei: bigint): bigint {
  return wei + wei / 4n + 1n;
}

function larger(first: bigint, second: bigint): bigint {
  return first > second ? first : second;
}

function smaller(first: bigint, second: bigint): bigint {
  return first < second ? first : second;
}
