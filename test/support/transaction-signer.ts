import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Hex } from 'viem';
import { privateKeyToAccount, privateKeyToAddress } from 'viem/accounts';
import { isAddress, parseTransaction } from 'viem/utils';

/** What is signed instead of the request; `null` never answers. */
export type SignerMood = (request: SignableTransaction) => Promise<unknown> | unknown;

type SignableTransaction = ReturnType<typeof readRequest>;

interface JsonRpcRequest {
  readonly jsonrpc: unknown;
  readonly id: unknown;
  readonly method: string;
  readonly params: readonly unknown[];
}

class SignerRefusal extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

const quantity = /^0x(0|[1-9a-f][0-9a-f]*)$/;
const quantities = ['gas', 'nonce', 'value', 'maxFeePerGas', 'maxPriorityFeePerGas', 'chainId'] as const;

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
    requests: 0,
    authorization: undefined as string | undefined,
    url: '',
    sign: (transaction: SignableTransaction, from = transaction.from) => {
      const account = accounts.get(from);
      if (account === undefined) throw new SignerRefusal(-32_000, 'No unlocked account matches the Sender');
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

  async function answer({ jsonrpc, method, params }: JsonRpcRequest): Promise<unknown> {
    if (jsonrpc !== '2.0') throw new SignerRefusal(-32_600, 'Invalid Request');
    if (method !== (kind === 'clef' ? 'account_signTransaction' : 'eth_signTransaction'))
      throw new SignerRefusal(-32_601, `the method ${method} does not exist/is not available`);
    const request = readRequest(params);
    if (request.chainId !== chainId) {
      if (kind === 'clef') throw new SignerRefusal(-32_000, 'requested chainid does not match');
      request.chainId = chainId;
    }
    const raw = await (signer.mood ?? signer.sign)(request);
    if (kind === 'web3signer' || typeof raw !== 'string') return raw;
    return { raw, tx: parseTransaction(raw as '0x02') };
  }

  const server = createServer(async (request, response) => {
    signer.requests++;
    signer.authorization = request.headers.authorization;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString()) as JsonRpcRequest;
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

function readRequest(params: readonly unknown[]) {
  const [request, ...others] = params as readonly Readonly<Record<string, string>>[];
  const { from, to, data, ...numbers } = request ?? {};
  const isValid =
    others.length === 0 &&
    isAddress(from ?? '') &&
    (to === undefined || isAddress(to)) &&
    /^0x([0-9a-f]{2})*$/.test(data ?? '') &&
    Object.keys(numbers).sort().join() === [...quantities].sort().join() &&
    Object.values(numbers).every((number) => quantity.test(number));
  if (!isValid) throw new SignerRefusal(-32_602, 'Invalid params');
  const read = (name: (typeof quantities)[number]) => BigInt(numbers[name] as string);
  return {
    from: from as Hex,
    ...(to === undefined ? {} : { to: to as Hex }),
    data: data as Hex,
    chainId: Number(read('chainId')),
    nonce: Number(read('nonce')),
    gas: read('gas'),
    value: read('value'),
    maxFeePerGas: read('maxFeePerGas'),
    maxPriorityFeePerGas: read('maxPriorityFeePerGas'),
  };
}
