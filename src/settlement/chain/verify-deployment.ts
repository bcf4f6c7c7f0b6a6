import { encodeFunctionData, getContractAddress } from 'viem/utils';
import depositArtifact from '../../../contracts/artifacts/Deposit.json' with { type: 'json' };
import factoryArtifact from '../../../contracts/artifacts/DepositFactory.json' with { type: 'json' };
import {
  type Address,
  checksumAddress,
  cloneCodeHash,
  createDepositAddressCalculator,
  type DepositTerms,
  keccak256Hex,
} from '../../payment/address.ts';
import { answersUntil } from '../../platform/outgoing-calls.ts';
import { ChainUnavailableError } from './chain.ts';
import { type ChainEndpoint, joinFailures, WrongChainError } from './endpoint-rotation.ts';
import type { NodeClient } from './node-answers.ts';
import { depositFactoryAbi, encodeDepositOf } from './read-logs.ts';
import { revertReasonOf } from './revert-reason.ts';

export interface Deployment {
  readonly chainId: number;
  readonly factory: Address;
  readonly token: Address;
}

/** Thrown when the deployed code differs from what the address calculation assumes, so that deposits could be lost. */
export class DeploymentMismatchError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join(' '));
    this.problems = problems;
  }
}

/** Terms with a different value in every field, so that swapped fields are noticed. */
const sampleTerms: DepositTerms = {
  merchant: checksumAddress('11'.repeat(20)),
  feeBasisPoints: 250,
  feeWallet: checksumAddress('22'.repeat(20)),
  reference: `0x${'33'.repeat(32)}`,
};

type Finding = { readonly host: string; readonly label: string } & (
  | { readonly kind: 'right'; readonly verified: Awaited<ReturnType<typeof verifyAt>> }
  | { readonly kind: 'wrong' | 'other chain'; readonly problems: readonly string[] }
  | { readonly kind: 'silent'; readonly error: ChainUnavailableError }
);

/**
 * Checks that every endpoint serves the chain, that factory and implementation run exactly our artifacts' code for this
 * token, and that the factory computes our addresses. A host that contradicts the majority is outvoted and reported in
 * `problems`. Throws `DeploymentMismatchError` for any other mismatch, `ChainUnavailableError` without an answer.
 *
 * @param wasVerified whether an earlier start verified this deployment, which counts as one more host
 */
export async function verifyDeployment(
  endpoints: readonly ChainEndpoint[],
  deployment: Deployment,
  wasVerified = false,
) {
  const pending = endpoints.map((endpoint) => examine(endpoint, deployment));
  const findings = await answersUntil(pending, ({ kind }) =>
    kind === 'right' ? 'better than nothing' : 'not',
  );
  const of = <Kind extends Finding['kind']>(kind: Kind) =>
    findings.filter((finding): finding is Extract<Finding, { kind: Kind }> => finding.kind === kind);
  const [right, wrong, silent] = [of('right'), of('wrong'), of('silent')];
  const faulty = [...wrong, ...of('other chain')];
  const witnesses = hostsOf(right) + (wasVerified ? 1 : 0);
  const isOutvoted = hostsOf(wrong) < witnesses && (right.length > 0 || silent.length > 0);
  if (faulty.length > 0 && !isOutvoted) throw new DeploymentMismatchError(problemsOf(faulty, findings));
  const [first] = right;
  if (first === undefined) throw joinFailures(silent.map(({ error }) => error));
  return { ...first.verified, problems: problemsOf(faulty, findings) };
}

/** Returns the deployment's problems, each with its endpoint's name if endpoints disagree. */
function problemsOf(
  faulty: readonly Extract<Finding, { problems: unknown }>[],
  findings: readonly Finding[],
): string[] {
  const areAgreed = new Set(
    findings.map((finding) => JSON.stringify('problems' in finding && finding.problems)),
  );
  if (areAgreed.size === 1) return [...(faulty[0]?.problems ?? [])];
  return faulty.flatMap(({ kind, label, problems }) =>
    kind === 'other chain' ? problems : [`${label} says, and other endpoints do not: ${problems.join(' ')}`],
  );
}

function hostsOf(findings: readonly Finding[]): number {
  return new Set(findings.map(({ host }) => host)).size;
}

async function examine(endpoint: ChainEndpoint, deployment: Deployment): Promise<Finding> {
  const { host, rpc } = endpoint;
  const named = { host, label: rpc.label };
  try {
    endpoint.suspect();
    await endpoint.ensureChain();
    return { ...named, kind: 'right', verified: await verifyAt(rpc, deployment) };
  } catch (error) {
    if (error instanceof DeploymentMismatchError)
      return { ...named, kind: 'wrong', problems: error.problems };
    if (error instanceof WrongChainError) {
      const problem = `The endpoint ${error.message}: correct POLYGON_RPC_URL or CHAIN_ID.`;
      return { ...named, kind: 'other chain', problems: [problem] };
    }
    if (!(error instanceof ChainUnavailableError)) throw error;
    endpoint.suspect();
    return { ...named, kind: 'silent', error };
  }
}

