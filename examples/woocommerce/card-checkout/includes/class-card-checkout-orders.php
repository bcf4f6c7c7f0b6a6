<?php

declare(strict_types=1);

defined('ABSPATH') || exit;

/** Orders and their payments: one payment an order, and completed once. */
final class Card_Checkout_Orders
{
    public const METHOD = 'card_checkout';

    /** Hidden from the list of custom fields by the underscore. The token signs webhooks: it never leaves the server. */
    public const PAYMENT_ID = '_card_checkout_payment_id';
    private const IPN_TOKEN = '_card_checkout_ipn_token';
    private const CHECKOUT_URL = '_card_checkout_url';
    /** The payment that was paid when its order had been cancelled: a hand decides what becomes of the order. */
    private const PAID_LATE = '_card_checkout_paid_late';

    /** Somewhat longer than a payment is open unless the operator has changed it. */
    private const OPEN_DAYS = 9;
    private const LOOK_AT = 50;
    private const LOCK_SECONDS = 5;

    public function __construct(
        private readonly Card_Checkout_Client $client,
        private readonly string $payout_address
    ) {
    }

    /**
     * Whatever way to pay the order has now: a customer who goes back and chooses another one may have paid at the on-ramp
     * already.
     */
    public static function has_payment(WC_Order $order): bool
    {
        return $order->get_meta(self::PAYMENT_ID) !== '';
    }

    /** "25.00": what the API takes, and answers. */
    public static function amount_of(WC_Order $order): string
    {
        return number_format((float) $order->get_total(), 2, '.', '');
    }

    public function ipn_token_of(WC_Order $order): string
    {
        return (string) $order->get_meta(self::IPN_TOKEN);
    }

    /**
     * Where the customer pays. An order has one payment: who comes back gets the same. The order's key is the
     * Idempotency-Key, so that neither a double click nor a lost answer makes a second one.
     *
     * @throws Card_Checkout_Exception
     */
    public function checkout_url(WC_Order $order): string
    {
        $idempotency_key = $order->get_order_key();
        if ($order->get_payment_method() === self::METHOD && self::has_payment($order)) {
            $earlier = (string) $order->get_meta(self::PAYMENT_ID);
            $status = $this->client->read_status($earlier);
            if (($status['status'] ?? '') !== 'canceled') {
                $this->require_same($order, $status);
                return (string) $order->get_meta(self::CHECKOUT_URL);
            }
            // The order's own key would bring the canceled one back.
            $idempotency_key .= ":$earlier";
        }
        $payment = $this->client->create(
            [
                'address' => $this->payout_address,
                'callback' => $this->callback_of($order),
                'amount' => self::amount_of($order),
                'currency' => $order->get_currency(),
                'email' => self::email_of($order),
                'note' => 'Order ' . $order->get_order_number(),
            ],
            $idempotency_key
        );
        $order->update_meta_data(self::PAYMENT_ID, $payment['payment_id']);
        $order->update_meta_data(self::IPN_TOKEN, $payment['ipn_token']);
        $order->update_meta_data(self::CHECKOUT_URL, $payment['checkout_url']);
        $order->save();
        return $payment['checkout_url'];
    }

    /**
     * Asks the service and completes the order if its payment is paid. Returns whether the order is paid now.
     *
     * @throws Card_Checkout_Exception
     */
    public function confirm(int $order_id): bool
    {
        $order = wc_get_order($order_id);
        if (!$order instanceof WC_Order || !self::has_payment($order)) {
            return false;
        }
        $status = $this->client->read_status((string) $order->get_meta(self::PAYMENT_ID));
        if (($status['status'] ?? '') !== 'paid') {
            return false;
        }
        try {
            $this->require_same($order, $status);
        } catch (Card_Checkout_Exception $exception) {
            $this->note_once($order, $exception->getMessage());
            throw $exception;
        }
        return $this->complete_once($order_id, (string) ($status['txid_out'] ?? ''));
    }

