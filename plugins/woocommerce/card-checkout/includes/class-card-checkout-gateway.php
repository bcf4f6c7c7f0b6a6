<?php

declare(strict_types=1);

defined('ABSPATH') || exit;

/** Payment method of the checkout, and its settings. */
final class Card_Checkout_Gateway extends WC_Payment_Gateway
{
    public const CURRENCIES = ['USD', 'EUR', 'CAD', 'INR'];
    /** Accepted deposit contracts, and the time of acceptance. */
    public const PUBLICATION_OPTION = 'card_checkout_publication';

    public function __construct()
    {
        $this->id = Card_Checkout_Orders::METHOD;
        $this->method_title = __('Card checkout', 'card-checkout');
        $this->method_description = __(
            'Customers pay by card at an on-ramp provider. You receive USDC on Polygon in your own wallet.',
            'card-checkout'
        );
        $this->has_fields = false;
        $this->supports = ['products', 'refunds'];
        $this->init_form_fields();
        $this->init_settings();
        $this->title = $this->get_option('title');
        $this->description = $this->get_option('description');
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
        return parent::is_available() && $this->obstacle() === null;
    }

    /** Why the enabled payment method is not offered; null if it is. */
    public function obstacle(): ?string
    {
        if (!in_array(get_woocommerce_currency(), self::CURRENCIES, true)) {
            return sprintf(
                /* translators: %s: a list of currencies */
                __('The shop’s currency is not one of %s.', 'card-checkout'),
                implode(', ', self::CURRENCIES)
            );
        }
        if ($this->get_option('service_url') === '') {
            return __('The service address is missing.', 'card-checkout');
        }
        if ($this->api_key() === '') {
            return __('The API key is missing.', 'card-checkout');
        }
        return $this->get_option('payout_address') === ''
            ? __('The payout wallet is missing.', 'card-checkout')
            : null;
    }

    public function orders(): Card_Checkout_Orders
    {
        return new Card_Checkout_Orders(
            $this->client(),
            $this->get_option('payout_address'),
            (array) get_option(self::PUBLICATION_OPTION, [])
        );
    }

    public function refunds(): Card_Checkout_Refunds
    {
        return new Card_Checkout_Refunds($this->client());
    }

    /**
     * Whether the order page offers “Refund … via”.
     *
     * @param WC_Order $order
     */
    public function can_refund_order($order): bool
    {
        return $order instanceof WC_Order && Card_Checkout_Refunds::is_refundable($order);
    }

    /**
     * Opens a refund, which the merchant then transfers. WooCommerce records it once the service reports it as paid, so
     * the result is an error with the next step, never success.
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
     * Called by both checkouts, after WooCommerce has checked the nonce of its form.
     *
     * @param int $order_id
     * @return array{result: string, redirect?: string}
     */
    public function process_payment($order_id): array
    {
        $order = wc_get_order($order_id);
        try {
            if (get_option(self::PUBLICATION_OPTION, []) === []) {
                $this->accept_publication();
            }
            $url = $this->orders()->checkout_url($order);
        } catch (Card_Checkout_Exception $exception) {
            Card_Checkout_Orders::log('order ' . $order->get_id() . ': ' . $exception->getMessage());
            wc_add_notice(
                __('The payment could not be started. Please try again.', 'card-checkout'),
                'error'
            );
            return ['result' => 'failure'];
        }
        Card_Checkout_Return::remember_order((int) $order_id);
        return ['result' => 'success', 'redirect' => $url];
    }

    /** Reports invalid fields, whose old values WooCommerce keeps silently. */
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
     * Requests the service with the saved key, and accepts its published deposit contracts.
     *
     * @throws Card_Checkout_Exception
     */
    public function check_connection(): void
    {
        $this->client()->check_key();
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

    /** @throws Exception whose text WooCommerce shows; the old value stays */
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
     * Keeps the key for an empty field, because the page never shows it.
     *
     * @throws Exception
     */
    public function validate_api_key_field(string $key, ?string $value): string
    {
        $api_key = trim((string) $value);
        if ($api_key === '') {
            return $this->get_option('api_key');
        }
        if (preg_match('/^service_live_[A-Za-z0-9_-]{16,200}$/D', $api_key) !== 1) {
            throw new Exception(esc_html__('The API key must begin with service_live_.', 'card-checkout'));
        }
        return $api_key;
    }

    /** The row is no field and has no value. */
    public function validate_connection_field(string $key, ?string $value): string
    {
        return '';
    }

    /** @param array<string, string> $data */
    public function generate_card_checkout_key_html(string $key, array $data): string
    {
        $saved = $this->get_option($key);
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

    /** Both parameters are escaped HTML. */
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
        $publication = $this->client()->read_publication();
        Card_Checkout_Deposit_Address::read_publication($publication);
        $kept = array_intersect_key($publication, array_flip(['chain_id', 'token', 'factories', 'fee_wallets']));
        update_option(self::PUBLICATION_OPTION, $kept + ['accepted_at' => time()], false);
    }

    private function client(): Card_Checkout_Client
    {
        return new Card_Checkout_Client($this->get_option('service_url'), $this->api_key());
    }

    private function api_key(): string
    {
        return defined('CARD_CHECKOUT_API_KEY') ? (string) CARD_CHECKOUT_API_KEY : $this->get_option('api_key');
    }
}
