import type {
  ChainReader,
  ChainView,
  FeeQuote,
  RelayCall,
  Relayer,
} from '../../src/settlement/chain/chain.ts';
import type { BlockReference } from '../../src/settlement/settlement-store.ts';

/** What a test makes the outside world do. */
export interface Faults {
  /** Called in the place of the real broadcast. */
  broadcast: ((rawTransaction: string, send: () => Promise<void>) => Promise<void>) | null;
  /** Called before a batch is estimated; it throws what the node would say. */
  estimate: ((call: RelayCall) => void) | null;
  /** What the chain asks for, in the place of the real fees. */
  fees: FeeQuote | null;
  /** A lagging node: so many of the newest transactions of any address are missing in its counts, final or not. */
  missingTransactions: number;
  /** The final block as it was when finality stalled, and the relayer's count of transactions there. */
  stalledAt: { readonly final: BlockReference | null; readonly count: number } | null;
  /** The endpoint lags behind and answers with empty lists of logs. */
  hideLogs: boolean;
  /** The endpoint leaves transfers out, and yet shows what is released. */
  hideTransfers: boolean;
}

export function noFaults(): Faults {
  return {
    broadcast: null,
    estimate: null,
    fees: null,
    missingTransactions: 0,
    stalledAt: null,
    hideLogs: false,
    hideTransfers: false,
  };
}

/** A relayer with the faults of the outside world. */
export function withFaults(relayer: Relayer, faults: Faults): Relayer {
  return {
    ...relayer,
    broadcast(rawTransaction) {
      const send = () => relayer.broadcast(rawTransaction);
      return faults.broadcast === null ? send() : faults.broadcast(rawTransaction, send);
    },
    async estimateGas(call) {
      faults.estimate?.(call);
      return relayer.estimateGas(call);
    },
    quoteFees: async () => faults.fees ?? relayer.quoteFees(),
    readLatestTransactionCount: async (of) =>
      (await relayer.readLatestTransactionCount(of)) - faults.missingTransactions,
    async readFinalTransactionCount(seenTo, of) {
      if (faults.stalledAt !== null) return faults.stalledAt.count;
      return (await relayer.readFinalTransactionCount(seenTo, of)) - faults.missingTransactions;
    },
  };
}

/** A reader of a chain whose node can leave logs out, and whose finality can stall. */
export function hidingLogs(reader: ChainReader, faults: Faults): ChainReader {
  const hiding = (view: ChainView): ChainView => ({
    ...view,
    readFinal: async () => (faults.stalledAt === null ? view.readFinal() : faults.stalledAt.final),
    async readLogs(query) {
      const logs = await view.readLogs(query);
      if (faults.hideLogs) return { ...logs, transfers: [], forwarded: [], rescued: [] };
      return faults.hideTransfers ? { ...logs, transfers: [] } : logs;
    },
  });
  return {
    listEndpoints: () => reader.listEndpoints(),
    withView: (use) => reader.withView((view) => use(hiding(view))),
    withOtherView: (use) => reader.withOtherView((view) => use(hiding(view))),
    withEachView: (use) => reader.withEachView((view) => use(hiding(view))),
  };
}
