<?php

declare(strict_types=1);

defined('ABSPATH') || exit;

/**
 * Connection of the shop with one click. The merchant approves it at the service, and the shop exchanges the returned
 * code for an API key (OAuth 2.0 authorization code with PKCE).
 */
final class Card_Checkout_Connect
{
    private const START = 'card_checkout_connect';
    private const RETURNED = 'card_checkout_connected';
    private const SCOPES = 'create,read,refund';
    private const SETTINGS = 'woocommerce_card_checkout_settings';
    private const PATIENCE_SECONDS = 900;
    /** Maximum characters of the shop's name that the service accepts. */
    private const MAXIMUM_NAME = 100;

    public static function register(): void
    {
        add_action('admin_post_' . self::START, [self::class, 'start']);
        add_action('admin_post_' . self::RETURNED, [self::class, 'take_code']);
    }

    public static function html(): string
    {
        return Card_Checkout_Admin::button(
            Card_Checkout_Admin::action_url(self::START),
            __('Connect in one click', 'card-checkout')
        ) . '<p class="description">' . esc_html__(
            'You sign in at the service and approve this shop. The API key is then saved here. Save the service address first.',
            'card-checkout'
        ) . '</p>';
    }

    /** Redirects the merchant to the service. */
    public static function start(): void
    {
        Card_Checkout_Admin::require_permission(self::START, 'manage_woocommerce');
        $url = self::begin();
        if ($url === null) {
            Card_Checkout_Admin::return_with(
                __('Enter and save the service address first.', 'card-checkout'),
                Card_Checkout_Admin::settings_url()
            );
        }
        add_filter('allowed_redirect_hosts', static fn(mixed $hosts): array => [...(array) $hosts, wp_parse_url($url)['host']]);
        wp_safe_redirect($url);
        exit;
    }

    /** Starts a connection and returns its URL at the service; null without a service URL. */
    public static function begin(): ?string
    {
        $service_url = card_checkout_gateway()->setting('service_url');
        if ($service_url === '') {
            return null;
        }
        $pending = ['verifier' => self::random_text(), 'state' => self::random_text(), 'service_url' => $service_url];
        // Stored on the server for this user. The browser sees only the hash of the verifier.
        set_transient(self::pending_key(), (string) wp_json_encode($pending), self::PATIENCE_SECONDS);
        return $service_url . '/connect?' . http_build_query([
            'name' => self::shop_name(),
            'return' => self::return_url(),
            'state' => $pending['state'],
            'code_challenge' => self::url_text(hash('sha256', $pending['verifier'], true)),
            'scopes' => self::SCOPES,
        ]);
    }

    /** Handles the merchant's return. The state replaces a nonce, because it belongs to this user and works once. */
    public static function take_code(): void
    {
        if (!current_user_can('manage_woocommerce')) {
            wp_die(esc_html__('You may not do this.', 'card-checkout'), '', 403);
        }
        $text = self::finish(
            sanitize_text_field(wp_unslash($_GET['code'] ?? '')),
            sanitize_text_field(wp_unslash($_GET['state'] ?? ''))
        );
        Card_Checkout_Admin::return_with($text, Card_Checkout_Admin::settings_url());
    }

    /** Exchanges the code and saves the key. Returns the result for the merchant. */
    public static function finish(string $code, string $state): string
    {
        $pending = json_decode((string) get_transient(self::pending_key()), true);
        // A forged link must not end a pending connection.
        if (!is_array($pending) || !hash_equals($pending['state'], $state)) {
            return __('The connection was not started here, or took too long. Start it again.', 'card-checkout');
        }
        delete_transient(self::pending_key());
        $gateway = card_checkout_gateway();
        if ($gateway->setting('service_url') !== $pending['service_url']) {
            return __('The service address was changed meanwhile. Start the connection again.', 'card-checkout');
        }
        try {
            $client = Card_Checkout_Gateway::client_of($pending['service_url'], '');
            $connection = $client->exchangeCode($code, $pending['verifier'], self::return_url());
            $settings = (array) get_option(self::SETTINGS, []);
            $settings['api_key'] = $connection['api_key'];
            // Only used if the merchant has entered none, because the service must not choose where money goes.
            if (($settings['payout_address'] ?? '') === '' && is_string($connection['wallet'] ?? null)) {
                $settings['payout_address'] = $connection['wallet'];
            }
            update_option(self::SETTINGS, $settings, false);
            $gateway->init_settings();
            $gateway->check_connection();
            return __('The shop is connected. Check the payout wallet below.', 'card-checkout');
        } catch (Card_Checkout_Exception $exception) {
            return Card_Checkout_Gateway::connection_problem($exception);
        }
    }

    private static function return_url(): string
    {
        return admin_url('admin-post.php?action=' . self::RETURNED);
    }

    private static function shop_name(): string
    {
        $name = trim(wp_specialchars_decode((string) get_bloginfo('name'), ENT_QUOTES));
        return $name === '' ? 'WooCommerce' : mb_substr($name, 0, self::MAXIMUM_NAME);
    }

    private static function pending_key(): string
    {
        return 'card_checkout_connect_' . get_current_user_id();
    }

    /** Returns 256 random bits. */
    private static function random_text(): string
    {
        return self::url_text(random_bytes(32));
    }

    /** Encodes bytes as base64url without padding. */
    private static function url_text(string $bytes): string
    {
        return rtrim(strtr(base64_encode($bytes), '+/', '-_'), '=');
    }
}
