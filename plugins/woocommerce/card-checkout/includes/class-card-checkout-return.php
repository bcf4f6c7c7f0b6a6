<?php

declare(strict_types=1);

defined('ABSPATH') || exit;

/**
 * Redirect of customers from the service's page to their order.
 *
 * The service has one return URL per account, which names the payment and is not secret. So the order is shown only to
 * the browser that placed it, or to the signed-in customer. The browser has a signed cookie for each payment, because
 * concurrent writes to the shop's session would overwrite each other.
 */
final class Card_Checkout_Return
{
    private const COOKIE_PREFIX = 'card_checkout_';
    private const COOKIE_SECONDS = 9 * DAY_IN_SECONDS;
    /** Maximum orders of a payment: the original and its copies. */
    private const MAXIMUM_ORDERS = 20;

    /** Sets the cookie of the order's payment. */
    public static function remember(WC_Order $order): void
    {
        if (headers_sent()) {
            return;
        }
        $expires_at = time() + self::COOKIE_SECONDS;
        $payment_id = Card_Checkout_Fields::payment_of($order);
        setcookie(self::COOKIE_PREFIX . $payment_id, self::cookie($order, $payment_id, $expires_at), [
            'expires' => $expires_at,
            'path' => (defined('COOKIEPATH') ? (string) COOKIEPATH : '') ?: '/',
            'domain' => defined('COOKIE_DOMAIN') ? (string) COOKIE_DOMAIN : '',
            'secure' => true,
            'httponly' => true,
            'samesite' => 'Lax',
        ]);
    }

    /** Returns the cookie's value: order id, expiry, and a signature that also covers order key and payment. */
    public static function cookie(WC_Order $order, string $payment_id, int $expires_at): string
    {
        $id = $order->get_id();
        $signed = "card_checkout_return|$id|{$order->get_order_key()}|$payment_id|$expires_at";
        return "$id.$expires_at." . hash_hmac('sha256', $signed, wp_salt('auth'));
    }

    /** Returns the URL for the customer of this payment. */
    public static function url_for(string $payment_id): string
    {
        if (preg_match('/^[0-9a-f-]{36}$/D', $payment_id) !== 1) {
            return self::page('shop');
        }
        $order = self::order_of_cookie($payment_id);
        if ($order !== null) {
            return (string) $order->get_checkout_order_received_url();
        }
        $orders = array_filter(
            (array) wc_get_orders(Card_Checkout_Orders::with_meta(Card_Checkout_Fields::PAYMENT_ID, $payment_id)
                + ['limit' => self::MAXIMUM_ORDERS]),
            static fn (mixed $order): bool => $order instanceof WC_Order && Card_Checkout_Fields::has_payment($order)
        );
        foreach ($orders as $order) {
            $customer_id = (int) $order->get_customer_id();
            if ($customer_id > 0 && $customer_id === get_current_user_id()) {
                return (string) $order->get_checkout_order_received_url();
            }
        }
        return self::page($orders === [] ? 'shop' : 'myaccount');
    }

    /** Returns the order that this browser placed with the payment, if its cookie proves it. */
    private static function order_of_cookie(string $payment_id): ?WC_Order
    {
        $name = self::COOKIE_PREFIX . $payment_id;
        $cookie = is_string($_COOKIE[$name] ?? null) ? sanitize_text_field(wp_unslash($_COOKIE[$name])) : '';
        if (preg_match('/^(\d{1,15})\.(\d{1,12})\.[0-9a-f]{64}$/D', $cookie, $match) !== 1 || (int) $match[2] < time()) {
            return null;
        }
        $order = wc_get_order((int) $match[1]);
        $is_genuine = $order instanceof WC_Order
            && hash_equals(self::cookie($order, $payment_id, (int) $match[2]), $cookie);
        return $is_genuine ? $order : null;
    }

    private static function page(string $name): string
    {
        return (string) wc_get_page_permalink($name);
    }
}
