import type { Relayer } from '../../../../src/settlement/chain/chain.ts';
import {
  createRelayer as createOriginal,
  type RelayerOptions,
} from '../../../../src/settlement/chain/relayer.ts';
import { isHeld, reach } from '../reach.ts';
import { hasHigherFees } from './store.ts';

export function createRelayer(options: RelayerOptions): Relayer {
  const relayer = createOriginal(options);
  return {
    ...relayer,
    async broadcast(rawTransaction) {
      if (isHeld()) return;
      await relayer.broadcast(rawTransaction);
      reach(hasHigherFees() ? 'higher fees broadcast … noted' : 'release broadcast … noted');
    },
  };
}
