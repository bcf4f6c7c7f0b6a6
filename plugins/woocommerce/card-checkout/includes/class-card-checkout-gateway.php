<?php

declare(strict_types=1);

defined('ABSPATH') || exit;

use Card_Checkout_Library\Client;
use Card_Checkout_Library\DepositAddress;

/** Payment method of the checkout, with its settings. */
final class Card_Checkout_Gateway extends WC_Payment_Gateway
{
    public const CURRENCIES = ['USD', 'EUR', 'CAD', 'INR'];
    /** Amounts that the service accepts, in cents. */
    private const LOWEST_CENTS = 1;
    private const HIGHEST_CENTS = 1_000_000;
    /** Accepted deposit contracts and the time of acceptance. */
    public const PUBLICATION_OPTION = 'card_checkout_publication';

    public function __construct()
    {
        $this->id = Card_Checkout_Orders::METHOD;
        $this->method_title = __('Card checkout', 'card-checkout');
        $this->method_description = __(
            'Customers pay by card at an on-ramp provider. You receive USDC on Polygon in your own wallet.',
            'card-checkout'
        ) . ' ' . __('Offered for totals from 0.01 to 10,000 in USD, EUR, CAD or INR.', 'card-checkout');
        $this->has_fields = false;
        $this->supports = ['products', 'refunds'];
        $this->init_form_fields();
        $this->init_settings();
        $this->title = $this->setting('title');
        $this->description = $this->setting('description');
        // WooCommerce checks the nonce of its settings page first.
        add_action('woocommerce_update_options_payment_gateways_' . $this->id, [$this, 'process_admin_options']);
    }

    public function init_form_fields(): void
    {
        $this->form_fields = [
            'enabled' => [
                'title' => __('Enable', 'card-checkout'),
                'type' => 'checkbox',
                'label' => __('Offer card checkout to customers', 'card-checkout'),
                'default' => 'no',
            ],
            'title' => [
                'title' => __('Title', 'card-checkout'),
                'type' => 'text',
                'description' => __('What customers see at the checkout.', 'card-checkout'),
                'default' => __('Card', 'card-checkout'),
            ],
            'description' => [
                'title' => __('Description', 'card-checkout'),
                'type' => 'textarea',
                'default' => __('You pay by card on the next page, and then return to the shop.', 'card-checkout'),
            ],
            'service_url' => [
                'title' => __('Service address', 'card-checkout'),
                'type' => 'url',
                'description' => __('The https address of your card-checkout service.', 'card-checkout'),
                'default' => '',
            ],
            'api_key' => [
                'title' => __('API key', 'card-checkout'),
                'type' => 'card_checkout_key',
                'description' => __(
                    'The key needs the scopes create, read and refund. CARD_CHECKOUT_API_KEY in wp-config.php takes precedence.',
                    'card-checkout'
                ),
                'default' => '',
            ],
            'payout_address' => [
                'title' => __('Payout wallet', 'card-checkout'),
                'type' => 'text',
                'description' => __('Your own address on Polygon (0x…).', 'card-checkout'),
                'default' => '',
            ],
            'connection' => [
                'title' => __('Connection', 'card-checkout'),
                'type' => 'card_checkout_connection',
            ],
        ];
    }

    public function is_available(): bool
    {
        // There is no cart, and thus no total, in the administration and in scheduled jobs.
        $total = isset(WC()->cart) ? (float) $this->get_order_total() : 0.0;
        return parent::is_available() && $this->obstacle() === null && ($total <= 0 || self::is_in_range($total));
    }

    private static function is_in_range(mixed $total): bool
    {
        $cents = Card_Checkout_Amount::cents($total);
        return $cents >= self::LOWEST_CENTS && $cents <= self::HIGHEST_CENTS;
    }

    /** Returns the currency to pay in: that of the order on its payment page, otherwise that of the shop. */
    private static function currency(): string
    {
        $order = isset(WC()->cart) ? wc_get_order(absint(get_query_var('order-pay'))) : false;
        return (string) ($order instanceof WC_Order ? $order->get_currency() : get_woocommerce_currency());
    }

    /** Returns why the enabled payment method is not offered; null if it is. */
    public function obstacle(): ?string
    {
        if (!in_array(self::currency(), self::CURRENCIES, true)) {
            return sprintf(
                /* translators: %s: a list of currencies */
                __('The shop’s currency is not one of %s.', 'card-checkout'),
                implode(', ', self::CURRENCIES)
            );
        }
        if (!str_starts_with(Card_Checkout_Orders::callback_root(), 'https://')) {
            return __('The shop’s address does not begin with https://, so the service cannot send webhooks.', 'card-checkout');
        }
        if ($this->setting('service_url') === '') {
            return __('The service address is missing.', 'card-checkout');
        }
        if ($this->api_key() === '') {
            return __('The API key is missing.', 'card-checkout');
        }
        return $this->setting('payout_address') === ''
            ? __('The payout wallet is missing.', 'card-checkout')
            : null;
    }

