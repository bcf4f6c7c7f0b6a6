import { type Relayer, TransactionRefusedError } from '../../domain/ports/chain.ts';
import type { RelayBatch } from '../../domain/ports/relay-store.ts';

/**
 * Hands every attempt of a batch to the chain again, the dearest first: should it be too dear for the gas money that is
 * left, an earlier one can still be mined. Returns null when a node has one of them now, else why the dearest was
 * refused. Throws `ChainUnavailableError` when no node answers.
 */
export async function rebroadcast(
  relayer: Pick<Relayer, 'broadcast'>,
  batch: Pick<RelayBatch, 'attempts'>,
): Promise<TransactionRefusedError | null> {
  let wasTaken = false;
  let refusal: TransactionRefusedError | null = null;
  for (const attempt of batch.attempts.toReversed()) {
    try {
      await relayer.broadcast(attempt.rawTransaction);
      wasTaken = true;
    } catch (error) {
      // A node that has a dearer one refuses the cheaper, which is as it should be.
      if (!(error instanceof TransactionRefusedError)) throw error;
      refusal ??= error;
    }
  }
  return wasTaken ? null : refusal;
}
