import { beforeAll, describe, expect, it } from 'vitest';
import type { Address } from '../../src/payment/address.ts';
import type { ChainReader } from '../../src/settlement/chain/chain.ts';
import { createChainReader } from '../../src/settlement/chain/create-chain-reader.ts';
import { addressFor, deployTestUsdc } from './local-chain.ts';
import { useLocalChain } from './use-chain.ts';

const chain = useLocalChain();
let reader: ChainReader;

beforeAll(() => {
  reader = createChainReader({
    endpoints: chain.endpoints,
    sources: { token: chain.token, factories: [chain.factory] },
  });
});

async function scan(
  fromBlock: number,
  recipients: readonly Address[] | null,
  isOwn: (recipient: string) => boolean = () => false,
  by: ChainReader = reader,
) {
  return by.withView(async (view) => {
    const latest = await view.readLatest();
    const ownOf = async (asked: ReadonlySet<string>) => new Set([...asked].filter(isOwn));
    return view.readLogs({ fromBlock, toBlock: latest.number, recipients, ownOf });
  });
}

async function nextBlock(): Promise<number> {
  return (await chain.anvil.blockNumber()) + 1;
}

describe('a scan', () => {
  /** The sender of what is minted. */
  const MINTED = `0x${'0'.repeat(40)}`;

  it('finds exactly the transfers to the recipients, in chain order, with their places and senders', async () => {
    const [first, second, stranger] = [addressFor('scan 1'), addressFor('scan 2'), addressFor('scan 3')];
    const fromBlock = await nextBlock();
    const hashes = [
      await chain.callToken({ name: 'mint', to: second, units: 5_000_000n }),
      await chain.callToken({ name: 'mint', to: stranger, units: 7_000_000n }),
      await chain.callToken({ name: 'mint', to: first, units: 1n }),
      await chain.callToken({ name: 'mint', to: second, units: 6_000_000n }),
    ];
    const { transfers, forwarded, scannedTo } = await scan(fromBlock, [first, second]);
    expect(transfers).toEqual([
      {
        recipient: second,
        sender: MINTED,
        units: 5_000_000n,
        blockNumber: fromBlock,
        logIndex: 1,
        transactionHash: hashes[0],
      },
      {
        recipient: first,
        sender: MINTED,
        units: 1n,
        blockNumber: fromBlock + 2,
        logIndex: 1,
        transactionHash: hashes[2],
      },
      {
        recipient: second,
        sender: MINTED,
        units: 6_000_000n,
        blockNumber: fromBlock + 3,
        logIndex: 1,
        transactionHash: hashes[3],
      },
    ]);
    expect(forwarded).toEqual([]);
    expect(scannedTo.number).toBe(fromBlock + 3);
  });

  it('leaves out transfers of nothing and transfers of another token', async () => {
    const recipient = addressFor('no money');
    const otherToken = await deployTestUsdc(chain.deployer);
    const fromBlock = await nextBlock();
    await chain.callToken({ name: 'transfer', to: recipient, units: 0n });
    await chain.callToken({ name: 'mint', to: recipient, units: 9n, token: otherToken });
    await chain.callToken({ name: 'mint', to: recipient, units: 3n });
    expect((await scan(fromBlock, [recipient])).transfers.map(({ units }) => units)).toEqual([3n]);
    const whole = await scan(fromBlock, null, (digits) => digits === recipient.toLowerCase());
    expect(whole.transfers.map(({ units }) => units)).toEqual([3n]);
  });

  it('of the whole token keeps the transfers to our own recipients, asked once with lower-case addresses', async () => {
    const wanted = addressFor('candidate');
    const fromBlock = await nextBlock();
    await chain.callToken({ name: 'mint', to: addressFor('no candidate'), units: 8n });
    await chain.callToken({ name: 'mint', to: wanted, units: 9n });
    const asked: string[] = [];
    const { transfers } = await scan(fromBlock, null, (recipient) => {
      asked.push(recipient);
      return recipient === wanted.toLowerCase();
    });
    expect(transfers).toMatchObject([{ recipient: wanted, units: 9n }]);
    expect(asked).toEqual([addressFor('no candidate').toLowerCase(), wanted.toLowerCase()]);
  });

  it('goes as far as the block range allows and says how far that is', async () => {
    const short = createChainReader({
      endpoints: chain.endpoints,
      sources: { token: chain.token, factories: [chain.factory] },
      initialBlockRange: 4,
      maximumBlockRange: 6,
    });
    await chain.anvil.mine(20);
    const scannedTo: number[] = [];
    for (const _ of [1, 2, 3]) scannedTo.push((await scan(1, [], undefined, short)).scannedTo.number);
    expect(scannedTo).toEqual([4, 6, 6]);
  });
});
