<?php

declare(strict_types=1);

defined('ABSPATH') || exit;

/** The five obligations of a receiver. */
final class Card_Checkout_Webhook
{
    private const MAXIMUM_BODY_BYTES = 65536;
    private const TOLERANCE_SECONDS = 300;

    public function __construct(private readonly Card_Checkout_Orders $orders)
    {
    }

    /**
     * @param string $raw_body 1. the bytes as they came, before anything parses them
     * @return int the HTTP status to answer with
     */
    public function receive(string $raw_body, string $signature, int $order_id, string $order_key): int
    {
        if (strlen($raw_body) > self::MAXIMUM_BODY_BYTES) {
            return 413;
        }
        $order = wc_get_order($order_id);
        $is_ours = $order instanceof WC_Order
            && hash_equals($order->get_order_key(), $order_key)
            && Card_Checkout_Orders::has_payment($order);
        // 2. in constant time, with the token that was stored with this order's payment
        if (!$is_ours || !$this->is_genuine($raw_body, $signature, $this->orders->ipn_token_of($order))) {
            return 401;
        }
        $event = json_decode($raw_body, true, 8);
        if (!is_array($event) || !is_numeric($event['timestamp'] ?? null)) {
            return 400;
        }
        $is_about_this = ($event['paymentId'] ?? null) === $order->get_meta(Card_Checkout_Orders::PAYMENT_ID);
        // An event is sent at once: an old one is a recording.
        if (!$is_about_this || abs(time() - $event['timestamp']) > self::TOLERANCE_SECONDS) {
            return 401;
        }
        try {
            // 3. confirm with the service, 4. complete once
            $this->orders->confirm($order_id);
        } catch (Card_Checkout_Exception $exception) {
            // The event is not sent again; the hourly look finds the order.
            Card_Checkout_Orders::log("order $order_id: " . $exception->getMessage());
            return 500;
        }
        return 204; // 5.
    }

    private function is_genuine(string $raw_body, string $signature, string $ipn_token): bool
    {
        return $ipn_token !== '' && hash_equals(hash_hmac('sha256', $raw_body, $ipn_token), $signature);
    }
}
