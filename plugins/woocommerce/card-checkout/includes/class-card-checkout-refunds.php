<?php

declare(strict_types=1);

defined('ABSPATH') || exit;

use Card_Checkout_Library\Client;

/**
 * Refunds from the order page. The service holds no money. It opens a refund, the merchant transfers the USDC from
 * their own wallet, and the service finds the transfer on the chain.
 *
 * WooCommerce records a refund as soon as its gateway reports success. So WooCommerce's form only opens the refund and
 * reports that nothing is refunded yet. Once the service reports it as paid, it is recorded with the same items. An
 * order has one open refund at a time.
 */
final class Card_Checkout_Refunds
{
    /** Open refund as JSON; absent if there is none. */
    public const OPEN_REFUND = '_card_checkout_refund';
    /** Customer's address for the USDC, entered by the merchant. */
    public const DESTINATION = '_card_checkout_refund_address';
    /** Service's refund id, stored with the WooCommerce refund that records it. */
    public const REFUND_ID = '_card_checkout_refund_id';

    private const CHECKED_AT_ONCE = 50;
    private const MAXIMUM_REASON_LENGTH = 200;
    /** Time after which a request without a response is over. */
    private const ANSWER_SECONDS = 60;
    private const REFUNDABLE_STATES = [
        Card_Checkout_State::PAID,
        Card_Checkout_State::CANCELED_WITH_MONEY,
        Card_Checkout_State::CANCELED_AND_RELEASED,
    ];

    /** @var array<int, array<string, mixed>> input of the refund form by order: items and restocking */
    private static array $forms = [];

    public function __construct(private readonly Client $client)
    {
    }

    /**
     * Keeps the refunded items (hook `woocommerce_create_refund`), because the gateway does not receive them.
     *
     * @param WC_Order_Refund $refund
     * @param mixed $arguments arguments of `wc_create_refund`
     */
    public static function remember_form($refund, mixed $arguments): void
    {
        if (is_array($arguments) && !empty($arguments['refund_payment'])) {
            self::$forms[(int) $arguments['order_id']] = $arguments;
        }
    }

    public static function is_refundable(WC_Order $order): bool
    {
        $status = json_decode((string) $order->get_meta(Card_Checkout_Orders::STATUS), true) ?: [];
        return Card_Checkout_Orders::has_payment($order)
            && in_array(Card_Checkout_State::of($status), self::REFUNDABLE_STATES, true);
    }

    /** @return array<string, mixed>|null the open refund of the order */
    public static function open_refund_of(WC_Order $order): ?array
    {
        $open = json_decode((string) $order->get_meta(self::OPEN_REFUND), true);
        return is_array($open) && Card_Checkout_Orders::has_payment($order) ? $open : null;
    }

    /**
     * Opens a refund at the service and returns the merchant's next step.
     *
     * @throws Card_Checkout_Exception if nothing was opened, or another refund is open
     */
    public function open(int $order_id, float $amount, string $reason): string
    {
        return Card_Checkout_Lock::run($order_id, function () use ($order_id, $amount, $reason): string {
            $order = wc_get_order($order_id);
            if (!$order instanceof WC_Order || !Card_Checkout_Orders::has_payment($order)) {
                throw new Card_Checkout_Exception(__('Nothing was paid that could be refunded.', 'card-checkout'));
            }
            if (self::open_refund_of($order) !== null) {
                $this->find_lost_answer($order);
            }
            $earlier = self::open_refund_of($order);
            if ($earlier !== null) {
                throw new Card_Checkout_Exception(
                    /* translators: %s: what to do with the open refund */
                    sprintf(__('A refund of this order is open already. %s', 'card-checkout'), self::instruction($earlier))
                );
            }
            $open = $this->draft($order, $amount, $reason);
            // Stored first, so that the reference finds the refund after a lost response.
            self::store($order, $open);
            try {
                $refund = $this->client->openRefund(
                    (string) $order->get_meta(Card_Checkout_Orders::PAYMENT_ID),
                    array_filter([
                        'amount' => $open['usdc'],
                        'reason' => $open['reason'],
                        'destination' => $open['destination'],
                    ]),
                    $open['reference']
                );
            } catch (Card_Checkout_Exception $exception) {
                if ($exception->isRefusal()) {
                    self::store($order, null);
                }
                throw $exception;
            }
            return $this->adopt($order, $open, $refund);
        });
    }

