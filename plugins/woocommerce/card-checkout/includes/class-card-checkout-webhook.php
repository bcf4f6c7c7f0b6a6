<?php

declare(strict_types=1);

defined('ABSPATH') || exit;

use Card_Checkout_Library\Webhook;

/** Receiver of webhooks: verifies the raw body, confirms the payment, completes the order once and responds. */
final class Card_Checkout_Webhook
{
    private const TOLERANCE_SECONDS = 300;
    private const LOG_OPTION = 'card_checkout_webhooks';
    /** Minimum interval between log entries about forged webhooks. */
    private const LOG_INTERVAL_SECONDS = 60;

    public function __construct(private readonly Card_Checkout_Orders $orders)
    {
    }

    /**
     * Returns the last accepted and the last rejected webhook, for the settings page.
     *
     * @return array{accepted_at?: int, failed_at?: int, reason?: string}
     */
    public static function last(): array
    {
        return (array) get_option(self::LOG_OPTION, []);
    }

    /** Reads the raw body, up to one byte beyond the limit, which makes `receive` refuse it. */
    public static function read_body(string $file = 'php://input'): string
    {
        return Webhook::readBody($file);
    }

    /**
     * @param string $raw_body body before any parsing
     * @return int the HTTP status
     */
    public function receive(string $raw_body, string $signature, int $order_id, string $order_key): int
    {
        [$status, $reason] = $this->validate($raw_body, $signature, $order_id, $order_key);
        self::remember($reason);
        return $status;
    }

    /** @return array{int, string} HTTP status and reason of a rejection; '' if accepted */
    private function validate(string $raw_body, string $signature, int $order_id, string $order_key): array
    {
        if (strlen($raw_body) > Webhook::MAXIMUM_BODY_BYTES) {
            return [413, __('The body is too long.', 'card-checkout')];
        }
        $order = wc_get_order($order_id);
        $is_known = $order instanceof WC_Order
            && hash_equals((string) $order->get_order_key(), $order_key)
            && Card_Checkout_Orders::has_payment($order);
        if (!$is_known) {
            return [401, __('The order is unknown.', 'card-checkout')];
        }
        $payment_id = null;
        foreach (Card_Checkout_Fields::tokens_of($order) as $id => $ipn_token) {
            $payment_id = Webhook::isGenuine($raw_body, $signature, $ipn_token) ? $id : $payment_id;
        }
        if ($payment_id === null) {
            return [401, __('The signature is wrong.', 'card-checkout')];
        }
        $event = json_decode($raw_body, true, 8);
        if (!is_array($event) || !is_numeric($event['timestamp'] ?? null)) {
            return [400, __('The body is not an event.', 'card-checkout')];
        }
        if (($event['paymentId'] ?? null) !== $payment_id) {
            return [401, __('The event is about another payment.', 'card-checkout')];
        }
        // Events are sent immediately, so an old one is a replay.
        if (abs(time() - $event['timestamp']) > self::TOLERANCE_SECONDS) {
            return [401, __('The event is old, or the clock of one of the servers is wrong.', 'card-checkout')];
        }
        try {
            $this->orders->confirm($order_id, $payment_id);
        } catch (Card_Checkout_Exception $exception) {
            // The event is not repeated, but the hourly check finds the order.
            Card_Checkout_Orders::log("order $order_id: " . $exception->getMessage());
            return [500, $exception->getMessage()];
        }
        return [204, ''];
    }

    private static function remember(string $reason): void
    {
        $last = self::last();
        $now = time();
        $key = $reason === '' ? 'accepted_at' : 'failed_at';
        if ($now - ($last[$key] ?? 0) < self::LOG_INTERVAL_SECONDS) {
            return;
        }
        $last[$key] = $now;
        if ($reason !== '') {
            $last['reason'] = substr($reason, 0, 200);
        }
        update_option(self::LOG_OPTION, $last, false);
    }
}