    /** Orders whose webhook may have been lost. */
    public function look_at_open(): void
    {
        $orders = wc_get_orders([
            'limit' => self::LOOK_AT,
            // Twice the same: the orders' own tables know the one, orders kept as posts the other.
            'meta_query' => [['key' => self::PAYMENT_ID, 'compare' => 'EXISTS']],
            'meta_key' => self::PAYMENT_ID,
            'status' => ['pending', 'on-hold', 'failed', 'cancelled'],
            'date_created' => '>' . (time() - self::OPEN_DAYS * DAY_IN_SECONDS),
            'orderby' => 'rand',
            'return' => 'ids',
        ]);
        foreach ($orders as $order_id) {
            try {
                $this->confirm((int) $order_id);
            } catch (Card_Checkout_Exception $exception) {
                self::log("order $order_id: " . $exception->getMessage());
            }
        }
    }

    public static function log(string $message): void
    {
        wc_get_logger()->warning($message, ['source' => 'card-checkout']);
    }

    /**
     * The lock keeps a webhook and the hourly look apart; under it the order is read anew. A process that dies lets go of
     * the lock, and whoever comes next completes the order.
     */
    private function complete_once(int $order_id, string $transaction_id): bool
    {
        global $wpdb;
        $lock = $wpdb->prefix . 'card_checkout_' . $order_id;
        $held = $wpdb->get_var($wpdb->prepare('SELECT GET_LOCK(%s, %d)', $lock, self::LOCK_SECONDS));
        if ((string) $held !== '1') {
            throw new Card_Checkout_Exception('another request is completing the order');
        }
        try {
            // What this request read before the lock may be old by now.
            wp_cache_flush_runtime();
            $order = wc_get_order($order_id);
            if ($order->is_paid()) {
                return true;
            }
            if ($this->is_paid_late($order)) {
                return false;
            }
            return $order->payment_complete($transaction_id);
        } finally {
            $wpdb->get_var($wpdb->prepare('SELECT RELEASE_LOCK(%s)', $lock));
        }
    }

    /** A cancelled order is not sent out by itself, also when its payment is paid: its stock is back on sale. */
    private function is_paid_late(WC_Order $order): bool
    {
        $payment = (string) $order->get_meta(self::PAYMENT_ID);
        if ((string) $order->get_meta(self::PAID_LATE) === $payment) {
            return true;
        }
        if ($order->get_status() !== 'cancelled') {
            return false;
        }
        $order->update_meta_data(self::PAID_LATE, $payment);
        $order->update_status('on-hold', 'card-checkout: the payment was paid after the order had been cancelled');
        return true;
    }

    /** @param array<string, mixed> $status */
    private function require_same(WC_Order $order, array $status): void
    {
        $charged = ($status['amount'] ?? '') . ' ' . ($status['currency'] ?? '');
        $due = self::amount_of($order) . ' ' . $order->get_currency();
        if ($charged !== $due) {
            throw new Card_Checkout_Exception("the payment is over $charged, the order over $due");
        }
    }

    /** For whoever keeps the shop; the order waits for a hand. */
    private function note_once(WC_Order $order, string $message): void
    {
        if ($order->get_status() !== 'on-hold') {
            $order->update_status('on-hold', esc_html("card-checkout: $message"));
        }
    }

    /** The service takes plain addresses only, and needs none: an order must not fail for it. */
    private static function email_of(WC_Order $order): ?string
    {
        $email = (string) $order->get_billing_email();
        return preg_match('/^[a-z0-9.!#$%&\'*+\/=?^_`{|}~-]{1,64}@[a-z0-9.-]{1,180}$/Di', $email) === 1 ? $email : null;
    }

    private function callback_of(WC_Order $order): string
    {
        return add_query_arg(
            ['order_id' => $order->get_id(), 'order_key' => $order->get_order_key()],
            WC()->api_request_url('card_checkout')
        );
    }
}
