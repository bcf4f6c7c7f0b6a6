<?php

declare(strict_types=1);

defined('ABSPATH') || exit;

use Card_Checkout_Library\Client;
use Card_Checkout_Library\DepositAddress;

/** Orders and their payments. An order has one current payment and is completed once. */
final class Card_Checkout_Orders
{
    public const METHOD = 'card_checkout';
    public const PAYMENT_ID = Card_Checkout_Fields::PAYMENT_ID;
    public const STATUS = Card_Checkout_Fields::STATUS;
    /** Payment that was paid after its order had ended. The merchant decides about the order. */
    private const PAID_LATE = '_card_checkout_paid_late';
    /** Payment that completed the order. */
    private const COMPLETED_BY = '_card_checkout_completed_by';

    /** Order statuses that await money. */
    private const UNPAID = ['pending', 'on-hold', 'failed'];
    /** Order statuses that end an order. The merchant decides about money that arrives later. */
    private const GIVEN_UP = ['cancelled', 'trash'];
    /** Days that exceed a payment's lifetime, unless the operator has changed it. */
    private const OPEN_DAYS = 9;
    /** Days after which checks end for a payment that never becomes final, or that the service no longer knows. */
    private const MAXIMUM_DAYS = 60;
    private const CHECKED_AT_ONCE = 50;
    /** Failed requests after which the hourly check stops. The next check starts with other orders. */
    private const MAXIMUM_UNANSWERED = 3;

    private int $unanswered = 0;
    /** Whether the payment that was read last is final. */
    private bool $is_final = false;

    /** @param array<string, mixed> $publication the accepted deposit contracts */
    public function __construct(
        private readonly Client $client,
        private readonly string $payout_address,
        private readonly array $publication
    ) {
    }

    /**
     * Returns the query part that finds orders by a field. Orders in custom tables need a meta_query. Orders stored as
     * posts would log a notice about it and use the key instead.
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

    public static function has_payment(WC_Order $order): bool
    {
        return Card_Checkout_Fields::has_payment($order);
    }

    /**
     * Returns the URL where the customer pays. A returning customer gets the open payment again, unless it was canceled
     * or its amount has changed and nothing has arrived. The idempotency key covers the request and the replaced
     * payment. So a changed order creates a new payment, but neither a double click nor a lost response does.
     *
     * @throws Card_Checkout_Exception
     */
    public function checkout_url(WC_Order $order): string
    {
        $due = self::due($order);
        $terms = "$due {$this->payout_address}";
        $replaced = '';
        if ($this->owns_payment($order)) {
            $replaced = Card_Checkout_Fields::payment_of($order);
            $status = $this->read_known($replaced);
            $state = Card_Checkout_State::of($status);
            if (($status['status'] ?? '') !== 'canceled') {
                $is_same = self::charged($status) === $due;
                if ($is_same && ($state !== Card_Checkout_State::OPEN || Card_Checkout_Fields::has_terms($order, $terms))) {
                    return Card_Checkout_Fields::text($order, Card_Checkout_Fields::CHECKOUT_URL);
                }
                if ($state !== Card_Checkout_State::OPEN) {
                    $this->require_same($order, $status);
                }
            }
            if (!Card_Checkout_Fields::can_replace($order)) {
                throw new Card_Checkout_Exception('the order has too many payments', 409);
            }
        }
        $request = [
            'address' => $this->payout_address,
            'callback' => $this->callback_of($order),
            'amount' => Card_Checkout_Amount::decimal($order->get_total()),
            'currency' => $order->get_currency(),
            'email' => self::email_of($order),
            'note' => self::note_of($order),
        ];
        $fingerprint = hash('sha256', $order->get_order_key() . ":$replaced:" . wp_json_encode($request));
        $payment = $this->client->create($request, "woocommerce-{$order->get_id()}-" . substr($fingerprint, 0, 32));
        DepositAddress::verify($payment, $this->payout_address, $this->publication);
        Card_Checkout_Fields::adopt($order, $payment, $terms);
        return $payment['checkout_url'];
    }

    /**
     * Reads a payment of the order and completes the order if it is paid. Returns whether the order is paid now.
     *
     * @param string|null $payment_id id of a replaced payment; null for the current one
     * @throws Card_Checkout_Exception
     */
    public function confirm(int $order_id, ?string $payment_id = null): bool
    {
        $order = wc_get_order($order_id);
        if (!$order instanceof WC_Order || !$this->owns_payment($order)) {
            return false;
        }
        $payment_id ??= Card_Checkout_Fields::payment_of($order);
        $status = $this->client->status($payment_id);
        // The lock keeps webhook and hourly check from running at the same time.
        return Card_Checkout_Lock::run($order_id, fn (): bool => $this->apply($order_id, $payment_id, $status));
    }

    /**
     * Returns whether the order's payment was created for it. Version 0.1.0 did not save the order. In that case, the
     * note of the payment names it, and a copied order has another number.
     */
    private function owns_payment(WC_Order $order): bool
    {
        if (!self::has_payment($order) || Card_Checkout_Fields::has_owner($order)) {
            return self::has_payment($order);
        }
        $payment = $this->client->payment(Card_Checkout_Fields::payment_of($order));
        if (($payment['note'] ?? '') !== self::note_of($order)) {
            self::log("order {$order->get_id()}: its fields name a payment of another order");
            return false;
        }
        Card_Checkout_Fields::own($order);
        $order->save();
        return true;
    }

