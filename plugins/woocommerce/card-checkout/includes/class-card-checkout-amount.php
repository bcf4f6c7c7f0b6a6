<?php

declare(strict_types=1);

defined('ABSPATH') || exit;

/** Amounts as integers: cents of the shop's currency and units of 0.000001 USDC. Independent of WordPress. */
final class Card_Checkout_Amount
{
    private const UNITS_PER_USDC = 1_000_000;
    /** Maximum digits of whole USDC, enough for any payment. The product with the price in cents fits into 64 bits. */
    private const MAXIMUM_USDC_DIGITS = 6;

    /** Formats an amount as "25.00" for the API. WooCommerce stores totals as decimal text. */
    public static function decimal(mixed $total): string
    {
        return number_format(is_scalar($total) ? (float) $total : 0.0, 2, '.', '');
    }

    public static function cents(mixed $total): int
    {
        return (int) str_replace('.', '', self::decimal($total));
    }

    /** Converts an amount in USDC, such as "21.01", to units; null for any other text. */
    public static function units(string $text): ?int
    {
        $pattern = '/^(\d{1,' . self::MAXIMUM_USDC_DIGITS . '})(?:\.(\d{1,6}))?$/D';
        if (preg_match($pattern, $text, $match) !== 1) {
            return null;
        }
        return (int) $match[1] * self::UNITS_PER_USDC + (int) str_pad($match[2] ?? '', 6, '0');
    }

    /** Formats units as "21.010000". */
    public static function usdc(int $units): string
    {
        return sprintf('%d.%06d', intdiv($units, self::UNITS_PER_USDC), $units % self::UNITS_PER_USDC);
    }

    /**
     * Returns the USDC for a refund in cents: the same share of the received USDC, rounded down to a unit. So refunds
     * never exceed the received amount, which is the price less the provider's costs.
     */
    public static function share(int $received_units, int $refund_cents, int $total_cents): int
    {
        if ($received_units < 0 || $refund_cents < 0 || $refund_cents > $total_cents || $total_cents === 0) {
            throw new InvalidArgumentException('the refund is not a part of the order');
        }
        return intdiv($received_units * $refund_cents, $total_cents);
    }
}
