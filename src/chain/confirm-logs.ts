import type { Address } from '../domain/payout-address.ts';
import type { ChainLogs, ForwardedLog, RescuedLog, TransferLog } from '../domain/ports/chain.ts';
import { ChainUnavailableError } from '../domain/ports/chain.ts';
import type { BlockReference } from '../domain/ports/ledger-store.ts';
import type { BlockRange } from './block-range.ts';
import type { ChainEndpoint } from './chain-endpoint.ts';
import { answersUntil, type FinalityDoubt } from './confirm-final-block.ts';
import type { LogSources } from './read-logs.ts';
import { scanBlocks } from './scan-blocks.ts';

/** What the logs of one endpoint are compared with. */
export interface ConfirmLogsContext {
  /** Endpoints of other hosts, and how many blocks each of them grants at once. */
  readonly others: readonly { readonly endpoint: ChainEndpoint; readonly range: BlockRange }[];
  readonly sources: LogSources;
  readonly report: (doubt: FinalityDoubt) => void;
}

type Answer =
  | { readonly kind: 'has them' }
  | { readonly kind: 'lacks some'; readonly host: string; readonly message: string }
  | { readonly kind: 'cannot say'; readonly message: string };

/**
 * Whether an endpoint of another host, on the same chain up to `final`, has the same logs. All are asked at once and the
 * first that has all of them is enough. Where none has them and two hosts lack some, the endpoint is `refuted`.
 */
export async function confirmLogs(
  context: ConfirmLogsContext,
  asked: ChainEndpoint,
  logs: ChainLogs,
  final: BlockReference,
): Promise<'confirmed' | 'unconfirmed' | 'refuted'> {
  const asks = context.others.map((other) => compareLogs(context, other, logs, final));
  const answers = await answersUntil(asks, ({ kind }) => (kind === 'has them' ? 'enough' : 'not'));
  if (answers.some(({ kind }) => kind === 'has them')) return 'confirmed';
  const denials = answers.flatMap((answer) => (answer.kind === 'lacks some' ? [answer] : []));
  const isRefuted = new Set(denials.map(({ host }) => host)).size > 1;
  const kind = isRefuted ? 'refuted' : denials.length > 0 ? 'disputed' : 'unconfirmed';
  const messages = answers.flatMap((answer) => (answer.kind === 'has them' ? [] : [answer.message]));
  const message = `logs of ours at ${asked.rpc.label} are not confirmed: ${messages.join('; ')}`;
  context.report({ kind, block: final, endpoint: asked.rpc.label, message });
  return isRefuted ? 'refuted' : 'unconfirmed';
}

async function compareLogs(
  { sources }: ConfirmLogsContext,
  { endpoint, range }: ConfirmLogsContext['others'][number],
  logs: ChainLogs,
  final: BlockReference,
): Promise<Answer> {
  const { host } = endpoint;
  const { label } = endpoint.rpc;
  try {
    await endpoint.ensureChain();
    const block = await endpoint.readBlock(final.number);
    if (block?.hash !== final.hash) {
      const problem = block === null ? 'is behind' : 'has another block';
      return { kind: 'cannot say', message: `${label} ${problem} at ${final.number}` };
    }
    const theirs = await readSameLogs({ endpoint, range, sources }, logs);
    const lacking = positions(logs).filter(({ key }) => !theirs.has(key));
    const [first] = lacking;
    if (first === undefined) return { kind: 'has them' };
    const example = `transaction ${first.log.transactionHash} in block ${first.log.blockNumber}`;
    const message = `${label} does not show ${lacking.length} of them, such as ${example}`;
    return { kind: 'lacks some', host, message };
  } catch (error) {
    if (!(error instanceof ChainUnavailableError)) throw error;
    endpoint.suspect();
    return { kind: 'cannot say', message: error.message };
  }
}

/** What the endpoint shows for the same addresses in the same blocks. */
async function readSameLogs(
  { endpoint, range, sources }: { endpoint: ChainEndpoint; range: BlockRange; sources: LogSources },
  logs: ChainLogs,
): Promise<ReadonlySet<string>> {
  const { token } = sources;
  const blocks = positions(logs).map(({ log }) => log.blockNumber);
  const toBlock = blocks.reduce((most, block) => Math.max(most, block), 0);
  const recipients: Address[] = [...new Set(logs.transfers.map(({ recipient }) => recipient))];
  // Only the kinds of logs that are to be confirmed are asked for.
  const factories = logs.forwarded.length + logs.rescued.length > 0 ? sources.factories : [];
  const found = new Set<string>();
  let fromBlock = blocks.reduce((least, block) => Math.min(least, block), toBlock);
  while (fromBlock <= toBlock) {
    const context = { endpoint, range, sources: { token, factories }, seenBlock: () => undefined };
    const query = { fromBlock, toBlock, recipients, isCandidate: () => false };
    const { scannedTo, transfers, forwarded, rescued = [] } = await scanBlocks(context, query);
    for (const { key } of positions({ transfers, forwarded, rescued })) found.add(key);
    fromBlock = scannedTo.number + 1;
  }
  return found;
}

/** Each log with a text that says everything about it that counts. */
function positions({ transfers, forwarded, rescued }: ChainLogs) {
  return [
    ...transfers.map((log) => ({ log, key: keyOf(log, 'transfer', log.recipient, log.units) })),
    ...forwarded.map((log) => ({
      log,
      key: keyOf(log, 'forwarded', log.deposit, log.toMerchantUnits, log.feeUnits),
    })),
    ...rescued.map((log) => ({ log, key: keyOf(log, 'rescued', log.deposit, log.token, log.units) })),
  ];
}

function keyOf(log: TransferLog | ForwardedLog | RescuedLog, ...contents: (string | bigint)[]): string {
  return [log.blockNumber, log.logIndex, log.transactionHash, ...contents].join(' ');
}
