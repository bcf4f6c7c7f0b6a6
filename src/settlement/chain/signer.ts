import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { keccak256, parseTransaction, recoverAddress, serializeTransaction } from 'viem/utils';
import type { Address } from '../../payment/address.ts';
import { ChainUnavailableError, type FeeQuote, SignerError } from './chain.ts';
import {
  createJsonRpcClient,
  HttpRefusalError,
  JsonRpcAnswerError,
  type JsonRpcOptions,
} from './json-rpc.ts';
import { toQuantity } from './node-answers.ts';

/** A zero-value EIP-1559 transaction, without an access list. */
export interface UnsignedTransaction extends FeeQuote {
  readonly type: 'eip1559';
  readonly chainId: number;
  readonly nonce: number;
  readonly gas: bigint;
  readonly value: 0n;
  /** Absent for a deployment. */
  readonly to?: Address;
  readonly data: Hex;
}

export interface TransactionSigner {
  readonly address: Address;
  /** Returns the raw signed transaction. Throws `SignerError` if the signer does not return it. */
  signTransaction(transaction: UnsignedTransaction): Promise<Hex>;
}

/** Private key (`0x` and 64 hex digits, never printed), or an address whose key a remote signer holds. */
export type RelayerKey = Hex | RemoteKey;
type RemoteKey = Readonly<{ address: Address; signerUrl: string }>;

/** Creates a signer without connecting. A private key must be valid, because viem's error could contain the key. */
export function openSigner(key: RelayerKey, options: Omit<JsonRpcOptions, 'url'> = {}): TransactionSigner {
  return typeof key === 'string' ? privateKeyToAccount(key) : remoteSigner(key, options);
}

const METHOD_NOT_FOUND = -32_601;

/** Creates a signer that signs remotely by JSON-RPC, and checks every part of the answer. */
function remoteSigner({ address, signerUrl: url }: RemoteKey, options: object): TransactionSigner {
  const client = createJsonRpcClient({ ...options, url });

  return {
    address,
    async signTransaction(transaction) {
      const { type: _, data, to, ...numbers } = transaction;
      const quantities = Object.entries(numbers).map(([name, value]) => [name, toQuantity(value)]);
      const request = { from: address, to, data, ...Object.fromEntries(quantities) };
      const answer = await client
        .call('eth_signTransaction', [request])
        .catch((error: unknown) => {
          if (!(error instanceof JsonRpcAnswerError && error.code === METHOD_NOT_FOUND)) throw error;
          // Web3Signer supports `eth_signTransaction`. clef supports this method and answers with `{ raw, tx }`.
          return client.call('account_signTransaction', [request]);
        })
        .catch((error: unknown) => {
          throw error instanceof ChainUnavailableError ? asSignerError(error) : error;
        });
      const raw = (answer as { readonly raw?: unknown } | null)?.raw ?? answer;
      const difference = await differenceOf(raw, transaction, address);
      if (difference === null) return (raw as Hex).toLowerCase() as Hex;
      throw new SignerError(
        `the signer ${client.label} answers with ${difference}: nothing was sent, correct or replace the signer`,
      );
    },
  };
}

function asSignerError(error: ChainUnavailableError): SignerError {
  const isRefusal = error instanceof JsonRpcAnswerError || error instanceof HttpRefusalError;
  const text = isRefusal
    ? 'refuses to sign: give it the key of RELAYER_ADDRESS and allow this service to use it'
    : 'does not answer: start it, or correct RELAYER_SIGNER_URL';
  return new SignerError(`the signer ${text} (${error.message})`, { cause: error });
}

/** Half of the curve's order. Chains reject a higher `s` (EIP-2), because it would make signatures malleable. */
const MAXIMUM_S = 0x7fff_ffff_ffff_ffff_ffff_ffff_ffff_ffff_5d57_6e73_57a4_501d_dfe9_2f46_681b_20a0n;

/** Describes how the answer differs from the requested transaction signed by the address; null if it does not. */
async function differenceOf(
  raw: unknown,
  requested: UnsignedTransaction,
  address: Address,
): Promise<string | null> {
  try {
    const bytes = (raw as string).toLowerCase();
    const signed = parseTransaction(bytes as `0x02${string}`);
    const signature = { r: signed.r as Hex, s: signed.s as Hex, yParity: signed.yParity as number };
    // Equal bytes mean that all fields are equal.
    if (serializeTransaction(requested, signature) !== bytes)
      return `another transaction than requested (${differingFields({ ...signed }, { ...requested })})`;
    if (BigInt(signature.s) > MAXIMUM_S) return 'a signature whose s is high';
    const hash = keccak256(serializeTransaction(requested));
    const signedBy = await recoverAddress({ hash, signature });
    return signedBy === address ? null : `the signature of ${signedBy} instead of ${address}`;
  } catch {
    return 'something that is not a signed transaction';
  }
}

function differingFields(signed: Record<string, unknown>, requested: Record<string, unknown>): string {
  const textOf = (value: unknown) => String(value === '0x' ? 0 : (value ?? 0)).toLowerCase();
  const names = [...new Set([...Object.keys(requested), 'to', 'accessList'])];
  return names.filter((name) => textOf(signed[name]) !== textOf(requested[name])).join(', ') || 'encoding';
}
