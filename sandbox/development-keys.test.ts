import { mnemonicToAccount } from 'viem/accounts';
import { bytesToHex } from 'viem/utils';
import { expect, it } from 'vitest';
import { developmentKeys } from './development-keys.ts';

it('the keys of the sandbox are those of every local development chain, and thus worth nothing', () => {
  const derived = Object.values(developmentKeys()).map((_, addressIndex) => {
    const mnemonic = `${'test '.repeat(11)}junk`;
    const account = mnemonicToAccount(mnemonic, { addressIndex });
    const privateKey = bytesToHex(account.getHdKey().privateKey as Uint8Array);
    return { address: account.address, privateKey };
  });
  expect(Object.values(developmentKeys())).toEqual(derived);
});
