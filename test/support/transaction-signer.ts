import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Hex } from 'viem';
import { privateKeyToAccount, privateKeyToAddress } from 'viem/accounts';
import { isAddress, parseTransaction } from 'viem/utils';
import type { UnsignedTransaction } from '../../src/settlement/chain/signer.ts';

type SignableTransaction = Omit<UnsignedTransaction, 'value'> & {
  readonly from: Hex;
  readonly value: bigint;
};

/** What is signed instead of the request; `null` never answers. */
export type SignerMood = (request: SignableTransaction) => Promise<unknown> | unknown;

const quantity = /^0x(0|[1-9a-f][0-9a-f]*)$/;
const quantities = 'chainId,gas,maxFeePerGas,maxPriorityFeePerGas,nonce,value';

function refusal(code: number, message: string): Error {
  return Object.assign(new Error(message), { code });
}

/**
 * A signer as Web3Signer 26.4 (`eth_signTransaction`, the answer is the raw transaction) and clef 1.17
 * (`account_signTransaction`, the answer is `{ raw, tx }`) are documented, for keys of the test. It is stricter than
 * they are: unknown fields, odd quantities and addresses without a checksum are refused by both.
 */
export async function startTransactionSigner(
  kind: 'web3signer' | 'clef',
  chainId: number,
  keys: readonly Hex[],
) {
  const accounts = new Map(keys.map((key) => [privateKeyToAddress(key), privateKeyToAccount(key)]));
  const signer = {
    /** Null signs what is asked for. */
    mood: null as SignerMood | null,
    authorization: undefined as string | undefined,
    url: '',
    sign: (transaction: SignableTransaction, from = transaction.from) => {
      const account = accounts.get(from);
      if (account === undefined) throw refusal(-32_000, 'No unlocked account matches the Sender');
      const { from: _, ...fields } = transaction;
      return account.signTransaction({ ...fields, type: 'eip1559' });
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
    /** At the same address as before. */
    start: (port = Number(new URL(signer.url).port)) =>
      new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve)),
  };

  async function answer({ jsonrpc, method, params }: Readonly<Record<string, unknown>>): Promise<unknown> {
    if (jsonrpc !== '2.0') throw refusal(-32_600, 'Invalid Request');
    if (method !== (kind === 'clef' ? 'account_signTransaction' : 'eth_signTransaction'))
      throw refusal(-32_601, `the method ${method} does not exist/is not available`);
    const request = readRequest(params as readonly Readonly<Record<string, string>>[]);
    if (kind === 'clef' && request.chainId !== chainId)
      throw refusal(-32_000, 'requested chainid does not match');
    const raw = await (signer.mood ?? signer.sign)({ ...request, chainId });
    if (kind === 'web3signer' || typeof raw !== 'string') return raw;
    return { raw, tx: parseTransaction(raw as '0x02') };
  }

  const server = createServer(async (request, response) => {
    signer.authorization = request.headers.authorization;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString());
    const send = (outcome: object) =>
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(
          JSON.stringify({ jsonrpc: '2.0', id: body.id, ...outcome }, (_, value) =>
            typeof value === 'bigint' ? `0x${value.toString(16)}` : value,
          ),
        );
    await answer(body).then(
      (result) => result !== null && send({ result }),
      (error) => send({ error: { code: error.code ?? -32_603, message: error.message } }),
    );
  });
  await signer.start(0);
  signer.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return signer;
}

function readRequest([request, ...others]: readonly Readonly<Record<string, string>>[]): SignableTransaction {
  const { from, to, data, ...numbers } = request ?? {};
  const isValid =
    others.length === 0 &&
    isAddress(from ?? '') &&
    (to === undefined || isAddress(to)) &&
    /^0x([0-9a-f]{2})*$/.test(data ?? '') &&
    Object.keys(numbers).sort().join() === quantities &&
    Object.values(numbers).every((number) => quantity.test(number));
  if (!isValid) throw refusal(-32_602, 'Invalid params');
  const read = Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, BigInt(value)]));
  const [chainId, nonce] = [Number(read['chainId']), Number(read['nonce'])];
  return { ...request, ...read, chainId, nonce } as unknown as SignableTransaction;
}