    private static function note_of(WC_Order $order): string
    {
        return 'Order ' . $order->get_order_number();
    }

    /** Checks for missed webhooks and late money. */
    public function check_open(): void
    {
        $common = ['limit' => self::CHECKED_AT_ONCE, 'orderby' => 'rand', 'return' => 'ids'];
        $unsettled = $common
            + ['status' => [...array_keys((array) wc_get_order_statuses()), 'trash']]
            + self::with_meta(Card_Checkout_Fields::UNSETTLED);
        // Orders of version 0.1.0, which did not mark them as unsettled.
        $unmarked = $common + [
            'status' => [...self::UNPAID, 'cancelled'],
            'date_created' => '>' . (time() - self::OPEN_DAYS * DAY_IN_SECONDS),
        ] + self::with_meta(Card_Checkout_Fields::PAYMENT_ID);
        $ids = [...array_values((array) wc_get_orders($unsettled)), ...array_values((array) wc_get_orders($unmarked))];
        foreach (array_unique(array_map('absint', $ids)) as $order_id) {
            $this->check_payments($order_id);
            if ($this->unanswered >= self::MAXIMUM_UNANSWERED) {
                return;
            }
        }
    }

    private function check_payments(int $order_id): void
    {
        $order = wc_get_order($order_id);
        if (!$order instanceof WC_Order || !self::has_payment($order)) {
            return;
        }
        $can_change = false;
        foreach (array_keys(Card_Checkout_Fields::tokens_of($order)) as $payment_id) {
            try {
                $this->confirm($order_id, $payment_id);
                $can_change = $can_change || !$this->is_final;
            } catch (Card_Checkout_Exception $exception) {
                $can_change = true;
                $this->unanswered += $exception->getCode() === 0 ? 1 : 0;
                self::log("order $order_id: " . $exception->getMessage());
            }
        }
        $this->settle($order_id, $can_change);
    }

    /** Ends the hourly checks of an order whose payments have been final or unavailable for long enough. */
    private function settle(int $order_id, bool $can_change): void
    {
        $order = wc_get_order($order_id);
        $since = $order instanceof WC_Order ? Card_Checkout_Fields::text($order, Card_Checkout_Fields::UNSETTLED) : '';
        $days = $can_change ? self::MAXIMUM_DAYS : self::OPEN_DAYS;
        if ($since !== '' && time() - (int) $since > $days * DAY_IN_SECONDS) {
            $order->delete_meta_data(Card_Checkout_Fields::UNSETTLED);
            $order->save();
        }
    }

    public static function log(string $message): void
    {
        wc_get_logger()->warning($message, ['source' => 'card-checkout']);
    }

    /**
     * Applies the status of a payment to its order, under the lock.
     *
     * @param array<string, mixed> $status
     */
    private function apply(int $order_id, string $payment_id, array $status): bool
    {
        $order = wc_get_order($order_id);
        if (!$order instanceof WC_Order) {
            return false;
        }
        $state = Card_Checkout_State::of($status);
        $this->is_final = in_array($state, Card_Checkout_State::FINAL_STATES, true);
        if ($payment_id !== Card_Checkout_Fields::payment_of($order)) {
            $this->tell_unneeded($order, $payment_id, $status);
            return (bool) $order->is_paid();
        }
        $order->update_meta_data(self::STATUS, (string) wp_json_encode(self::shown($status)));
        $order->save();
        if (self::is_completed_by($order, $payment_id)) {
            return true;
        }
        if (!in_array($order->get_status(), [...self::UNPAID, ...self::GIVEN_UP], true)) {
            // The order was paid in another way or refunded, or has a status of another plugin.
            $this->tell_unneeded($order, $payment_id, $status);
            return (bool) $order->is_paid();
        }
        if ($state !== Card_Checkout_State::PAID) {
            $this->follow($order, $status);
            return false;
        }
        try {
            $this->require_same($order, $status);
        } catch (Card_Checkout_Exception $exception) {
            $this->hold($order, $exception->getMessage());
            throw $exception;
        }
        return !$this->is_paid_late($order) && $this->complete($order, $payment_id, $status);
    }

