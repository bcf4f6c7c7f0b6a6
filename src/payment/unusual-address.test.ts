import { usdc } from 'viem/tokens';
import { expect, it } from 'vitest';
import { parsePayoutAddress } from './address.ts';
import { doubtAbout } from './unusual-address.ts';

const doubtOf = (text: string) => {
  const address = parsePayoutAddress(text);
  expect(address, text).not.toBeNull();
  return address === null ? null : doubtAbout(address);
};

it.each([
  ['USDC.e', '0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174'],
  ['USDC', usdc.addresses[137]],
  ['USDC on Ethereum', usdc.addresses[1]],
  ['USDC on Base', usdc.addresses[8453]],
  ['USDC on Arbitrum', usdc.addresses[42161]],
  ['USDT', '0xc2132D05D31c914a87C6611C10748AEb04B58e8F'],
])('names the token %s, however its address is written', (name, address) => {
  for (const text of [address, address.toLowerCase(), `0x${address.slice(2).toUpperCase()}`])
    expect(doubtOf(text)).toContain(`the token ${name},`);
});

it.each([
  ['the first precompile', `0x${'1'.padStart(40, '0')}`],
  ['a later precompile', `0x${'100'.padStart(40, '0')}`],
  ['a system contract of Polygon', '0x0000000000000000000000000000000000001010'],
  ['the usual burn address', '0x000000000000000000000000000000000000dEaD'],
  ['another burn address', '0xdead000000000000000042069420694206942069'],
  ['dead, repeated', `0x${'dead'.repeat(10)}`],
  ['a letter, repeated', `0x${'f'.repeat(40)}`],
  ['ten digits, repeated', `0x${'1234567890'.repeat(4)}`],
  ['deadbeef, repeated', `0x${'deadbeef'.repeat(5)}`],
  ['digits and padding', `0xdeadbeef${'0'.repeat(32)}`],
])('has a doubt about %s', (_, address) => {
  expect(doubtOf(address)).toContain('without an owner');
});

it.each([
  '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65',
  '0x52908400098527886E0F7030069857D2E4169EE7',
  `0x${'1'.padStart(9, '0')}${'23456789a'.padStart(31, '5')}`,
  // Vanity address with leading zeros, of the beacon chain's deposit contract.
  '0x00000000219ab540356cBB839Cbe05303d7705Fa',
])('has none about %s', (address) => {
  expect(doubtOf(address)).toBeNull();
});