    /**
     * Reads the open refund from the service and records it if paid.
     *
     * @throws Card_Checkout_Exception
     */
    public function check(int $order_id): void
    {
        $this->update($order_id, fn (string $refund_id) => $this->client->refund($refund_id));
    }

    /**
     * Confirms the address that the customer entered.
     *
     * @param string $destination address shown on the page; a changed one is refused
     * @throws Card_Checkout_Exception
     */
    public function confirm(int $order_id, string $destination): void
    {
        $this->update($order_id, fn (string $refund_id) => $this->client->confirmRefund($refund_id, $destination));
    }

    /** @throws Card_Checkout_Exception for example if the refund is paid */
    public function cancel(int $order_id): void
    {
        $this->update($order_id, fn (string $refund_id) => $this->client->cancelRefund($refund_id));
    }

    /** @throws Card_Checkout_Exception */
    public function submit_transaction(int $order_id, string $transaction): void
    {
        $this->update(
            $order_id,
            fn (string $refund_id) => $this->client->submitRefundTransaction($refund_id, $transaction)
        );
    }

    /** Checks open refunds every hour. */
    public function check_open(): void
    {
        $orders = wc_get_orders([
            'limit' => self::CHECKED_AT_ONCE,
            'orderby' => 'rand',
            'return' => 'ids',
        ] + Card_Checkout_Orders::with_meta(self::OPEN_REFUND));
        foreach ((array) $orders as $order_id) {
            try {
                $this->check((int) $order_id);
            } catch (Card_Checkout_Exception $exception) {
                Card_Checkout_Orders::log("refund of order $order_id: " . $exception->getMessage());
            }
        }
    }

    /** @param callable(string): array<string, mixed> $call request that returns the refund */
    private function update(int $order_id, callable $call): void
    {
        Card_Checkout_Lock::run($order_id, function () use ($order_id, $call): void {
            $order = wc_get_order($order_id);
            if (!$order instanceof WC_Order || self::open_refund_of($order) === null) {
                return;
            }
            $this->find_lost_answer($order);
            $open = self::open_refund_of($order);
            if ($open !== null && isset($open['refund'])) {
                $this->follow($order, $open, $call($open['refund']['refund_id']));
            }
        });
    }

    /**
     * Drafts a refund. Its share of the received USDC equals the amount's share of the charge.
     *
     * @return array<string, mixed>
     */
    private function draft(WC_Order $order, float $amount, string $reason): array
    {
        $status = $this->client->status((string) $order->get_meta(Card_Checkout_Orders::PAYMENT_ID));
        if (!in_array(Card_Checkout_State::of($status), self::REFUNDABLE_STATES, true)) {
            throw new Card_Checkout_Exception(__('Nothing was paid that could be refunded.', 'card-checkout'));
        }
        if (($status['currency'] ?? '') !== $order->get_currency()) {
            throw new Card_Checkout_Exception(__('The payment has another currency than the order.', 'card-checkout'));
        }
        $received = Card_Checkout_Amount::units((string) ($status['value_coin'] ?? ''));
        $charged = Card_Checkout_Amount::cents((string) ($status['amount'] ?? '0'));
        $cents = Card_Checkout_Amount::cents($amount);
        if ($received === null || $cents <= 0 || $cents > $charged) {
            throw new Card_Checkout_Exception(
                /* translators: %s: an amount with its currency */
                sprintf(__('The amount must be positive, and at most the payment of %s.', 'card-checkout'), sprintf(
                    '%s %s',
                    $status['amount'] ?? '',
                    $status['currency']
                ))
            );
        }
        $reference = bin2hex(random_bytes(6));
        $form = self::$forms[$order->get_id()] ?? [];
        return [
            'reference' => $reference,
            'asked_at' => time(),
            'amount' => Card_Checkout_Amount::decimal($amount),
            'usdc' => Card_Checkout_Amount::usdc(Card_Checkout_Amount::share($received, $cents, $charged)),
            'reason' => mb_substr("Order {$order->get_order_number()}, $reference. $reason", 0, self::MAXIMUM_REASON_LENGTH),
            'shop_reason' => mb_substr($reason, 0, self::MAXIMUM_REASON_LENGTH),
            'destination' => (string) $order->get_meta(self::DESTINATION),
            'line_items' => (array) ($form['line_items'] ?? []),
            'restock_items' => (bool) ($form['restock_items'] ?? false),
            'user_id' => get_current_user_id(),
            'refund' => null,
        ];
    }

