<?php

declare(strict_types=1);

defined('ABSPATH') || exit;

/** Orders and their payments: one payment per order, completed once. */
final class Card_Checkout_Orders
{
    public const METHOD = 'card_checkout';

    /**
     * Hidden from the list of custom fields by the underscore. The token signs webhooks and never leaves the server.
     */
    public const PAYMENT_ID = '_card_checkout_payment_id';
    private const IPN_TOKEN = '_card_checkout_ipn_token';
    private const CHECKOUT_URL = '_card_checkout_url';
    /** Payment that was paid after its order was cancelled: the merchant decides about the order. */
    private const PAID_LATE = '_card_checkout_paid_late';
    /** Last answer of the service as JSON, for the order page. */
    public const STATUS = '_card_checkout_status';
    /** State of the last note. */
    private const NOTED = '_card_checkout_noted';

    /** Exceeds the lifetime of a payment unless the operator has changed it. */
    private const OPEN_DAYS = 9;
    private const CHECKED_AT_ONCE = 50;

    /** @param array<string, mixed> $publication the accepted deposit contracts */
    public function __construct(
        private readonly Card_Checkout_Client $client,
        private readonly string $payout_address,
        private readonly array $publication
    ) {
    }

    /**
     * Query part that finds orders by a field. Orders in custom tables take a meta_query; orders stored as posts log a
     * notice about one and take the key instead.
     *
     * @return array<string, mixed>
     */
    public static function with_meta(string $key, ?string $value = null): array
    {
        if (Automattic\WooCommerce\Utilities\OrderUtil::custom_orders_table_usage_is_enabled()) {
            $condition = $value === null ? ['compare' => 'EXISTS'] : ['value' => $value];
            return ['meta_query' => [['key' => $key] + $condition]];
        }
        return ['meta_key' => $key] + ($value === null ? ['meta_compare' => 'EXISTS'] : ['meta_value' => $value]);
    }

    /**
     * Whether the order has a payment, even with another payment method now: a customer who goes back and chooses
     * another method may have already paid at the provider.
     */
    public static function has_payment(WC_Order $order): bool
    {
        return $order->get_meta(self::PAYMENT_ID) !== '';
    }

    public function ipn_token_of(WC_Order $order): string
    {
        return (string) $order->get_meta(self::IPN_TOKEN);
    }

    /**
     * URL where the customer pays. An order has one payment, which a returning customer gets again. The order's key is
     * the Idempotency-Key, so that neither a double click nor a lost response creates a second payment.
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
            // The order's own key would return the canceled payment.
            $idempotency_key .= ":$earlier";
        }
        $payment = $this->client->create(
            [
                'address' => $this->payout_address,
                'callback' => $this->callback_of($order),
                'amount' => Card_Checkout_Amount::decimal($order->get_total()),
                'currency' => $order->get_currency(),
                'email' => self::email_of($order),
                'note' => 'Order ' . $order->get_order_number(),
            ],
            $idempotency_key
        );
        Card_Checkout_Deposit_Address::verify($payment, $this->payout_address, $this->publication);
        $order->update_meta_data(self::PAYMENT_ID, $payment['payment_id']);
        $order->update_meta_data(self::IPN_TOKEN, $payment['ipn_token']);
        $order->update_meta_data(self::CHECKOUT_URL, $payment['checkout_url']);
        $order->save();
        return $payment['checkout_url'];
    }

    /**
     * Reads the payment and completes the order if it is paid. Returns whether the order is paid now.
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
        $order->update_meta_data(self::STATUS, (string) wp_json_encode(self::shown($status)));
        $order->save();
        if (($status['status'] ?? '') !== 'paid') {
            $this->follow($order, $status);
            return false;
        }
        try {
            $this->require_same($order, $status);
        } catch (Card_Checkout_Exception $exception) {
            $this->hold($order, $exception->getMessage());
            throw $exception;
        }
        return $this->complete_once($order_id, $status);
    }

    /** Checks orders whose webhook may have been missed. */
    public function check_open(): void
    {
        $orders = wc_get_orders([
            'limit' => self::CHECKED_AT_ONCE,
            'status' => ['pending', 'on-hold', 'failed', 'cancelled'],
            'date_created' => '>' . (time() - self::OPEN_DAYS * DAY_IN_SECONDS),
            'orderby' => 'rand',
            'return' => 'ids',
        ] + self::with_meta(self::PAYMENT_ID));
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
     * Completes under a lock, which excludes webhook and hourly check from each other. If the process ends meanwhile,
     * the next check completes the order.
     *
     * @param array<string, mixed> $status
     */
    private function complete_once(int $order_id, array $status): bool
    {
        return Card_Checkout_Lock::run($order_id, function () use ($order_id, $status): bool {
            $order = wc_get_order($order_id);
            if ($order->is_paid()) {
                return true;
            }
            if ($this->is_paid_late($order)) {
                return false;
            }
            if (!$order->payment_complete((string) ($status['txid_out'] ?? ''))) {
                return false;
            }
            $this->note($order, 'paid', sprintf(
                /* translators: 1: amount received, 2: amount paid out, 3: payment id, 4: deposit hash, 5: payout hash */
                __(
                    'Paid: %1$s USDC received, %2$s USDC paid out to your wallet. Payment %3$s, deposit %4$s, payout %5$s.',
                    'card-checkout'
                ),
                (string) ($status['value_coin'] ?? ''),
                (string) ($status['forwarded_amount'] ?? ''),
                (string) $order->get_meta(self::PAYMENT_ID),
                (string) ($status['txid_in'] ?? ''),
                (string) ($status['txid_out'] ?? '')
            ));
            return true;
        });
    }

    /** Whether the order was cancelled before its payment: it is not completed, because its stock is back on sale. */
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
        $order->save();
        $this->hold($order, __(
            'Paid after the order had been cancelled. Check the stock, then ship or refund by hand.',
            'card-checkout'
        ), 'late');
        return true;
    }

