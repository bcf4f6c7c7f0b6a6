<?php

declare(strict_types=1);

namespace CardCheckout;

/**
 * Proof that USDC at a payment's deposit address can only go to the shop's wallet, less the fee.
 *
 * The address is the CREATE2 address of a contract, determined by payout wallet, fee, fee wallet and payment id. It is
 * recomputed from the shop's payout wallet and the contracts that the shop has accepted. So not even a compromised
 * service can divert a payment.
 */
final class DepositAddress
{
    /** Maximum fee of the service, in percent. */
    private const HIGHEST_FEE_PERCENT = 10;
    /** Maximum candidates, more than a service ever has. A longer list would only cost time. */
    private const MAXIMUM_CANDIDATES = 256;

    /**
     * @param array<string, mixed> $payment response to the creation
     * @param array<string, mixed> $publication publication of the service's contracts
     * @throws DepositAddressException if the address could pay another wallet
     */
    public static function verify(array $payment, string $payoutAddress, array $publication): void
    {
        $feePercent = $payment['fee_percent'] ?? null;
        if (!is_numeric($feePercent) || $feePercent < 0 || $feePercent > self::HIGHEST_FEE_PERCENT) {
            throw new DepositAddressException('the fee is not a percentage from 0 to ' . self::HIGHEST_FEE_PERCENT);
        }
        [$chainId, $factories, $feeWallets] = self::readPublication($publication);
        $given = self::address($payment['polygon_address_in'] ?? '', 'the deposit address');
        $merchant = self::address($payoutAddress, 'the payout wallet');
        $reference = Keccak::hash((string) $payment['payment_id']);
        $basisPoints = (int) round((float) $feePercent * 100);

        foreach ($factories as $factory) {
            $codeHash = self::cloneCodeHash(self::firstContractOf($factory));
            foreach ($feeWallets as $feeWallet) {
                $salt = Keccak::hash(
                    self::word(pack('J', $chainId)) . self::word($merchant) . self::word($feeWallet)
                    . self::word(pack('J', $basisPoints)) . $reference
                );
                $hash = Keccak::hash("\xff" . $factory . $salt . $codeHash);
                if (hash_equals(substr($hash, -20), $given)) {
                    return;
                }
            }
        }
        throw new DepositAddressException("the deposit address {$payment['polygon_address_in']} could pay another wallet");
    }

    /**
     * Returns the relevant parts of a publication as bytes.
     *
     * @param array<string, mixed> $publication
     * @return array{int, list<string>, list<string>} chain id, factories, fee wallets
     * @throws DepositAddressException
     */
    public static function readPublication(array $publication): array
    {
        $chainId = $publication['chain_id'] ?? null;
        $factories = array_column((array) ($publication['factories'] ?? []), 'address');
        $feeWallets = (array) ($publication['fee_wallets'] ?? []);
        $candidates = count($factories) * count($feeWallets);
        if (!is_int($chainId) || $candidates === 0 || $candidates > self::MAXIMUM_CANDIDATES) {
            throw new DepositAddressException('the service does not publish its deposit contracts');
        }
        return [
            $chainId,
            array_map(static fn ($text) => self::address($text, 'a factory'), $factories),
            array_map(static fn ($text) => self::address($text, 'a fee wallet'), array_values($feeWallets)),
        ];
    }

    /** Returns the 20 bytes of an address. */
    private static function address(mixed $text, string $what): string
    {
        if (!is_string($text) || preg_match('/^0x[0-9a-f]{40}$/Di', $text) !== 1) {
            throw new DepositAddressException("$what is not an address");
        }
        return (string) hex2bin(substr($text, 2));
    }

    /** Right-aligns bytes in 32 bytes, as an argument in the contract's ABI. */
    private static function word(string $bytes): string
    {
        return str_pad($bytes, 32, "\0", STR_PAD_LEFT);
    }

    /** Returns a factory's first contract, the implementation of its clones: keccak256(rlp([factory, 1])). */
    private static function firstContractOf(string $factory): string
    {
        return substr(Keccak::hash("\xd6\x94" . $factory . "\x01"), -20);
    }

    /** Returns the hash of the creation code of an ERC-1167 clone. */
    private static function cloneCodeHash(string $implementation): string
    {
        return Keccak::hash(
            hex2bin('3d602d80600a3d3981f3363d3d373d3d3d363d73')
            . $implementation
            . hex2bin('5af43d82803e903d91602b57fd5bf3')
        );
    }
}