    /** Finds a refund by its reference after a lost response. Forgets it if it was not opened. */
    private function find_lost_answer(WC_Order $order): void
    {
        $open = self::open_refund_of($order);
        if (isset($open['refund']) || time() - (int) $open['asked_at'] < self::ANSWER_SECONDS) {
            return;
        }
        foreach ($this->client->refunds((string) $order->get_meta(Card_Checkout_Orders::PAYMENT_ID)) as $refund) {
            if (str_contains((string) ($refund['reason'] ?? ''), ", {$open['reference']}.")) {
                $this->adopt($order, $open, $refund);
                return;
            }
        }
        self::store($order, null);
    }

    /**
     * @param array<string, mixed> $open
     * @param array<string, mixed> $refund
     */
    private function adopt(WC_Order $order, array $open, array $refund): string
    {
        $open['refund'] = self::shown($refund);
        self::store($order, $open);
        $instruction = self::instruction($open);
        $order->add_order_note(esc_html(sprintf(
            /* translators: 1: an amount with its currency, 2: the refund's id, 3: what to do */
            __('Card checkout: Refund of %1$s opened (%2$s). %3$s', 'card-checkout'),
            $open['amount'] . ' ' . $order->get_currency(),
            $refund['refund_id'],
            $instruction
        )));
        return $instruction;
    }

    /**
     * Applies the state of a refund to its order.
     *
     * @param array<string, mixed> $open
     * @param array<string, mixed> $refund
     */
    private function follow(WC_Order $order, array $open, array $refund): void
    {
        $before = $open['refund'];
        // Keeps the link, because only the response to the creation contains it.
        $open['refund'] = self::shown(['address_url' => $before['address_url']] + $refund);
        switch ($refund['status']) {
            case 'paid':
                $this->record($order, $open);
                break;
            case 'canceled':
            case 'expired':
                self::store($order, null);
                $order->add_order_note(esc_html(sprintf(
                    $refund['status'] === 'canceled'
                        /* translators: 1: an amount with its currency, 2: the refund's id */
                        ? __('Card checkout: Refund of %1$s canceled (%2$s). Nothing was refunded.', 'card-checkout')
                        /* translators: 1: an amount with its currency, 2: the refund's id */
                        : __('Card checkout: Refund of %1$s expired (%2$s): the transfer did not come in time.', 'card-checkout'),
                    $open['amount'] . ' ' . $order->get_currency(),
                    $refund['refund_id']
                )));
                break;
            default:
                // Waits for the address, the confirmation or the transfer.
                self::store($order, $open);
                if ($refund['status'] !== $before['status']) {
                    $order->add_order_note(esc_html('Card checkout: ' . self::instruction($open)));
                }
        }
    }

