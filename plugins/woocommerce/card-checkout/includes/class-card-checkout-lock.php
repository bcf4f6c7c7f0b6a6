<?php

declare(strict_types=1);

defined('ABSPATH') || exit;

/** Lock that keeps two requests from changing an order at a time. The database releases it when a process ends. */
final class Card_Checkout_Lock
{
    private const WAIT_SECONDS = 5;

    /**
     * Runs the work while no other request holds the order's lock. The work must read the order again.
     *
     * @template T
     * @param callable(): T $work
     * @return T
     * @throws Card_Checkout_Exception if another request holds the lock for too long
     */
    public static function run(int $order_id, callable $work): mixed
    {
        global $wpdb;
        $lock = $wpdb->prefix . 'card_checkout_' . $order_id;
        $held = $wpdb->get_var($wpdb->prepare('SELECT GET_LOCK(%s, %d)', $lock, self::WAIT_SECONDS));
        if ((string) $held !== '1') {
            throw new Card_Checkout_Exception('another request is changing the order');
        }
        try {
            // Drops values that this request read before it got the lock.
            wp_cache_flush_runtime();
            return $work();
        } finally {
            $wpdb->get_var($wpdb->prepare('SELECT RELEASE_LOCK(%s)', $lock));
        }
    }
}
