import { answersUntil } from '../../platform/outgoing-calls.ts';
import type { BlockReference } from '../settlement-store.ts';
import {
  type ChainLogs,
  ChainUnavailableError,
  type ForwardedLog,
  type LogQuery,
  type RescuedLog,
  type TransferLog,
} from './chain.ts';
import type { ChainEndpoint } from './endpoint-rotation.ts';
import { type BlockRange, createBlockRange, type LogSources, scanBlocks } from './read-logs.ts';

/**
 * Kinds of doubt. `hash`: a majority of hosts contradicts the endpoint's block. `refuted`: two other hosts lack some of
 * our logs that the endpoint shows. `omitted`: the endpoint lacks some of our logs that most hosts show. `disputed`:
 * hosts contradict each other without a majority. `unconfirmed`: no other host could answer.
 */
export const doubtKinds = ['hash', 'refuted', 'omitted', 'disputed', 'unconfirmed'] as const;

/** Reason why a block or log is not accepted as final, or a contradiction between endpoints. */
export interface FinalityDoubt {
  readonly kind: (typeof doubtKinds)[number];
  readonly block: BlockReference;
  /** Endpoint that is wrong or, without a majority, the one that was read. */
  readonly endpoint: string;
  /** For `disputed`: the endpoints that contradict `endpoint` and may be wrong instead. */
  readonly others?: readonly string[];
  readonly message: string;
}

type Answer =
  | { readonly kind: 'agrees'; readonly host: string; readonly block: BlockReference }
  | {
      readonly kind: 'contradicts';
      readonly host: string;
      readonly label: string;
      readonly height: number;
      readonly message: string;
    }
  | { readonly kind: 'cannot say'; readonly message: string };

/**
 * Confirms a final block at one other host, because payments settle on final blocks. An endpoint that is behind
 * confirms only up to its own final block. A single host is trusted. `report` is called even for contradictions that
 * arrive after another host has agreed.
 */
export async function confirmFinalBlock(
  primary: ChainEndpoint,
  others: readonly ChainEndpoint[],
  final: BlockReference,
  report: (doubt: FinalityDoubt) => void,
) {
  if (others.length === 0) return { block: final, isContradicted: false };
  const pending = others.map((other) => compareBlocks(primary, other, final));
  const classify = (answer: Answer) => {
    if (answer.kind !== 'agrees') return 'not';
    return answer.block.number === final.number ? 'enough' : 'better than nothing';
  };
  const answers = await answersUntil(pending, classify, (all) =>
    describeDoubts(primary, final, all).forEach(report),
  );
  const blocks = answers.flatMap((answer) => (answer.kind === 'agrees' ? [answer.block] : []));
  const isContradicted = answers.some(({ kind }) => kind === 'contradicts');
  const [highest] = blocks.sort((one, other) => other.number - one.number);
  return { block: highest ?? null, isContradicted };
}

/** Compares `final`, or a lower block, with all endpoints of other hosts. Returns the contradictions. */
export async function findContradictions(
  primary: ChainEndpoint,
  others: readonly ChainEndpoint[],
  final: BlockReference,
): Promise<FinalityDoubt[]> {
  const answers = await Promise.all(others.map((other) => compareBlocks(primary, other, final)));
  return describeDoubts(primary, final, answers).filter(({ kind }) => kind !== 'unconfirmed');
}

/** Describes contradicting answers and, if no answer agrees, why the others could not confirm the block. */
function describeDoubts(
  primary: ChainEndpoint,
  block: BlockReference,
  answers: readonly Answer[],
): FinalityDoubt[] {
  const { label } = primary.rpc;
  const contradictions = answers.filter((answer) => answer.kind === 'contradicts');
  const opponents = hostsOf(contradictions);
  const supportersAt = (height: number) =>
    1 + hostsOf(answers.filter((answer) => answer.kind === 'agrees' && answer.block.number >= height));
  const doubts = contradictions.map(({ label: other, height, message }): FinalityDoubt => {
    const majority = supportersAt(height) - opponents;
    if (majority === 0) return { kind: 'disputed', block, endpoint: label, others: [other], message };
    const endpoint = majority > 0 ? other : label;
    return { kind: 'hash', block, endpoint, message: `${endpoint} contradicts the other hosts: ${message}` };
  });
  if (answers.some(({ kind }) => kind === 'agrees')) return doubts;
  for (const answer of answers)
    if (answer.kind === 'cannot say')
      doubts.push({ kind: 'unconfirmed', block, endpoint: label, message: answer.message });
  return doubts;
}