    /**
     * Records the paid refund in WooCommerce once. The service's id is saved with WooCommerce's refund in one step.
     *
     * @param array<string, mixed> $open
     */
    private function record(WC_Order $order, array $open): void
    {
        $paid = $open['refund'];
        foreach ($order->get_refunds() as $earlier) {
            if ($earlier->get_meta(self::REFUND_ID) === $paid['refund_id']) {
                self::store($order, null);
                return;
            }
        }
        $mark = static function ($refund) use ($paid, $open): void {
            $refund->update_meta_data(self::REFUND_ID, $paid['refund_id']);
            $refund->set_refunded_payment(true);
            $refund->set_refunded_by((int) $open['user_id']);
        };
        add_action('woocommerce_create_refund', $mark);
        $refund = wc_create_refund([
            'order_id' => $order->get_id(),
            'amount' => $open['amount'],
            'reason' => $open['shop_reason'],
            'line_items' => $open['line_items'],
            'restock_items' => $open['restock_items'],
            'refund_payment' => false,
        ]);
        remove_action('woocommerce_create_refund', $mark);
        $text = sprintf(
            /* translators: 1: an amount with its currency, 2: an amount, 3: an address, 4: a transaction, 5: the refund's id */
            __('Card checkout: Refund of %1$s paid. %2$s USDC went to %3$s in transaction %4$s (%5$s).', 'card-checkout'),
            $open['amount'] . ' ' . $order->get_currency(),
            $paid['amount'],
            $paid['destination'],
            $paid['transaction'],
            $paid['refund_id']
        );
        if (is_wp_error($refund)) {
            $text .= ' ' . sprintf(
                /* translators: %s: the reason */
                __('WooCommerce did not record it (%s). Record it with “Refund manually”.', 'card-checkout'),
                $refund->get_error_message()
            );
        }
        // Reads the order again, because WooCommerce may have changed it, for example to the status “refunded”.
        $order = wc_get_order($order->get_id());
        self::store($order, null);
        $order->add_order_note(esc_html($text));
    }

    /**
     * Returns the merchant's next step for an open refund.
     *
     * @param array<string, mixed> $open
     */
    public static function instruction(array $open): string
    {
        $refund = $open['refund'] ?? null;
        if ($refund === null) {
            return __('The service did not answer. Check it in a minute, before you refund again.', 'card-checkout');
        }
        if ($refund['status'] === 'awaiting_address') {
            return $refund['address_url'] === ''
                ? __('The link for the customer was lost. Cancel the refund and open another one.', 'card-checkout')
                : sprintf(
                    /* translators: %s: a link */
                    __('Send the customer this link, where they name an address: %s', 'card-checkout'),
                    $refund['address_url']
                );
        }
        if ($refund['status'] === 'awaiting_confirmation') {
            return sprintf(
                /* translators: %s: an address */
                __('The customer named the address %s. Check it with the customer, then confirm it.', 'card-checkout'),
                $refund['destination']
            );
        }
        return sprintf(
            /* translators: 1: an amount, 2: an address */
            __('Transfer exactly %1$s USDC on Polygon to %2$s from your wallet.', 'card-checkout'),
            $refund['amount'],
            $refund['destination']
        );
    }

    /**
     * @param array<string, mixed> $refund
     * @return array<string, string> data for the order page
     */
    private static function shown(array $refund): array
    {
        $names = [
            'refund_id', 'status', 'amount', 'destination', 'payment_uri', 'transaction_problem', 'submitted_transaction',
            'transaction', 'expires_at', 'address_url',
        ];
        $shown = [];
        foreach ($names as $name) {
            $shown[$name] = is_string($refund[$name] ?? null) ? $refund[$name] : '';
        }
        return $shown;
    }

    /** @param array<string, mixed>|null $open */
    private static function store(WC_Order $order, ?array $open): void
    {
        if ($open === null) {
            $order->delete_meta_data(self::OPEN_REFUND);
        } else {
            $order->update_meta_data(self::OPEN_REFUND, (string) wp_json_encode($open));
        }
        $order->save();
    }
}