    /** @param array<string, mixed> $status */
    private function require_same(WC_Order $order, array $status): void
    {
        $charged = ($status['amount'] ?? '') . ' ' . ($status['currency'] ?? '');
        $due = Card_Checkout_Amount::decimal($order->get_total()) . ' ' . $order->get_currency();
        if ($charged !== $due) {
            throw new Card_Checkout_Exception("the payment is over $charged, the order over $due");
        }
    }

    /**
     * Follows an unpaid payment in its order.
     *
     * @param array<string, mixed> $status
     */
    private function follow(WC_Order $order, array $status): void
    {
        if ($order->is_paid()) {
            return;
        }
        $received = (string) ($status['value_coin'] ?? '0');
        $state = Card_Checkout_State::of($status);
        switch ($state) {
            case Card_Checkout_State::OPEN:
                break;
            case Card_Checkout_State::PARTIALLY_PAID:
                $this->hold($order, sprintf(
                    /* translators: %s: an amount */
                    __(
                        'Partially paid: %s USDC received. The customer can pay the rest at the same checkout link.',
                        'card-checkout'
                    ),
                    $received
                ), "partial $received");
                break;
            case Card_Checkout_State::RELEASING:
                $this->note($order, 'arriving', sprintf(
                    /* translators: %s: an amount */
                    __('%s USDC received. The payout to your wallet is on its way. Do not ship yet.', 'card-checkout'),
                    $received
                ));
                break;
            case Card_Checkout_State::RELEASE_REFUSED:
                $this->hold($order, __(
                    'The payout was refused. The operator of the service must look at the payment.',
                    'card-checkout'
                ), $state);
                break;
            case Card_Checkout_State::CANCELED:
                $this->note($order, $state, __('The payment expired or was canceled. Nothing was paid.', 'card-checkout'));
                if ($order->get_status() === 'pending' && $order->get_payment_method() === self::METHOD) {
                    $order->update_status('cancelled');
                }
                break;
            case Card_Checkout_State::CANCELED_WITH_MONEY:
                $this->hold($order, sprintf(
                    /* translators: %s: an amount */
                    __(
                        '%s USDC arrived after the payment was canceled. Release it in the dashboard, then ship or refund by hand.',
                        'card-checkout'
                    ),
                    $received
                ), $state);
                break;
            case Card_Checkout_State::CANCELED_AND_RELEASED:
                $this->hold($order, sprintf(
                    /* translators: %s: an amount */
                    __(
                        '%s USDC of the canceled payment was released to your wallet. Ship or refund by hand.',
                        'card-checkout'
                    ),
                    (string) ($status['forwarded_amount'] ?? '0')
                ), $state);
                break;
            default:
                throw new Card_Checkout_Exception(
                    'the state ' . ($status['status'] ?? '') . '/' . ($status['forward_status'] ?? '') . ' is unknown'
                );
        }
    }

    /** Adds a note once per state. */
    private function note(WC_Order $order, string $state, string $text): bool
    {
        if ((string) $order->get_meta(self::NOTED) === $state) {
            return false;
        }
        $order->update_meta_data(self::NOTED, $state);
        $order->save();
        $order->add_order_note(esc_html("Card checkout: $text"));
        return true;
    }

    /** Puts the order on hold for the merchant, unless the merchant has changed it since. */
    private function hold(WC_Order $order, string $text, string $state = 'held'): void
    {
        if ($this->note($order, $state, $text) && $order->get_status() !== 'on-hold') {
            $order->update_status('on-hold');
        }
    }

    /**
     * Data for the order page, without tokens.
     *
     * @param array<string, mixed> $status
     * @return array<string, string>
     */
    private static function shown(array $status): array
    {
        $names = ['status', 'forward_status', 'value_coin', 'forwarded_amount', 'txid_in', 'txid_out', 'address_in'];
        $shown = ['checked_at' => gmdate('Y-m-d H:i:s')];
        foreach ($names as $name) {
            $shown[$name] = is_string($status[$name] ?? null) ? $status[$name] : '';
        }
        return $shown;
    }

    /** The service accepts only plain addresses and needs none: an order must not fail for it. */
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
