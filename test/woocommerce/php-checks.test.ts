/** Checks of the plugin that Debian's tools for PHP run: PHPUnit and PHP_CodeSniffer. */
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { getContractAddress, type Hex, keccak256 } from 'viem';
import { expect, it } from 'vitest';
import { createDepositAddressCalculator, paymentReference } from '../../src/domain/deposit-address.ts';
import { createPaymentIdGenerator } from '../../src/domain/payment-id.ts';

const run = promisify(execFile);
const createPaymentId = createPaymentIdGenerator(Date.now);
const root = join(import.meta.dirname, '..', '..');

function isInstalled(command: string): boolean {
  if (spawnSync(command, ['--version']).status === 0) return true;
  // Said in the output of every run: a reader sees what was not checked.
  console.warn(`not checked: woocommerce with ${command}, which is not installed here`);
  return false;
}

const addresses = [
  '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65',
  '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
  '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
] as const;

/** Hashes of every length from 0 to 300 bytes. */
function keccakVectors() {
  return Array.from({ length: 301 }, (_, length) => {
    const bytes = Uint8Array.from({ length }, (_value, index) => (index * 31 + length) % 256);
    return { bytes: Buffer.from(bytes).toString('hex'), hash: keccak256(bytes).slice(2) };
  });
}

/** Payments as the service makes them, for two factories, two fee wallets and several fees. */
function depositVectors() {
  const [wallet, otherWallet, factory, otherFactory] = addresses;
  const implementationOf = (from: Hex) => getContractAddress({ from, nonce: 1n });
  const payments = [0, 1, 250, 1000].flatMap((feeBasisPoints) =>
    [factory, otherFactory].flatMap((from) =>
      [wallet, otherWallet].flatMap((feeWallet) =>
        [otherWallet, wallet].map((payout) => {
          const id = createPaymentId();
          const calculate = createDepositAddressCalculator({
            chainId: 137,
            factory: from,
            implementation: implementationOf(from),
          });
          const terms = { merchant: payout, feeBasisPoints, feeWallet, reference: paymentReference(id) };
          const payment = {
            payment_id: id,
            polygon_address_in: calculate(terms),
            fee_percent: feeBasisPoints / 100,
          };
          return { payout, payment };
        }),
      ),
    ),
  );
  return {
    publication: {
      chain_id: 137,
      factories: [factory, otherFactory].map((address) => ({ address })),
      fee_wallets: [wallet, otherWallet],
    },
    payments,
  };
}

it('passes its unit tests with vectors of the service, where PHPUnit is installed', async () => {
  if (!isInstalled('phpunit')) return;
  const folder = mkdtempSync(join(tmpdir(), 'card-checkout-phpunit-'));
  try {
    const file = join(folder, 'vectors.json');
    writeFileSync(file, JSON.stringify({ keccak: keccakVectors(), deposits: depositVectors() }));
    const tests = join(import.meta.dirname, 'phpunit');
    const options = ['--fail-on-warning', '--fail-on-risky', '--do-not-cache-result', '--no-configuration'];
    const { stdout } = await run(
      'phpunit',
      [...options, '--bootstrap', join(tests, 'bootstrap.php'), tests],
      { env: { PATH: process.env['PATH'], VECTORS_FILE: file } },
    ).catch((error: { stdout: string }) => ({ stdout: error.stdout }));
    expect(stdout).toMatch(/^OK \(\d+ tests, \d+ assertions\)$/m);
    expect(Number(/OK \((\d+) tests/.exec(stdout)?.[1])).toBeGreaterThanOrEqual(15);
  } finally {
    rmSync(folder, { recursive: true });
  }
}, 60_000);

it('follows its code style, where PHP_CodeSniffer is installed', async () => {
  if (!isInstalled('phpcs')) return;
  const folder = join(root, 'woocommerce');
  const check = (...args: string[]) =>
    run('phpcs', ['--standard=phpcs.xml', '--report=emacs', '-q', ...args], { cwd: folder }).then(
      ({ stdout }) => stdout,
      (error: { stdout: string }) => error.stdout,
    );
  expect(await check()).toBe('');
  // The standard is in effect: a file that breaks it is reported.
  expect(await check(join(import.meta.dirname, 'wordpress-stubs.php'))).toContain('error');
}, 60_000);