function hostsOf(answers: readonly (Answer | LogsAnswer)[]): number {
  return new Set(answers.flatMap((answer) => ('host' in answer ? [answer.host] : []))).size;
}

async function compareBlocks(
  primary: ChainEndpoint,
  other: ChainEndpoint,
  final: BlockReference,
): Promise<Answer> {
  const { host } = other;
  const { label } = other.rpc;
  try {
    await other.ensureChain();
    const pair = await readSameHeight(primary, other, final);
    if (pair === null)
      return { kind: 'cannot say', message: `${label} is behind and cannot confirm block ${final.number}` };
    const { own, theirs } = pair;
    // Times must match, too, because payments expire by block time.
    const [said, contradicted] =
      own.hash === theirs.hash
        ? [own.timestampMs, theirs.timestampMs].map((ms) => `of ${new Date(ms).toISOString()}`)
        : [own.hash, theirs.hash];
    if (said === contradicted) return { kind: 'agrees', host, block: own };
    const message = `block ${own.number} is ${said} at ${primary.rpc.label}, but ${contradicted} at ${label}`;
    return { kind: 'contradicts', host, label, height: own.number, message };
  } catch (error) {
    if (!(error instanceof ChainUnavailableError)) throw error;
    other.suspect();
    return { kind: 'cannot say', message: `block ${final.number} cannot be confirmed: ${error.message}` };
  }
}

/** Reads, from each endpoint, the highest block that both report as final. Returns null if one of them lacks it. */
async function readSameHeight(
  primary: ChainEndpoint,
  other: ChainEndpoint,
  final: BlockReference,
): Promise<{ own: BlockReference; theirs: BlockReference } | null> {
  const theirFinal = await other.readBlock('finalized');
  if (theirFinal === null) return null;
  const number = Math.min(theirFinal.number, final.number);
  const own = number === final.number ? final : await primary.readBlock(number);
  const theirs = number === theirFinal.number ? theirFinal : await other.readBlock(number);
  return own?.number === number && theirs?.number === number ? { own, theirs } : null;
}

interface ConfirmLogsContext {
  /** Endpoints of other hosts, with the number of blocks that each allows per request. */
  readonly others: readonly { readonly endpoint: ChainEndpoint; readonly range: BlockRange }[];
  readonly sources: LogSources;
  readonly report: (doubt: FinalityDoubt) => void;
}

type LogsAnswer =
  | { readonly kind: 'has them'; readonly host: string }
  | { readonly kind: 'lacks some'; readonly host: string; readonly label: string; readonly message: string }
  | { readonly kind: 'cannot say'; readonly message: string };

/** Compares logs with other hosts. `confirmed`: one host has all logs. `refuted`: none has all, and two lack some. */
export async function confirmLogs(
  context: ConfirmLogsContext,
  primary: ChainEndpoint,
  logs: ChainLogs,
  final: BlockReference,
): Promise<'confirmed' | 'unconfirmed' | 'refuted'> {
  const pending = context.others.map((other) => compareLogs(context, other, logs, final));
  const classify = ({ kind }: LogsAnswer) => (kind === 'has them' ? 'enough' : 'not');
  const answers = await answersUntil(pending, classify, (all) =>
    describeLogDoubts(primary, final, all).forEach(context.report),
  );
  if (answers.some(({ kind }) => kind === 'has them')) return 'confirmed';
  return hostsOf(answers) > 1 ? 'refuted' : 'unconfirmed';
}

/** Describes endpoints that lack confirmed logs or, if no other host has all logs, why they are not confirmed. */
function describeLogDoubts(
  { rpc: { label: endpoint } }: ChainEndpoint,
  block: BlockReference,
  answers: readonly LogsAnswer[],
): FinalityDoubt[] {
  const denials = answers.filter((answer) => answer.kind === 'lacks some');
  const supporters = hostsOf(answers.filter(({ kind }) => kind === 'has them'));
  if (supporters > 0) {
    // The endpoint itself is one more supporter. If denials outnumber the others, no majority can assign the blame.
    if (hostsOf(denials) > supporters) return [];
    return denials.map(({ label, message }) => ({ kind: 'omitted', block, endpoint: label, message }));
  }
  const isRefuted = hostsOf(denials) > 1;
  const kind = isRefuted ? 'refuted' : denials.length > 0 ? 'disputed' : 'unconfirmed';
  const messages = answers.flatMap((answer) => (answer.kind === 'has them' ? [] : [answer.message]));
  const message = `logs of ours at ${endpoint} are not confirmed: ${messages.join('; ')}`;
  return [{ kind, block, endpoint, others: isRefuted ? [] : denials.map(({ label }) => label), message }];
}