async function verifyAt(rpc: NodeClient, { chainId, factory, token }: Deployment) {
  // The factory deploys the implementation in its constructor, and a contract's first creation has nonce 1 (EIP-161).
  const implementation = getContractAddress({ from: factory, nonce: 1n });
  const calls = [factory, implementation, token].map((address) => {
    return { method: 'eth_getCode' as const, params: [address, 'latest'] };
  });
  const codes = (await rpc.callBatch(calls)).map((code) => code.toLowerCase());
  const [factoryCode, implementationCode, tokenCode] = codes as [string, string, string];
  if (factoryCode === '0x') {
    throw new DeploymentMismatchError([
      `There is no contract at the factory's address ${factory}: correct DEPOSIT_FACTORY_ADDRESS or CHAIN_ID.`,
    ]);
  }
  if (tokenCode === '0x') {
    throw new DeploymentMismatchError([
      `There is no contract at the token's address ${token}: correct SETTLEMENT_TOKEN_ADDRESS or CHAIN_ID.`,
    ]);
  }
  const problems: string[] = [];
  const expect = (isRight: boolean, problem: string) => {
    if (!isRight) problems.push(problem);
  };
  const paidToken = await readAddress(rpc, factory, TOKEN_CALL);
  expect(
    paidToken === token,
    `The factory at ${factory} pays out ${paidToken ?? 'no token'}, but the configured token is ${token}.`,
  );
  const expectedCode = runtimeCode(depositArtifact, { factory: BigInt(factory), token: BigInt(token) });
  expect(
    implementationCode === expectedCode,
    implementationCode === '0x'
      ? `The factory's implementation is not at ${implementation}, where our arithmetic expects it.`
      : `The implementation at ${implementation} runs other code than contracts/artifacts/Deposit.json.`,
  );
  const expectedFactoryCode = runtimeCode(factoryArtifact, {
    chainId: BigInt(chainId),
    token: BigInt(token),
    implementation: BigInt(implementation),
    cloneInitCodeHash: BigInt(`0x${cloneCodeHash(implementation)}`),
  });
  expect(
    factoryCode === expectedFactoryCode,
    `The factory at ${factory} runs other code than contracts/artifacts/DepositFactory.json.`,
  );
  const named = await readAddress(rpc, factory, IMPLEMENTATION_CALL);
  expect(
    named === implementation,
    `The factory names ${named ?? 'no address'} as its implementation, we expect ${implementation}.`,
  );
  const ours = createDepositAddressCalculator({ chainId, factory, implementation })(sampleTerms);
  const onChain = await readAddress(rpc, factory, encodeDepositOf(sampleTerms));
  expect(
    onChain === ours,
    `For the same terms the factory computes ${onChain ?? 'no address'}, our arithmetic ${ours}.`,
  );
  if (problems.length > 0)
    throw new DeploymentMismatchError([
      ...problems,
      'Correct DEPOSIT_FACTORY_ADDRESS or SETTLEMENT_TOKEN_ADDRESS, or run card-checkout contract deploy.',
    ]);
  return { implementation, factoryCodeHash: `0x${keccak256Hex(Buffer.from(factoryCode.slice(2), 'hex'))}` };
}

const TOKEN_CALL = encodeFunctionData({ abi: depositFactoryAbi, functionName: 'token' });
const IMPLEMENTATION_CALL = encodeFunctionData({ abi: depositFactoryAbi, functionName: 'implementation' });

/** Returns null if the contract has no such function or does not answer with an address. */
async function readAddress(rpc: NodeClient, to: Address, data: string): Promise<Address | null> {
  try {
    const answer = await rpc.call('eth_call', [{ to, data }, 'latest']);
    return /^0x0{24}[0-9a-f]{40}$/i.test(answer) ? checksumAddress(answer.slice(26)) : null;
  } catch (error) {
    if (revertReasonOf(error) === null) throw error;
    return null;
  }
}

/** A compiled contract as in contracts/artifacts/<name>.json. Bytes are 0x-prefixed hex. */
interface ContractArtifact {
  /** Runtime code, with zeros in place of the immutable values. */
  readonly deployedBytecode: string;
  /** Positions of each immutable value, as offsets and lengths in bytes. */
  readonly immutables: Readonly<
    Record<string, readonly { readonly start: number; readonly length: number }[]>
  >;
}

/** Returns the runtime code with these immutable values. If a value is missing, no deployed code can match. */
function runtimeCode(artifact: ContractArtifact, values: Readonly<Record<string, bigint>>): `0x${string}` {
  const code = Buffer.from(artifact.deployedBytecode.slice(2), 'hex');
  for (const [name, value] of Object.entries(values)) {
    for (const { start, length } of artifact.immutables[name] ?? []) {
      code.write(value.toString(16).padStart(length * 2, '0'), start, length, 'hex');
    }
  }
  return `0x${code.toString('hex')}`;
}

/** Circle's native USDC, from https://developers.circle.com/stablecoins/usdc-contract-addresses. */
const knownTokens: ReadonlyMap<number, Address> = new Map([
  [137, '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359'], // Polygon
  [80002, '0x41E94Eb019C0762f9Bfcf9Fb1E58725BfB0e7582'], // Polygon Amoy, the test network
]);

export function knownToken(chainId: number): Address | null {
  return knownTokens.get(chainId) ?? null;
}
