<?php

declare(strict_types=1);

defined('ABSPATH') || exit;

/** Merchant's view in WordPress: payments on the order page, the connection in the settings, and a notice. */
final class Card_Checkout_Admin
{
    private const CHECK_CONNECTION = 'card_checkout_check_connection';
    private const CHECK_ORDER = 'card_checkout_check_order';
    private const EXPLORER = 'https://polygonscan.com/tx/';
    private const POLYGON = 137;

    public static function register(): void
    {
        add_action('add_meta_boxes', [self::class, 'add_order_box']);
        add_action('admin_notices', [self::class, 'show_notice']);
        add_action('admin_post_' . self::CHECK_CONNECTION, [self::class, 'check_connection']);
        add_action('admin_post_' . self::CHECK_ORDER, [self::class, 'check_order']);
        add_filter('plugin_action_links_' . plugin_basename(CARD_CHECKOUT_FILE), [self::class, 'add_settings_link']);
    }

    public static function settings_url(): string
    {
        return admin_url('admin.php?page=wc-settings&tab=checkout&section=' . Card_Checkout_Orders::METHOD);
    }

    /** @return array<int|string, string> */
    public static function add_settings_link(mixed $links): array
    {
        $link = sprintf('<a href="%s">%s</a>', esc_url(self::settings_url()), esc_html__('Settings', 'card-checkout'));
        return [$link, ...(is_array($links) ? $links : [])];
    }

    /** Adds the box for both kinds of order storage. */
    public static function add_order_box(): void
    {
        $screens = ['shop_order'];
        if (function_exists('wc_get_page_screen_id')) {
            $screens[] = wc_get_page_screen_id('shop-order');
        }
        foreach (array_unique($screens) as $screen) {
            add_meta_box(
                'card-checkout',
                __('Card checkout', 'card-checkout'),
                [self::class, 'show_order_box'],
                $screen,
                'side'
            );
        }
    }

    /** @param mixed $subject a WP_Post or a WC_Order */
    public static function show_order_box(mixed $subject): void
    {
        $order = $subject instanceof WC_Order ? $subject : wc_get_order(absint($subject->ID ?? 0));
        echo wp_kses(
            self::order_box_html($order instanceof WC_Order ? $order : null),
            Card_Checkout_Refund_Box::allowed_html(),
            Card_Checkout_Refund_Box::allowed_protocols()
        );
    }

    public static function order_box_html(?WC_Order $order): string
    {
        if ($order === null || !Card_Checkout_Orders::has_payment($order)) {
            return '<p>' . esc_html__('This order has no payment at card checkout.', 'card-checkout') . '</p>';
        }
        $status = json_decode((string) $order->get_meta(Card_Checkout_Orders::STATUS), true) ?: [];
        $rows = [
            __('Payment', 'card-checkout') => esc_html((string) $order->get_meta(Card_Checkout_Orders::PAYMENT_ID)),
            __('State', 'card-checkout') => esc_html(self::state_text($status)),
        ];
        if ((float) ($status['value_coin'] ?? 0) > 0) {
            $rows[__('Received', 'card-checkout')] = esc_html($status['value_coin'] . ' USDC');
            $rows[__('Paid out', 'card-checkout')] = esc_html($status['forwarded_amount'] . ' USDC');
        }
        $transactions = [
            'txid_in' => __('Deposit transaction', 'card-checkout'),
            'txid_out' => __('Payout transaction', 'card-checkout'),
        ];
        foreach ($transactions as $name => $label) {
            if (($status[$name] ?? '') !== '') {
                $rows[$label] = self::transaction_html($status[$name]);
            }
        }
        if (isset($status['checked_at'])) {
            $rows[__('Last checked', 'card-checkout')] = esc_html($status['checked_at'] . ' UTC');
        }
        $html = '';
        foreach ($rows as $label => $value) {
            $html .= '<p><strong>' . esc_html($label) . '</strong><br>' . $value . '</p>';
        }
        return $html . self::button(
            self::action_url(self::CHECK_ORDER, ['order_id' => $order->get_id()]),
            __('Check now', 'card-checkout')
        ) . Card_Checkout_Refund_Box::html($order);
    }

    /** Renders the state of the connection and a button to test it. */
    public static function connection_html(): string
    {
        $publication = (array) get_option(Card_Checkout_Gateway::PUBLICATION_OPTION, []);
        $lines = [
            $publication === []
                ? __('The connection has not been tested yet.', 'card-checkout')
                : sprintf(
                    /* translators: 1: a time, 2: the chain's id */
                    __('Tested on %1$s UTC. Deposit contracts on chain %2$s are accepted.', 'card-checkout'),
                    gmdate('Y-m-d H:i', (int) $publication['accepted_at']),
                    (string) $publication['chain_id']
                ),
        ];
        $last = Card_Checkout_Webhook::last();
        if (isset($last['accepted_at'])) {
            /* translators: %s: a time */
            $lines[] = sprintf(__('Last accepted webhook: %s UTC.', 'card-checkout'), gmdate('Y-m-d H:i', $last['accepted_at']));
        }
        if (isset($last['failed_at'])) {
            $lines[] = sprintf(
                /* translators: 1: a time, 2: the reason */
                __('Last rejected webhook: %1$s UTC. %2$s', 'card-checkout'),
                gmdate('Y-m-d H:i', $last['failed_at']),
                $last['reason'] ?? ''
            );
        }
        $html = '';
        foreach ($lines as $line) {
            $html .= '<p>' . esc_html($line) . '</p>';
        }
        $html .= self::button(self::action_url(self::CHECK_CONNECTION), __('Test connection', 'card-checkout'));
        return Card_Checkout_Connect::html() . $html
            . '<p class="description">'
            . esc_html__('The test uses the saved settings, and accepts the deposit contracts that the service publishes.', 'card-checkout')
            . '</p>';
    }

