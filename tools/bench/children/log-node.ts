/** Node of a chain with prepared answers only: each read of its newest block finds a hundred more. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { TRANSFER_TOPIC } from '../../../src/settlement/chain/token-reader.ts';
import { answerParent } from '../answer-parent.ts';
import { countedAddress, countedHash } from '../counted-address.ts';
import { BLOCKS_A_PAGE, DEPOSITS_A_PAGE, LOGS_A_PAGE } from '../measurements/log-scan.ts';
import { blockOf } from '../servers/stub-node.ts';
import { addresses } from '../servers/stub-world.ts';

interface Call {
  readonly id: number;
  readonly method: string;
  readonly params: readonly [unknown, unknown];
}

const FIRST_BLOCK = 1_000;
/** First number of unknown addresses; numbers in the filled store begin at 1,000. */
const STRANGERS = 100_000_000;
const BLOCK_MARK = 'BLOCK';
const strangersByBlock = writeStrangers();
let latest = FIRST_BLOCK;

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const asked = JSON.parse(Buffer.concat(chunks).toString()) as Call | Call[];
    const answers = [asked]
      .flat()
      .map((call) => `{"jsonrpc":"2.0","id":${call.id},"result":${answer(call)}}`);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(Array.isArray(asked) ? `[${answers.join(',')}]` : answers[0]);
  });
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
answerParent(
  { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` },
  () => ({ latest }),
  async () => {
    server.closeAllConnections();
    server.close();
  },
);

function answer({ method, params: [first] }: Call): string {
  switch (method) {
    case 'eth_chainId':
      return '"0x89"';
    case 'eth_getBlockByNumber':
      if (first === 'latest') latest += BLOCKS_A_PAGE;
      return JSON.stringify(blockOf(first === 'latest' || first === 'finalized' ? latest : Number(first)));
    case 'eth_getLogs': {
      const { address, fromBlock, toBlock } = first as Record<string, string>;
      return address === addresses.token ? transfers(Number(fromBlock), Number(toBlock)) : '[]';
    }
    default:
      throw new Error(`the bench's node does not know ${method}`);
  }
}

/** Transfers of unknown addresses are written once; each page replaces only their block numbers. */
function transfers(fromBlock: number, toBlock: number): string {
  if (toBlock - fromBlock + 1 !== BLOCKS_A_PAGE) throw new Error(`asked for ${fromBlock} to ${toBlock}`);
  const page = (fromBlock - FIRST_BLOCK - 1) / BLOCKS_A_PAGE;
  const strangers = strangersByBlock.map((text, block) =>
    text.replaceAll(BLOCK_MARK, quantity(fromBlock + block)),
  );
  const deposits = Array.from({ length: DEPOSITS_A_PAGE }, (_, index) => {
    const number = page * DEPOSITS_A_PAGE + index;
    return transfer(number, quantity(fromBlock + index), 1_000 + number, LOGS_A_PAGE + index);
  });
  return `[${[...deposits, ...strangers].join(',')}]`;
}

function writeStrangers(): readonly string[] {
  const logsABlock = LOGS_A_PAGE / BLOCKS_A_PAGE;
  return Array.from({ length: BLOCKS_A_PAGE }, (_, block) => {
    const first = block * logsABlock + (block < DEPOSITS_A_PAGE ? 1 : 0);
    const logs = Array.from({ length: (block + 1) * logsABlock - first }, (_, index) => {
      const number = STRANGERS + first + index;
      return transfer(number, BLOCK_MARK, number, first + index);
    });
    return logs.join(',');
  });
}

/** Complete log of a transfer of 12.34 USDC. */
function transfer(number: number, blockNumber: string, recipient: number, logIndex: number): string {
  return JSON.stringify({
    address: addresses.token.toLowerCase(),
    topics: [TRANSFER_TOPIC, topicOf(2 * STRANGERS + number), topicOf(recipient)],
    data: `0x${(12_340_000).toString(16).padStart(64, '0')}`,
    blockNumber,
    blockHash: countedHash(FIRST_BLOCK),
    blockTimestamp: '0x6553f100',
    transactionHash: countedHash(number),
    transactionIndex: '0x1f',
    logIndex: quantity(logIndex),
    removed: false,
  });
}

function quantity(value: number): string {
  return `0x${value.toString(16)}`;
}

function topicOf(number: number): string {
  return `0x${'0'.repeat(24)}${countedAddress(number).slice(2).toLowerCase()}`;
}
