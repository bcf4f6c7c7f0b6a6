import { decodeFunctionResult, encodeFunctionData, parseAbi, toEventSelector } from 'viem/utils';
import type { Address } from '../../payment/address.ts';
import {
  ChainUnavailableError,
  type MistakenToken,
  type ReleaseAddresses,
  type ReleaseCheck,
  type SweepBalances,
  type TokenReader,
} from './chain.ts';
import { type ChainEndpoint, createEndpointRotation, reachedByTwo } from './endpoint-rotation.ts';
import { MalformedAnswerError } from './json-rpc.ts';
import { type NodeClient, readWord, toQuantity } from './node-answers.ts';
import { revertReasonOf } from './revert-reason.ts';

export interface TokenReaderOptions {
  readonly endpoints: readonly ChainEndpoint[];
  readonly token: Address;
  /** Contract that batches calls. Default `MULTICALL3`. */
  readonly multicall?: Address;
}

/** Address of Multicall3 on Polygon, Amoy and most chains. */
export const MULTICALL3 = '0xcA11bde05977b3631167028862bE2a173976CA11' as Address;

/** Reads the token at the newest block. Blocklist and release checks compare the answers of several hosts. */
export function createTokenReader(options: TokenReaderOptions): TokenReader {
  const { endpoints, token } = options;
  const rotation = createEndpointRotation(endpoints);
  const callMany = createMulticall(options);
  const hosts = new Set(endpoints.map(({ host }) => host)).size;

  return {
    async isBlocklisted(address) {
      const data = encodeIsBlacklisted(address);
      const answers = await rotation.useEach(
        async ({ rpc }) =>
          readWord(rpc.label, await rpc.call('eth_call', [{ to: token, data }, 'latest'])) !== 0n,
      );
      return reachedByTwo(answers);
    },
    readBalance: (address) => rotation.useAny(({ rpc }) => readTokenBalance(rpc, token, address)),
    async checkReleases(releases) {
      const ask = async ({ rpc }: ChainEndpoint) => {
        const checked = await checkTogether(rpc, callMany, releases);
        const simulated = checked.map(async ({ heldUnits, isSuspect }, index): Promise<ReleaseCheck> => {
          if (heldUnits === 0n || !isSuspect) return { heldUnits, refusal: null };
          const release = releases[index] as ReleaseAddresses;
          return { heldUnits, refusal: await simulateTransfer(rpc, token, release, heldUnits) };
        });
        return Promise.all(simulated);
      };
      const answers = await rotation.useEach(ask, (one, other) =>
        one.every((check, index) => isSameCheck(check, other[index] as ReleaseCheck)),
      );
      return releases.map((_, index) =>
        combineChecks(
          answers.map((checks) => checks[index] as ReleaseCheck),
          hosts,
        ),
      );
    },
  };
}

function isSameCheck(one: ReleaseCheck, other: ReleaseCheck): boolean {
  return one.heldUnits === other.heldUnits && (one.refusal === null) === (other.refusal === null);
}

function combineChecks(checks: readonly ReleaseCheck[], hosts: number): ReleaseCheck {
  const heldUnits = reachedByTwo(checks.map((check) => check.heldUnits));
  const [refusal = null, secondRefusal] = checks.flatMap((check) => check.refusal ?? []);
  if (refusal === null || secondRefusal !== undefined || hosts === 1) return { heldUnits, refusal };
  return { heldUnits: checks.length > 1 ? heldUnits : 0n, refusal: null };
}

/** Checks all releases in one call. Marks those to simulate, because the token may be paused or block an address. */
async function checkTogether(rpc: NodeClient, callMany: Multicall, releases: readonly ReleaseAddresses[]) {
  const distinct = [
    ...new Set(releases.flatMap(({ depositAddress, payoutAddress }) => [depositAddress, payoutAddress])),
  ];
  const answers = await callMany(
    rpc,
    [
      encodeFunctionData({ abi: tokenAbi, functionName: 'paused' }),
      ...releases.map(({ depositAddress }) => encodeBalanceOf(depositAddress)),
      ...distinct.map(encodeIsBlacklisted),
    ],
    'latest',
  );
  // Only a word of zeros means "no". Any other answer, or none, is a reason to simulate.
  const isNo = (answer: MulticallAnswer | undefined) =>
    answer?.success === true && /^0x0{64}$/.test(answer.returnData);
  const blocked = new Set(distinct.filter((_, index) => !isNo(answers[1 + releases.length + index])));
  const isPaused = !isNo(answers[0]);
  return releases.map(({ depositAddress, payoutAddress }, index) => ({
    heldUnits: wordOfAnswer(rpc, answers[1 + index]),
    isSuspect: isPaused || blocked.has(depositAddress) || blocked.has(payoutAddress),
  }));
}