    public function orders(): Card_Checkout_Orders
    {
        return new Card_Checkout_Orders(
            $this->client(),
            $this->setting('payout_address'),
            (array) get_option(self::PUBLICATION_OPTION, [])
        );
    }

    public function refunds(): Card_Checkout_Refunds
    {
        return new Card_Checkout_Refunds($this->client());
    }

    /**
     * Returns whether the order page offers “Refund … via”.
     *
     * @param WC_Order $order
     */
    public function can_refund_order($order): bool
    {
        return $order instanceof WC_Order && Card_Checkout_Refunds::is_refundable($order);
    }

    /**
     * Opens a refund, which the merchant then transfers. WooCommerce records it once the service reports it as paid. So
     * the result is always an error with the next step, never success.
     *
     * @param int $order_id
     * @param float|string|null $amount
     * @param string $reason
     */
    public function process_refund($order_id, $amount = null, $reason = ''): WP_Error
    {
        try {
            $text = sprintf(
                /* translators: %s: what to do */
                __('The refund is open and not paid yet. %s Reload the page for the details.', 'card-checkout'),
                $this->refunds()->open((int) $order_id, (float) $amount, (string) $reason)
            );
        } catch (Card_Checkout_Exception $exception) {
            Card_Checkout_Orders::log("refund of order $order_id: " . $exception->getMessage());
            $text = $exception->getMessage();
        }
        return new WP_Error('card_checkout_refund', $text);
    }

    /**
     * Starts a payment. Both checkouts call it after WooCommerce has checked the nonce of its form.
     *
     * @param int $order_id
     * @return array{result: string, redirect?: string}
     */
    public function process_payment($order_id): array
    {
        $order = wc_get_order(absint($order_id));
        if (!$order instanceof WC_Order) {
            return self::refuse($order_id, 'the order does not exist', true);
        }
        $is_payable = in_array($order->get_currency(), self::CURRENCIES, true)
            && self::is_in_range($order->get_total());
        if (!$is_payable) {
            $due = Card_Checkout_Amount::decimal($order->get_total()) . ' ' . $order->get_currency();
            return self::refuse($order_id, "the service takes 0.01 to 10,000 in USD, EUR, CAD or INR, not $due", true);
        }
        try {
            if (get_option(self::PUBLICATION_OPTION, []) === []) {
                $this->accept_publication();
            }
            $url = $this->orders()->checkout_url($order);
        } catch (Card_Checkout_Exception $exception) {
            return self::refuse($order_id, $exception->getMessage(), $exception->isRefusal());
        }
        Card_Checkout_Return::remember($order);
        return ['result' => 'success', 'redirect' => $url];
    }

    /**
     * @param mixed $order_id
     * @param string $reason reason for the log
     * @param bool $is_final whether the same attempt would fail again
     * @return array{result: string}
     */
    private static function refuse(mixed $order_id, string $reason, bool $is_final): array
    {
        Card_Checkout_Orders::log('order ' . absint($order_id) . ": $reason");
        wc_add_notice(
            $is_final
                ? __('This payment method cannot take the payment. Please choose another one, or contact the shop.', 'card-checkout')
                : __('The payment could not be started. Please try again.', 'card-checkout'),
            'error'
        );
        return ['result' => 'failure'];
    }

    /** Reports invalid fields. WooCommerce silently keeps their old values. */
    public function process_admin_options(): bool
    {
        $is_saved = parent::process_admin_options();
        foreach ($this->get_errors() as $error) {
            WC_Admin_Settings::add_error($error);
        }
        if ($this->get_errors() === [] && $this->get_option('enabled') === 'yes' && $this->obstacle() === null) {
            try {
                $this->check_connection();
            } catch (Card_Checkout_Exception $exception) {
                WC_Admin_Settings::add_error(self::connection_problem($exception));
            }
        }
        return $is_saved;
    }

    /**
     * Tests the saved key with a request and accepts the published deposit contracts.
     *
     * @throws Card_Checkout_Exception
     */
    public function check_connection(): void
    {
        $this->client()->checkKey();
        $this->accept_publication();
    }

    public static function connection_problem(Card_Checkout_Exception $exception): string
    {
        return sprintf(
            /* translators: %s: the reason */
            __('The connection does not work: %s', 'card-checkout'),
            $exception->getMessage()
        );
    }

