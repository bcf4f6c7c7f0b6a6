import { expect, it } from 'vitest';
import { finalReceivedUnitsOf } from './refunds.ts';

it('counts as received what is final', () => {
  const deposit = { units: 5n, logIndex: 0, transactionHash: '0x1' };
  const deposits = [
    { ...deposit, blockNumber: 10 },
    { ...deposit, blockNumber: 11 },
  ];
  expect(finalReceivedUnitsOf({ observations: { deposits, releases: [], finalBlock: 10 } })).toBe(5n);
});
