<?php

declare(strict_types=1);

defined('ABSPATH') || exit;

/** States of a payment, derived from the service's `status` and `forward_status`. Independent of WordPress. */
final class Card_Checkout_State
{
    public const OPEN = 'open';
    public const PARTIALLY_PAID = 'partially_paid';
    public const RELEASING = 'releasing';
    public const RELEASE_REFUSED = 'release_refused';
    public const PAID = 'paid';
    public const CANCELED = 'canceled';
    public const CANCELED_WITH_MONEY = 'canceled_with_money';
    public const CANCELED_AND_RELEASED = 'canceled_and_released';
    /** State that this version does not know, and on which it must not act. */
    public const UNKNOWN = 'unknown';

    /** States after which money can only arrive late. */
    public const FINAL_STATES = [self::PAID, self::CANCELED, self::CANCELED_WITH_MONEY, self::CANCELED_AND_RELEASED];

    /** @param array<string, mixed> $status status response of the service */
    public static function of(array $status): string
    {
        return match (($status['status'] ?? '') . '/' . ($status['forward_status'] ?? '')) {
            'unpaid/pending' => (float) ($status['value_coin'] ?? 0) > 0 ? self::PARTIALLY_PAID : self::OPEN,
            'unpaid/ready', 'unpaid/processing' => self::RELEASING,
            'unpaid/failed', 'unpaid/manual_required' => self::RELEASE_REFUSED,
            'paid/completed' => self::PAID,
            'canceled/canceled' => self::CANCELED,
            'canceled/manual_required' => self::CANCELED_WITH_MONEY,
            'canceled/completed' => self::CANCELED_AND_RELEASED,
            default => self::UNKNOWN,
        };
    }
}