    /** @throws Exception with a message that WooCommerce shows; the old value stays */
    public function validate_service_url_field(string $key, ?string $value): string
    {
        $url = untrailingslashit(trim((string) $value));
        $parts = wp_parse_url($url) ?: [];
        $host = $parts['host'] ?? '';
        $is_local = in_array($host, ['localhost', '127.0.0.1'], true);
        $schemes = $is_local ? ['https', 'http'] : ['https'];
        $is_right = $host !== '' && in_array($parts['scheme'] ?? '', $schemes, true);
        if ($url !== '' && (!$is_right || array_diff(array_keys($parts), ['scheme', 'host', 'port']) !== [])) {
            throw new Exception(
                esc_html__('The service address must be https:// and a host, without a path.', 'card-checkout')
            );
        }
        return $url;
    }

    /** @throws Exception */
    public function validate_payout_address_field(string $key, ?string $value): string
    {
        $address = trim((string) $value);
        if ($address !== '' && preg_match('/^0x[0-9a-fA-F]{40}$/D', $address) !== 1) {
            throw new Exception(
                esc_html__('The payout wallet must be 0x and 40 hexadecimal digits.', 'card-checkout')
            );
        }
        return $address;
    }

    /**
     * Keeps the saved key if the field is empty, because the page never shows the key.
     *
     * @throws Exception
     */
    public function validate_api_key_field(string $key, ?string $value): string
    {
        $api_key = trim((string) $value);
        if ($api_key === '') {
            return $this->setting('api_key');
        }
        if (preg_match('/^service_live_[A-Za-z0-9_-]{16,200}$/D', $api_key) !== 1) {
            throw new Exception(esc_html__('The API key must begin with service_live_.', 'card-checkout'));
        }
        return $api_key;
    }

    /** Returns nothing, because the row has no value to save. */
    public function validate_connection_field(string $key, ?string $value): string
    {
        return '';
    }

    /** @param array<string, string> $data */
    public function generate_card_checkout_key_html(string $key, array $data): string
    {
        $saved = $this->setting($key);
        $placeholder = $saved === ''
            ? 'service_live_…'
            /* translators: %s: the last characters of the key */
            : sprintf(__('Saved, ends in %s. Enter a new key to replace it.', 'card-checkout'), substr($saved, -4));
        return self::row(
            sprintf('<label for="%s">%s</label>', esc_attr($this->get_field_key($key)), esc_html($data['title'])),
            sprintf(
                '<input class="input-text regular-input" type="password" autocomplete="off" name="%s" id="%s" '
                    . 'value="" placeholder="%s" /><p class="description">%s</p>',
                esc_attr($this->get_field_key($key)),
                esc_attr($this->get_field_key($key)),
                esc_attr($placeholder),
                esc_html($data['description'])
            )
        );
    }

    /** @param array<string, string> $data */
    public function generate_card_checkout_connection_html(string $key, array $data): string
    {
        return self::row(esc_html($data['title']), Card_Checkout_Admin::connection_html());
    }

    /** Renders a row. Both parameters must be escaped HTML. */
    private static function row(string $title, string $html): string
    {
        return sprintf(
            '<tr valign="top"><th scope="row" class="titledesc">%s</th><td class="forminp">%s</td></tr>',
            $title,
            $html
        );
    }

    /** @throws Card_Checkout_Exception */
    private function accept_publication(): void
    {
        $publication = $this->client()->publication();
        DepositAddress::readPublication($publication);
        $kept = array_intersect_key($publication, array_flip(['chain_id', 'token', 'factories', 'fee_wallets']));
        update_option(self::PUBLICATION_OPTION, $kept + ['accepted_at' => time()], false);
    }

    private function client(): Client
    {
        return self::client_of($this->setting('service_url'), $this->api_key());
    }

    /** Creates a client. If settings are missing or invalid, each of its requests fails with that problem. */
    public static function client_of(string $service_url, #[SensitiveParameter] string $api_key): Client
    {
        try {
            return new Client($service_url, $api_key, new Card_Checkout_Transport(), 0);
        } catch (InvalidArgumentException $exception) {
            return new Client('https://settings.invalid', '', new Card_Checkout_Transport($exception->getMessage()), 0);
        }
    }

    /** Returns a setting as text, whatever type filters return. */
    public function setting(string $key): string
    {
        $value = $this->get_option($key);
        return is_scalar($value) ? (string) $value : '';
    }

    private function api_key(): string
    {
        return defined('CARD_CHECKOUT_API_KEY') ? (string) CARD_CHECKOUT_API_KEY : $this->setting('api_key');
    }
}
