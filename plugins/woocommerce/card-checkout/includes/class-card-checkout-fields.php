<?php

declare(strict_types=1);

defined('ABSPATH') || exit;

/** Hidden fields of an order about its payments. The tokens sign webhooks and never leave the server. */
final class Card_Checkout_Fields
{
    public const PAYMENT_ID = '_card_checkout_payment_id';
    public const IPN_TOKEN = '_card_checkout_ipn_token';
    public const CHECKOUT_URL = '_card_checkout_url';
    /** Last status response of the service as JSON, for the order page. */
    public const STATUS = '_card_checkout_status';
    /** Amount, currency and payout wallet of the payment. */
    private const TERMS = '_card_checkout_terms';
    /** Order that the fields belong to. A copied order has the same fields but a different id and key. */
    private const OWNER = '_card_checkout_owner';
    /** Tokens of replaced payments as JSON, by payment id. */
    private const REPLACED = '_card_checkout_replaced';
    /** State of the last order note. */
    private const NOTED = '_card_checkout_noted';
    /** Reported states of money that the order does not need, as JSON by payment id. */
    private const TOLD = '_card_checkout_told';
    /** Time of the last creation, kept until all payments of the order are final. */
    public const UNSETTLED = '_card_checkout_unsettled';

    private const MAXIMUM_REPLACED = 20;
    /** Fields without secrets, which the REST API keeps for the merchant's programs. */
    private const PUBLIC_FIELDS = [self::PAYMENT_ID, self::STATUS, Card_Checkout_Refunds::REFUND_ID];

    public static function register(): void
    {
        foreach (['shop_order', 'shop_order_refund', 'shop_subscription'] as $type) {
            add_filter("woocommerce_rest_prepare_{$type}_object", [self::class, 'remove_secrets']);
        }
    }

    /**
     * Removes tokens and links from responses of WooCommerce's REST API, which include fields that begin with an
     * underscore. WooCommerce's own webhooks send the same data.
     */
    public static function remove_secrets(mixed $response): mixed
    {
        $data = $response instanceof WP_REST_Response ? $response->get_data() : null;
        if (is_array($data) && is_array($data['meta_data'] ?? null)) {
            $data['meta_data'] = array_values(array_filter($data['meta_data'], static function (mixed $field): bool {
                $field = $field instanceof WC_Meta_Data ? $field->get_data() : (array) $field;
                $key = (string) ($field['key'] ?? '');
                return !str_starts_with($key, '_card_checkout_') || in_array($key, self::PUBLIC_FIELDS, true);
            }));
            $response->set_data($data);
        }
        return $response;
    }

    /**
     * Returns whether the order has a payment, even if another payment method is set now. A customer who goes back and
     * chooses another method may have already paid at the provider.
     */
    public static function has_payment(WC_Order $order): bool
    {
        $owner = self::text($order, self::OWNER);
        // Version 0.1.0 did not save the owner.
        return self::payment_of($order) !== '' && ($owner === '' || hash_equals(self::owner($order), $owner));
    }

    public static function has_owner(WC_Order $order): bool
    {
        return self::text($order, self::OWNER) !== '';
    }

    public static function own(WC_Order $order): void
    {
        $order->update_meta_data(self::OWNER, self::owner($order));
    }

    public static function payment_of(WC_Order $order): string
    {
        return self::text($order, self::PAYMENT_ID);
    }

    /** @return array<string, string> tokens of all payments of the order by payment id, the current one first */
    public static function tokens_of(WC_Order $order): array
    {
        return [self::payment_of($order) => self::text($order, self::IPN_TOKEN)] + self::map($order, self::REPLACED);
    }

    public static function has_terms(WC_Order $order, string $terms): bool
    {
        return in_array(self::text($order, self::TERMS), ['', $terms], true);
    }

    /**
     * Returns whether the payment may be replaced. Replaced payments are followed like the current one.
     */
    public static function can_replace(WC_Order $order): bool
    {
        return count(self::map($order, self::REPLACED)) < self::MAXIMUM_REPLACED;
    }

    /** @param array<string, mixed> $payment response to the creation */
    public static function adopt(WC_Order $order, array $payment, string $terms): void
    {
        $replaced = self::has_payment($order) ? self::tokens_of($order) : [];
        unset($replaced[$payment['payment_id']]);
        $fields = [
            self::PAYMENT_ID => $payment['payment_id'],
            self::IPN_TOKEN => $payment['ipn_token'],
            self::CHECKOUT_URL => $payment['checkout_url'],
            self::TERMS => $terms,
            self::REPLACED => (string) wp_json_encode($replaced),
            self::UNSETTLED => (string) time(),
        ];
        self::own($order);
        foreach ($fields as $name => $value) {
            $order->update_meta_data($name, $value);
        }
        $order->delete_meta_data(self::STATUS);
        $order->delete_meta_data(self::NOTED);
        $order->save();
    }

    public static function has_note(WC_Order $order, string $state): bool
    {
        return self::text($order, self::NOTED) === $state;
    }

    /** Remembers the state of a note. Returns whether it differs from that of the last note. */
    public static function note_once(WC_Order $order, string $state): bool
    {
        if (self::has_note($order, $state)) {
            return false;
        }
        $order->update_meta_data(self::NOTED, $state);
        $order->save();
        return true;
    }

    /** Remembers a reported state of a payment. Returns whether it differs from the last one. */
    public static function tell_once(WC_Order $order, string $payment_id, string $state): bool
    {
        $told = self::map($order, self::TOLD);
        if (($told[$payment_id] ?? '') === $state) {
            return false;
        }
        $order->update_meta_data(self::TOLD, (string) wp_json_encode([$payment_id => $state] + $told));
        $order->save();
        return true;
    }

    public static function text(WC_Order $order, string $name): string
    {
        $value = $order->get_meta($name);
        return is_scalar($value) ? (string) $value : '';
    }

    /** @return array<string, string> */
    private static function map(WC_Order $order, string $name): array
    {
        $map = json_decode(self::text($order, $name), true);
        return is_array($map) ? array_filter($map, 'is_string') : [];
    }

    private static function owner(WC_Order $order): string
    {
        return hash('sha256', $order->get_id() . ':' . $order->get_order_key());
    }
}
