<?php

declare(strict_types=1);

defined('ABSPATH') || exit;

/**
 * Proves that USDC at a payment's deposit address can only go to the shop's wallet, less the fee.
 *
 * The address is the CREATE2 address of a contract determined by payout wallet, fee, fee wallet and payment id. It is
 * recomputed from the shop's own payout wallet and the contracts that the shop has accepted, so that neither the
 * service nor an attacker in it can divert a payment.
 */
final class Card_Checkout_Deposit_Address
{
    /** Maximum fee of the service. */
    private const HIGHEST_FEE_PERCENT = 10;
    /** More than a service ever has; a longer list would only cost time. */
    private const MAXIMUM_CANDIDATES = 256;

    /**
     * @param array<string, mixed> $payment the answer to the create
     * @param array<string, mixed> $publication of the service's contracts
     * @throws Card_Checkout_Exception if the address could pay another wallet
     */
    public static function verify(array $payment, string $payout_address, array $publication): void
    {
        $fee_percent = $payment['fee_percent'] ?? null;
        if (!is_numeric($fee_percent) || $fee_percent < 0 || $fee_percent > self::HIGHEST_FEE_PERCENT) {
            throw new Card_Checkout_Exception('the fee is not a percentage from 0 to ' . self::HIGHEST_FEE_PERCENT);
        }
        [$chain_id, $factories, $fee_wallets] = self::read_publication($publication);
        $given = self::address($payment['polygon_address_in'] ?? '', 'the deposit address');
        $merchant = self::address($payout_address, 'the payout wallet');
        $reference = Card_Checkout_Keccak::hash((string) $payment['payment_id']);
        $basis_points = (int) round((float) $fee_percent * 100);

        foreach ($factories as $factory) {
            $code_hash = self::clone_code_hash(self::first_contract_of($factory));
            foreach ($fee_wallets as $fee_wallet) {
                $salt = Card_Checkout_Keccak::hash(
                    self::word(pack('J', $chain_id)) . self::word($merchant) . self::word($fee_wallet)
                    . self::word(pack('J', $basis_points)) . $reference
                );
                $hash = Card_Checkout_Keccak::hash("\xff" . $factory . $salt . $code_hash);
                if (hash_equals(substr($hash, -20), $given)) {
                    return;
                }
            }
        }
        throw new Card_Checkout_Exception("the deposit address {$payment['polygon_address_in']} could pay another wallet");
    }

    /**
     * Relevant parts of a publication, as bytes.
     *
     * @param array<string, mixed> $publication
     * @return array{int, list<string>, list<string>} the chain id, the factories, the fee wallets
     * @throws Card_Checkout_Exception
     */
    public static function read_publication(array $publication): array
    {
        $chain_id = $publication['chain_id'] ?? null;
        $factories = array_column((array) ($publication['factories'] ?? []), 'address');
        $fee_wallets = (array) ($publication['fee_wallets'] ?? []);
        $candidates = count($factories) * count($fee_wallets);
        if (!is_int($chain_id) || $candidates === 0 || $candidates > self::MAXIMUM_CANDIDATES) {
            throw new Card_Checkout_Exception('the service does not publish its deposit contracts');
        }
        return [
            $chain_id,
            array_map(static fn ($text) => self::address($text, 'a factory'), $factories),
            array_map(static fn ($text) => self::address($text, 'a fee wallet'), array_values($fee_wallets)),
        ];
    }

    /** The 20 bytes of an address. */
    private static function address(mixed $text, string $what): string
    {
        if (!is_string($text) || preg_match('/^0x[0-9a-f]{40}$/Di', $text) !== 1) {
            throw new Card_Checkout_Exception("$what is not an address");
        }
        return (string) hex2bin(substr($text, 2));
    }

    /** Right-aligned in 32 bytes, as an argument in the contract's ABI. */
    private static function word(string $bytes): string
    {
        return str_pad($bytes, 32, "\0", STR_PAD_LEFT);
    }

    /** First contract of a factory, the implementation of its clones: keccak256(rlp([factory, 1])). */
    private static function first_contract_of(string $factory): string
    {
        return substr(Card_Checkout_Keccak::hash("\xd6\x94" . $factory . "\x01"), -20);
    }

    /** Hash of the creation code of an ERC-1167 clone. */
    private static function clone_code_hash(string $implementation): string
    {
        return Card_Checkout_Keccak::hash(
            hex2bin('3d602d80600a3d3981f3363d3d373d3d3d363d73')
            . $implementation
            . hex2bin('5af43d82803e903d91602b57fd5bf3')
        );
    }
}
