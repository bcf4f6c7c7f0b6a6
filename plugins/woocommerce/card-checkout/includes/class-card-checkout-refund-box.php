<?php

declare(strict_types=1);

defined('ABSPATH') || exit;

/**
 * Refund part of the box on the order page. The box is inside the order's form, so its buttons save the order.
 * WooCommerce checks nonce and capability before `save` runs.
 */
final class Card_Checkout_Refund_Box
{
    private const DESTINATION_FIELD = 'card_checkout_refund_address';
    private const TRANSACTION_FIELD = 'card_checkout_refund_transaction';
    /** Field with text to copy: a link, or an address to confirm. */
    private const SHOWN_FIELD = 'card_checkout_refund_to';
    private const CHARACTERS_IN_LINE = 26;
    private const ACTION_FIELD = 'card_checkout_refund_action';

    public static function register(): void
    {
        add_action('woocommerce_process_shop_order_meta', [self::class, 'save']);
        add_action('woocommerce_create_refund', ['Card_Checkout_Refunds', 'remember_form'], 10, 2);
    }

    public static function html(WC_Order $order): string
    {
        if (!Card_Checkout_Refunds::is_refundable($order)) {
            return '';
        }
        $open = Card_Checkout_Refunds::open_refund_of($order);
        if ($open !== null) {
            return '<hr>' . self::open_html($order, $open);
        }
        return (float) $order->get_remaining_refund_amount() > 0 ? '<hr>' . self::address_html($order) : '';
    }

    /** Returns the elements that `wp_kses` keeps in the box: those of posts, and fields. */
    public static function allowed_html(): array
    {
        $field = ['type' => true, 'name' => true, 'id' => true, 'value' => true, 'placeholder' => true, 'class' => true];
        return ['input' => $field + ['autocomplete' => true], 'button' => $field] + (array) wp_kses_allowed_html('post');
    }

    /** @return list<string> */
    public static function allowed_protocols(): array
    {
        return [...array_values((array) wp_allowed_protocols()), 'ethereum'];
    }

    /**
     * Runs on the hook `woocommerce_process_shop_order_meta`, after WooCommerce has checked nonce and capability.
     */
    public static function save(mixed $order_id): void
    {
        $order_id = absint($order_id);
        $order = wc_get_order($order_id);
        if (!$order instanceof WC_Order || !Card_Checkout_Orders::has_payment($order)) {
            return;
        }
        $destination = self::posted(self::DESTINATION_FIELD);
        if ($destination !== null && $destination !== $order->get_meta(Card_Checkout_Refunds::DESTINATION)) {
            if ($destination !== '' && preg_match('/^0x[0-9a-fA-F]{40}$/D', $destination) !== 1) {
                Card_Checkout_Admin::remember_outcome(
                    __('The customer’s address must be 0x and 40 hexadecimal digits. It was not saved.', 'card-checkout')
                );
                return;
            }
            $order->update_meta_data(Card_Checkout_Refunds::DESTINATION, $destination);
            $order->save();
        }
        $action = self::posted(self::ACTION_FIELD);
        if (in_array($action, ['confirm', 'cancel', 'submit'], true)) {
            self::run($order_id, $action);
        }
    }

    private static function run(int $order_id, string $action): void
    {
        $refunds = card_checkout_gateway()->refunds();
        try {
            if ($action === 'cancel') {
                $refunds->cancel($order_id);
                $text = __('The refund is canceled.', 'card-checkout');
            } elseif ($action === 'confirm') {
                $refunds->confirm($order_id, (string) self::posted(self::SHOWN_FIELD));
                $text = __('The address is confirmed. The refund can be paid.', 'card-checkout');
            } else {
                $refunds->submit_transaction($order_id, (string) self::posted(self::TRANSACTION_FIELD));
                $text = __('The transaction is checked once it is final.', 'card-checkout');
            }
        } catch (Card_Checkout_Exception $exception) {
            $text = $exception->getMessage();
        }
        Card_Checkout_Admin::remember_outcome($text);
    }

    private static function posted(string $name): ?string
    {
        // WooCommerce has checked the nonce before the hook.
        return is_string($_POST[$name] ?? null) ? sanitize_text_field(wp_unslash($_POST[$name])) : null;
    }

    private static function address_html(WC_Order $order): string
    {
        return self::field(
            self::DESTINATION_FIELD,
            __('Customer’s address for a refund', 'card-checkout'),
            (string) $order->get_meta(Card_Checkout_Refunds::DESTINATION)
        )
            . self::button('save', __('Save address', 'card-checkout'))
            . '<p class="description">'
            . esc_html__('If you do not know it, leave it empty: the refund has a link for the customer.', 'card-checkout')
            . ' '
            . esc_html__('Open the refund with “Refund” at the order’s items.', 'card-checkout')
            . ' '
            . esc_html__('You pay it from your wallet: the same share of the USDC that arrived.', 'card-checkout')
            . '</p>';
    }