    /**
     * Completes the order. Saves status and field together. After a crash, the next check then completes the order and
     * does not mistake the payment for a second one.
     *
     * @param array<string, mixed> $status
     */
    private function complete(WC_Order $order, string $payment_id, array $status): bool
    {
        $order->update_meta_data(self::COMPLETED_BY, $payment_id);
        if (count(Card_Checkout_Fields::tokens_of($order)) === 1) {
            $order->delete_meta_data(Card_Checkout_Fields::UNSETTLED);
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
            $payment_id,
            (string) ($status['txid_in'] ?? ''),
            (string) ($status['txid_out'] ?? '')
        ));
        return true;
    }

    private static function is_completed_by(WC_Order $order, string $payment_id): bool
    {
        $completed_by = Card_Checkout_Fields::text($order, self::COMPLETED_BY);
        // Version 0.1.0 saved only the note.
        return $completed_by === $payment_id
            || ($completed_by === '' && Card_Checkout_Fields::has_note($order, 'paid'));
    }

    /**
     * Reports, in the order and the log, money that the order does not need: from a replaced payment, or for an order
     * that was paid in another way. Does not complete the order.
     *
     * @param array<string, mixed> $status
     */
    private function tell_unneeded(WC_Order $order, string $payment_id, array $status): void
    {
        $state = Card_Checkout_State::of($status);
        $received = (string) ($status['value_coin'] ?? '0');
        // A release is reported only when it has ended.
        $is_told = $state === Card_Checkout_State::PAID
            || ((float) $received > 0 && $state !== Card_Checkout_State::RELEASING);
        if (!$is_told || !Card_Checkout_Fields::tell_once($order, $payment_id, "$state $received")) {
            return;
        }
        $text = sprintf(
            /* translators: 1: an amount, 2: the payment's id, 3: the state of the payment */
            __(
                'Money arrived that this order does not need: %1$s USDC by payment %2$s (%3$s). Check it, and refund it by hand.',
                'card-checkout'
            ),
            $received,
            $payment_id,
            Card_Checkout_Admin::state_text($status)
        );
        $order->add_order_note(esc_html("Card checkout: $text"));
        self::log("order {$order->get_id()}: $received USDC by payment $payment_id, which the order does not need");
        if (in_array($order->get_status(), ['checkout-draft', 'pending', 'failed', ...self::GIVEN_UP], true)) {
            $order->update_status('on-hold');
        }
    }

    /** Returns whether the order had ended before money arrived. Its stock is back on sale, so it is not completed. */
    private function is_paid_late(WC_Order $order): bool
    {
        $is_late = in_array($order->get_status(), self::GIVEN_UP, true)
            || Card_Checkout_Fields::text($order, self::PAID_LATE) === Card_Checkout_Fields::payment_of($order);
        if (!$is_late) {
            return false;
        }
        $this->hold($order, __(
            'Paid after the order had been cancelled or moved to the trash. Check the stock, then ship or refund by hand.',
            'card-checkout'
        ), 'late');
        return true;
    }

    /**
     * Reads the status of a saved payment. If the service no longer knows it, it counts as canceled.
     *
     * @return array<string, mixed>
     */
    private function read_known(string $payment_id): array
    {
        try {
            return $this->client->status($payment_id);
        } catch (Card_Checkout_Exception $exception) {
            if ($exception->getCode() === 404) {
                return ['status' => 'canceled'];
            }
            throw $exception;
        }
    }

    private static function due(WC_Order $order): string
    {
        return Card_Checkout_Amount::decimal($order->get_total()) . ' ' . $order->get_currency();
    }

    /** @param array<string, mixed> $status */
    private static function charged(array $status): string
    {
        return ($status['amount'] ?? '') . ' ' . ($status['currency'] ?? '');
    }

    /** @param array<string, mixed> $status */
    private function require_same(WC_Order $order, array $status): void
    {
        $charged = self::charged($status);
        $due = self::due($order);
        if ($charged !== $due) {
            throw new Card_Checkout_Exception("the payment is over $charged, the order over $due", 409);
        }
    }

    /**
     * Applies the status of an unpaid payment to its order.
     *
     * @param array<string, mixed> $status
     */
    private function follow(WC_Order $order, array $status): void
    {
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
        if (!Card_Checkout_Fields::note_once($order, $state)) {
            return false;
        }
        $order->add_order_note(esc_html("Card checkout: $text"));
        return true;
    }

    /** Puts the order on hold for the merchant, unless the merchant has changed it since. */
    private function hold(WC_Order $order, string $text, string $state = 'held'): void
    {
        $is_given_up = in_array($order->get_status(), self::GIVEN_UP, true);
        if (!$this->note($order, $state, $text)) {
            return;
        }
        if ($is_given_up) {
            self::log("order {$order->get_id()}: money arrived after it was cancelled or moved to the trash");
            $order->update_meta_data(self::PAID_LATE, Card_Checkout_Fields::payment_of($order));
            $order->save();
        }
        if ($order->get_status() !== 'on-hold') {
            $order->update_status('on-hold');
        }
    }

    /**
     * Returns the data for the order page, without tokens.
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

    /** Returns a plain email address, which the service requires, or null so that the order does not fail. */
    private static function email_of(WC_Order $order): ?string
    {
        $email = (string) $order->get_billing_email();
        return preg_match('/^[a-z0-9.!#$%&\'*+\/=?^_`{|}~-]{1,64}@[a-z0-9.-]{1,180}$/Di', $email) === 1 ? $email : null;
    }

    /** Returns the URL of the shop's webhook, without an order. */
    public static function callback_root(): string
    {
        return (string) WC()->api_request_url('card_checkout');
    }

    private function callback_of(WC_Order $order): string
    {
        return add_query_arg(
            ['order_id' => $order->get_id(), 'order_key' => $order->get_order_key()],
            self::callback_root()
        );
    }
}
