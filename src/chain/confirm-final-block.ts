import { ChainUnavailableError } from '../domain/ports/chain.ts';
import type { BlockReference } from '../domain/ports/ledger-store.ts';
import type { ChainEndpoint } from './chain-endpoint.ts';

/** Why a finalized block is not taken as final, or which endpoint contradicts the one that says so. */
export interface FinalityDoubt {
  /** `hash`: another endpoint has another block; `unconfirmed`: no other endpoint could be asked. */
  readonly kind: 'hash' | 'unconfirmed';
  readonly block: BlockReference;
  /** The endpoint that called the block final. */
  readonly endpoint: string;
  /** One sentence for the operator. */
  readonly message: string;
}

/** `block` is null while no second endpoint agrees. */
export interface FinalityVerdict {
  readonly block: BlockReference | null;
  readonly doubts: readonly FinalityDoubt[];
}

/**
 * Payments are settled on finalized blocks, so one endpoint's word is not enough where there are several: another
 * must have the same hash at that height. One that is behind confirms up to what it calls final itself. A single
 * endpoint is believed, there is nobody to ask.
 */
export async function confirmFinalBlock(
  asked: ChainEndpoint,
  others: readonly ChainEndpoint[],
  final: BlockReference,
): Promise<FinalityVerdict> {
  if (others.length === 0) return { block: final, doubts: [] };
  const doubts: FinalityDoubt[] = [];
  for (const other of others) {
    const doubt = (kind: FinalityDoubt['kind'], message: string): void => {
      doubts.push({ kind, block: final, endpoint: asked.rpc.label, message });
    };
    try {
      await other.ensureChain();
      const pair = await readSameHeight(asked, other, final);
      if (pair === null) {
        doubt('unconfirmed', `${other.rpc.label} is behind and cannot confirm block ${final.number}`);
      } else if (pair.own.hash === pair.theirs.hash) {
        return { block: pair.own, doubts: doubts.filter(({ kind }) => kind === 'hash') };
      } else {
        doubt(
          'hash',
          `block ${pair.own.number} is ${pair.own.hash} at ${asked.rpc.label}, but ${pair.theirs.hash} at ${other.rpc.label}`,
        );
      }
    } catch (error) {
      if (!(error instanceof ChainUnavailableError)) throw error;
      other.suspect();
      doubt('unconfirmed', `block ${final.number} cannot be confirmed: ${error.message}`);
    }
  }
  return { block: null, doubts };
}

/** Both endpoints' block at the finalized height, or at the lower height that the other one calls final. */
async function readSameHeight(
  asked: ChainEndpoint,
  other: ChainEndpoint,
  final: BlockReference,
): Promise<{ own: BlockReference; theirs: BlockReference } | null> {
  const theirs = await other.readBlock(final.number);
  if (theirs !== null) return { own: final, theirs };
  const theirFinal = await other.readBlock('finalized');
  if (theirFinal === null || theirFinal.number > final.number) return null;
  const own = await asked.readBlock(theirFinal.number);
  return own === null ? null : { own, theirs: theirFinal };
}