    public static function check_connection(): void
    {
        self::require_permission(self::CHECK_CONNECTION, 'manage_woocommerce');
        try {
            card_checkout_gateway()->check_connection();
            $text = __('The connection works.', 'card-checkout');
        } catch (Card_Checkout_Exception $exception) {
            $text = Card_Checkout_Gateway::connection_problem($exception);
        }
        self::return_with($text, self::settings_url());
    }

    public static function check_order(): void
    {
        self::require_permission(self::CHECK_ORDER, 'edit_shop_orders');
        $order = wc_get_order(absint($_GET['order_id'] ?? 0));
        if (!$order instanceof WC_Order) {
            wp_die(esc_html__('The order does not exist.', 'card-checkout'), '', 404);
        }
        try {
            card_checkout_gateway()->orders()->confirm($order->get_id());
            card_checkout_gateway()->refunds()->check($order->get_id());
            $text = __('The payment was checked.', 'card-checkout');
        } catch (Card_Checkout_Exception $exception) {
            $text = Card_Checkout_Gateway::connection_problem($exception);
        }
        self::return_with($text, $order->get_edit_order_url());
    }

    /** Shows the result of a check, or why customers do not see the enabled payment method. */
    public static function show_notice(): void
    {
        if (!current_user_can('manage_woocommerce')) {
            return;
        }
        $outcome = get_transient(self::outcome_key());
        if (is_string($outcome)) {
            delete_transient(self::outcome_key());
            echo wp_kses_post('<div class="notice notice-info is-dismissible"><p>' . esc_html($outcome) . '</p></div>');
        }
        $gateway = card_checkout_gateway();
        $obstacle = $gateway->get_option('enabled') === 'yes' ? $gateway->obstacle() : null;
        if ($obstacle !== null) {
            echo wp_kses_post(sprintf(
                '<div class="notice notice-warning"><p>%s <a href="%s">%s</a></p></div>',
                /* translators: %s: the reason */
                esc_html(sprintf(__('Card checkout is not offered to customers: %s', 'card-checkout'), $obstacle)),
                esc_url(self::settings_url()),
                esc_html__('Settings', 'card-checkout')
            ));
        }
    }

    /** @param array<string, mixed> $status */
    public static function state_text(array $status): string
    {
        if ($status === []) {
            return __('Open', 'card-checkout');
        }
        return match (Card_Checkout_State::of($status)) {
            Card_Checkout_State::OPEN => __('Open', 'card-checkout'),
            Card_Checkout_State::PARTIALLY_PAID => __('Partially paid', 'card-checkout'),
            Card_Checkout_State::RELEASING => __('Payout on its way', 'card-checkout'),
            Card_Checkout_State::PAID => __('Paid', 'card-checkout'),
            Card_Checkout_State::CANCELED => __('Expired or canceled', 'card-checkout'),
            Card_Checkout_State::CANCELED_WITH_MONEY => __('Canceled, with money waiting', 'card-checkout'),
            Card_Checkout_State::CANCELED_AND_RELEASED => __('Canceled, money paid out', 'card-checkout'),
            default => __('Needs attention', 'card-checkout'),
        };
    }

    private static function transaction_html(string $hash): string
    {
        $publication = (array) get_option(Card_Checkout_Gateway::PUBLICATION_OPTION, []);
        $short = esc_html(substr($hash, 0, 10) . '…' . substr($hash, -6));
        return ($publication['chain_id'] ?? null) === self::POLYGON && preg_match('/^0x[0-9a-f]{64}$/D', $hash) === 1
            ? sprintf('<a href="%s" target="_blank" rel="noreferrer">%s</a>', esc_url(self::EXPLORER . $hash), $short)
            : '<code title="' . esc_attr($hash) . '">' . $short . '</code>';
    }

    public static function button(string $url, string $text): string
    {
        return sprintf('<p><a class="button" href="%s">%s</a></p>', esc_url($url), esc_html($text));
    }

    /** @param array<string, scalar> $arguments */
    public static function action_url(string $action, array $arguments = []): string
    {
        return wp_nonce_url(add_query_arg(['action' => $action] + $arguments, admin_url('admin-post.php')), $action);
    }

    public static function require_permission(string $action, string $capability): void
    {
        check_admin_referer($action);
        if (!current_user_can($capability)) {
            wp_die(esc_html__('You may not do this.', 'card-checkout'), '', 403);
        }
    }

    public static function return_with(string $text, string $url): never
    {
        self::remember_outcome($text);
        wp_safe_redirect($url);
        exit;
    }

    /** Shows a notice on the next page that the user opens. */
    public static function remember_outcome(string $text): void
    {
        set_transient(self::outcome_key(), $text, 60);
    }

    private static function outcome_key(): string
    {
        return 'card_checkout_outcome_' . get_current_user_id();
    }
}