/** Returns why the transfer would fail, or null. A revert is the chain's answer, not a failure of the endpoint. */
async function simulateTransfer(
  rpc: NodeClient,
  token: Address,
  { depositAddress, payoutAddress }: ReleaseAddresses,
  units: bigint,
): Promise<string | null> {
  const data = encodeFunctionData({ abi: tokenAbi, functionName: 'transfer', args: [payoutAddress, units] });
  const transaction = { from: depositAddress, to: token, data };
  try {
    const moved = readWord(rpc.label, await rpc.call('eth_call', [transaction, 'latest']));
    return moved === 0n ? 'the token refused the transfer' : null;
  } catch (error) {
    const reason = revertReasonOf(error);
    if (reason === null) throw error;
    return reason;
  }
}

/** Creates a reader of balances at a recent block. Endpoints keep the state of about the last hundred blocks. */
export function createBalanceSweep(options: TokenReaderOptions): SweepBalances {
  const rotation = createEndpointRotation(options.endpoints);
  const callMany = createMulticall(options);
  return (addresses, blockNumber) =>
    rotation.useAny(async ({ rpc }) => {
      const answers = await callMany(rpc, addresses.map(encodeBalanceOf), toQuantity(blockNumber));
      return answers.map((answer) => wordOfAnswer(rpc, answer));
    });
}

export function mistakenTokenOf(options: TokenReaderOptions): MistakenToken {
  return { contract: options.token, sweepBalances: createBalanceSweep(options) };
}

type Multicall = ReturnType<typeof createMulticall>;
type MulticallAnswer = Awaited<ReturnType<Multicall>>[number];

/** Creates a function that batches reads in one `eth_call`. A read costs about 10,000 gas; nodes allow ten million. */
function createMulticall({ token, multicall = MULTICALL3 }: TokenReaderOptions) {
  return async ({ label, call }: NodeClient, calls: readonly `0x${string}`[], block: string) => {
    const args = calls.map((callData) => ({ target: token, allowFailure: true, callData }));
    const data = encodeFunctionData({ abi: multicallAbi, functionName: 'aggregate3', args: [args] });
    const answer = await call('eth_call', [{ to: multicall, data }, block]);
    const results = resultsOf(answer);
    if (results?.length === calls.length) return results;
    throw new MalformedAnswerError(
      results === null
        ? `${label} answered eth_call with a malformed multicall; MULTICALL3_ADDRESS names ${multicall}`
        : `${label} answered ${results.length} of ${calls.length} calls`,
    );
  };
}

function resultsOf(data: `0x${string}`) {
  try {
    return decodeFunctionResult({ abi: multicallAbi, functionName: 'aggregate3', data });
  } catch {
    return null;
  }
}

function wordOfAnswer(rpc: NodeClient, answer: MulticallAnswer | undefined): bigint {
  if (answer?.success === true) return readWord(rpc.label, answer.returnData);
  throw new ChainUnavailableError(`${rpc.label} answered a balance with a failure`);
}

/** Returns the balance of an address at the newest block, in the token's units. */
export async function readTokenBalance(rpc: NodeClient, token: Address, holder: Address): Promise<bigint> {
  return readWord(
    rpc.label,
    await rpc.call('eth_call', [{ to: token, data: encodeBalanceOf(holder) }, 'latest']),
  );
}

function encodeBalanceOf(address: Address): `0x${string}` {
  return encodeFunctionData({ abi: tokenAbi, functionName: 'balanceOf', args: [address] });
}

function encodeIsBlacklisted(address: Address): `0x${string}` {
  return encodeFunctionData({ abi: tokenAbi, functionName: 'isBlacklisted', args: [address] });
}

export const multicallAbi = parseAbi([
  'struct Call { address target; bool allowFailure; bytes callData; }',
  'struct Result { bool success; bytes returnData; }',
  'function aggregate3(Call[] calls) payable returns (Result[] returnData)',
]);

export const tokenAbi = parseAbi([
  'function balanceOf(address account) view returns (uint256)',
  'function isBlacklisted(address account) view returns (bool)',
  'function paused() view returns (bool)',
  'function transfer(address to, uint256 amount) returns (bool)',
]);

/** topics[0] of `Transfer(from, to, value)`. topics[2] is the recipient. */
export const TRANSFER_TOPIC = toEventSelector('Transfer(address,address,uint256)');