    /** @param array<string, mixed> $open */
    private static function open_html(WC_Order $order, array $open): string
    {
        $html = '<p><strong>' . esc_html__('Open refund', 'card-checkout') . '</strong><br>'
            . esc_html($open['amount'] . ' ' . $order->get_currency()) . '</p>';
        $refund = $open['refund'];
        return $html . match ($refund['status'] ?? '') {
            'awaiting_address' => self::link_html($open),
            'awaiting_confirmation' => self::confirmation_html($refund),
            'awaiting_transfer' => self::transfer_html($refund),
            default => '<p>' . esc_html(Card_Checkout_Refunds::instruction($open)) . '</p>',
        };
    }

    /** @param array<string, mixed> $open */
    private static function link_html(array $open): string
    {
        $link = $open['refund']['address_url'];
        $what = $link === ''
            ? '<p>' . esc_html(Card_Checkout_Refunds::instruction($open)) . '</p>'
            : self::shown(self::SHOWN_FIELD, __('Link for the customer', 'card-checkout'), $link)
                . '<p class="description">'
                . esc_html__('Send it to the customer, who names an address there.', 'card-checkout')
                . '</p>';
        return $what . self::button('cancel', __('Cancel refund', 'card-checkout'));
    }

    /** @param array<string, string> $refund */
    private static function confirmation_html(array $refund): string
    {
        return self::shown(self::SHOWN_FIELD, __('The customer named', 'card-checkout'), $refund['destination'])
            . '<p class="description">'
            . esc_html__('Check it with the customer over a channel that you know. A link can be forwarded.', 'card-checkout')
            . '</p>'
            . self::button('confirm', __('Confirm address', 'card-checkout'))
            . self::button('cancel', __('Cancel refund', 'card-checkout'));
    }

    /** @param array<string, string> $refund */
    private static function transfer_html(array $refund): string
    {
        $text = __('Transfer exactly this amount from your wallet to this address on Polygon.', 'card-checkout');
        $html = '<p>' . esc_html($text) . '</p>'
            . self::shown('card_checkout_refund_amount', __('Amount in USDC', 'card-checkout'), $refund['amount'])
            . self::shown(self::SHOWN_FIELD, __('Customer’s address', 'card-checkout'), $refund['destination']);
        if ($refund['payment_uri'] !== '') {
            $html .= sprintf(
                '<p><a href="%s">%s</a></p>',
                esc_url($refund['payment_uri'], self::allowed_protocols()),
                esc_html__('Open in a wallet', 'card-checkout')
            );
        }
        if ($refund['transaction_problem'] !== '') {
            $html .= '<p><strong>' . esc_html(self::problem_text($refund['transaction_problem'])) . '</strong></p>';
        } elseif ($refund['submitted_transaction'] !== '') {
            $html .= '<p>' . esc_html__('The transaction is checked once it is final.', 'card-checkout') . '</p>';
        }
        $html .= '<p class="description">' . sprintf(
            /* translators: %s: a date */
            esc_html__('WooCommerce records the refund when the transfer is final. It is awaited until %s.', 'card-checkout'),
            esc_html(substr($refund['expires_at'], 0, 10))
        ) . '</p>';
        return $html
            . self::field(self::TRANSACTION_FIELD, __('Transaction, if the transfer is not found', 'card-checkout'), '')
            . self::button('submit', __('Submit transaction', 'card-checkout'))
            . self::button('cancel', __('Cancel refund', 'card-checkout'));
    }

    private static function problem_text(string $problem): string
    {
        return match ($problem) {
            'no_transfer' => __('The transaction has no transfer to this address.', 'card-checkout'),
            'too_early' => __('The transaction is older than the payment.', 'card-checkout'),
            'exceeds_received' => __('The transfer exceeds what can be refunded.', 'card-checkout'),
            'already_counted' => __('The transfer belongs to another refund.', 'card-checkout'),
            default => $problem,
        };
    }

    private static function field(string $name, string $label, string $value): string
    {
        return sprintf(
            '<p><label for="%1$s"><strong>%2$s</strong></label><br>'
                . '<input type="text" class="widefat" autocomplete="off" name="%1$s" id="%1$s" value="%3$s" placeholder="0x…"></p>',
            esc_attr($name),
            esc_html($label),
            esc_attr($value)
        );
    }

    /** Renders text to copy in full height, so that a person can compare all of it. */
    private static function shown(string $name, string $label, string $value): string
    {
        return sprintf(
            '<p><label for="%1$s"><strong>%2$s</strong></label><br>'
                . '<textarea class="widefat" name="%1$s" id="%1$s" rows="%4$d" readonly="readonly">%3$s</textarea></p>',
            esc_attr($name),
            esc_html($label),
            esc_textarea($value),
            intdiv(strlen($value), self::CHARACTERS_IN_LINE) + 1
        );
    }

    private static function button(string $action, string $text): string
    {
        return sprintf(
            '<button type="submit" class="button" name="%s" value="%s">%s</button> ',
            esc_attr(self::ACTION_FIELD),
            esc_attr($action),
            esc_html($text)
        );
    }
}
