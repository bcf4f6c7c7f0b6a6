<?php

declare(strict_types=1);

defined('ABSPATH') || exit;

/**
 * Brings a customer from the service's page back to the order.
 *
 * The service has one return URL per account, which names the payment and is not secret. The order is therefore shown
 * only to the browser that placed it, or to the signed-in customer.
 */
final class Card_Checkout_Return
{
    private const SESSION_KEY = 'card_checkout_orders';
    private const MAXIMUM_REMEMBERED = 20;

    public static function remember_order(int $order_id): void
    {
        $session = WC()->session;
        if ($session !== null) {
            $earlier = array_diff((array) $session->get(self::SESSION_KEY, []), [$order_id]);
            $session->set(self::SESSION_KEY, array_slice([$order_id, ...$earlier], 0, self::MAXIMUM_REMEMBERED));
        }
    }

    /** URL for the customer of this payment. */
    public static function url_for(string $payment_id): string
    {
        $orders = preg_match('/^[0-9a-f-]{36}$/D', $payment_id) === 1
            ? wc_get_orders(Card_Checkout_Orders::with_meta(Card_Checkout_Orders::PAYMENT_ID, $payment_id) + ['limit' => 1])
            : [];
        $order = $orders[0] ?? null;
        if (!$order instanceof WC_Order) {
            return wc_get_page_permalink('shop');
        }
        $session = WC()->session;
        $remembered = $session === null ? [] : (array) $session->get(self::SESSION_KEY, []);
        $customer_id = (int) $order->get_customer_id();
        $is_theirs = in_array($order->get_id(), array_map('intval', $remembered), true)
            || ($customer_id > 0 && $customer_id === get_current_user_id());
        return $is_theirs ? $order->get_checkout_order_received_url() : wc_get_page_permalink('myaccount');
    }
}