async function compareLogs(
  { sources }: ConfirmLogsContext,
  { endpoint, range }: ConfirmLogsContext['others'][number],
  logs: ChainLogs,
  final: BlockReference,
): Promise<LogsAnswer> {
  const { host } = endpoint;
  const { label } = endpoint.rpc;
  try {
    await endpoint.ensureChain();
    const block = await endpoint.readBlock(final.number);
    if (block?.hash !== final.hash) {
      const problem = block === null ? 'is behind' : 'has another block';
      return { kind: 'cannot say', message: `${label} ${problem} at ${final.number}` };
    }
    // Requests only the kinds of logs to confirm.
    const factories = logs.forwarded.length + logs.rescued.length > 0 ? sources.factories : [];
    const theirs = await readKeys({ endpoint, range, sources: { ...sources, factories } }, queryOf(logs));
    const lacking = positions(logs).filter(({ key }) => !theirs.has(key));
    const [first] = lacking;
    if (first === undefined) return { kind: 'has them', host };
    const example = `transaction ${first.log.transactionHash} in block ${first.log.blockNumber}`;
    const message = `${label} does not show ${lacking.length} of our logs, such as ${example}`;
    return { kind: 'lacks some', host, label, message };
  } catch (error) {
    if (!(error instanceof ChainUnavailableError)) throw error;
    endpoint.suspect();
    return { kind: 'cannot say', message: error.message };
  }
}

function queryOf(logs: ChainLogs): LogQuery {
  const blocks = positions(logs).map(({ log }) => log.blockNumber);
  const toBlock = blocks.reduce((most, block) => Math.max(most, block), 0);
  const fromBlock = blocks.reduce((least, block) => Math.min(least, block), toBlock);
  const recipients = new Set(logs.transfers.map(({ recipient }) => recipient));
  return { fromBlock, toBlock, recipients: [...recipients] };
}

async function readKeys(
  reading: { endpoint: ChainEndpoint; range: BlockRange; sources: LogSources },
  query: LogQuery,
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (let { fromBlock } = query; fromBlock <= query.toBlock; ) {
    const logs = await scanBlocks(reading, { ...query, fromBlock });
    for (const { key } of positions(logs)) found.add(key);
    fromBlock = logs.scannedTo.number + 1;
  }
  return found;
}

/** Blocks per request that the strictest free plans allow. */
const COMPARED_BLOCKS = 5;

/** Compares the endpoints' logs of the newest final blocks. Returns one sentence per problem. */
export async function compareRecentLogs(
  endpoints: readonly ChainEndpoint[],
  sources: LogSources,
  final: BlockReference,
): Promise<string[]> {
  const fromBlock = Math.max(0, final.number - COMPARED_BLOCKS + 1);
  const query = { fromBlock, toBlock: final.number, recipients: null };
  const problems: string[] = [];
  const readings = await Promise.all(
    endpoints.map(async (endpoint) => {
      const { label } = endpoint.rpc;
      try {
        if ((await endpoint.readBlock(final.number))?.hash !== final.hash) return [];
        const range = createBlockRange(COMPARED_BLOCKS, COMPARED_BLOCKS);
        return [{ label, keys: await readKeys({ endpoint, range, sources }, query) }];
      } catch (error) {
        if (!(error instanceof ChainUnavailableError)) throw error;
        problems.push(error.message);
        return [];
      }
    }),
  );
  const shown = readings.flat();
  for (const { label, keys } of shown) {
    const others = shown.filter((other) => [...other.keys].some((key) => !keys.has(key)));
    const names = others.map((other) => other.label).join(' and ');
    if (names !== '')
      problems.push(
        `${label} does not show logs of blocks ${fromBlock} to ${final.number} that ${names} shows`,
      );
  }
  return problems;
}

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
