<?php

declare(strict_types=1);

defined('ABSPATH') || exit;

/** The way to pay, in the classic checkout, and its settings. */
final class Card_Checkout_Gateway extends WC_Payment_Gateway
{
    public const CURRENCIES = ['USD', 'EUR', 'CAD', 'INR'];

    public function __construct()
    {
        $this->id = Card_Checkout_Orders::METHOD;
        $this->method_title = __('Card checkout', 'card-checkout');
        $this->method_description = __(
            'Customers pay by card at an on-ramp; you get USDC on Polygon. Refunds are not possible here: what was paid is in your wallet, and is sent back by hand.',
            'card-checkout'
        );
        $this->has_fields = false;
        // No refunds: nobody but you can move what has arrived.
        $this->supports = ['products'];
        $this->init_form_fields();
        $this->init_settings();
        $this->title = $this->get_option('title');
        $this->description = $this->get_option('description');
        // WooCommerce checks the nonce of its settings page before it calls this.
        add_action('woocommerce_update_options_payment_gateways_' . $this->id, [$this, 'process_admin_options']);
    }

    public function init_form_fields(): void
    {
        $this->form_fields = [
            'enabled' => [
                'title' => __('Switched on', 'card-checkout'),
                'type' => 'checkbox',
                'label' => __('Offer card checkout to customers', 'card-checkout'),
                'default' => 'no',
            ],
            'title' => [
                'title' => __('Title', 'card-checkout'),
                'type' => 'text',
                'default' => __('Card', 'card-checkout'),
            ],
            'description' => [
                'title' => __('Description', 'card-checkout'),
                'type' => 'textarea',
                'default' => __('You pay by card at a provider of your choice, and come back.', 'card-checkout'),
            ],
            'service_url' => [
                'title' => __('Service', 'card-checkout'),
                'type' => 'url',
                'description' => __('The address of your card-checkout service, https.', 'card-checkout'),
                'default' => '',
            ],
            'api_key' => [
                'title' => __('API key', 'card-checkout'),
                'type' => 'password',
                'description' => __(
                    'Kept in the database. CARD_CHECKOUT_API_KEY in wp-config.php goes first.',
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
        ];
    }

    public function is_available(): bool
    {
        return parent::is_available()
            && in_array(get_woocommerce_currency(), self::CURRENCIES, true)
            && $this->get_option('service_url') !== ''
            && $this->api_key() !== ''
            && $this->get_option('payout_address') !== '';
    }

    public function orders(): Card_Checkout_Orders
    {
        $client = new Card_Checkout_Client($this->get_option('service_url'), $this->api_key());
        return new Card_Checkout_Orders($client, $this->get_option('payout_address'));
    }

    /**
     * Both checkouts call it. WooCommerce has checked the nonce of its form by then.
     *
     * @param int $order_id
     * @return array{result: string, redirect?: string}
     */
    public function process_payment($order_id): array
    {
        $order = wc_get_order($order_id);
        try {
            $url = $this->orders()->checkout_url($order);
        } catch (Card_Checkout_Exception $exception) {
            Card_Checkout_Orders::log('order ' . $order->get_id() . ': ' . $exception->getMessage());
            wc_add_notice(
                __('The payment could not be started. Please try again, or place the order anew.', 'card-checkout'),
                'error'
            );
            return ['result' => 'failure'];
        }
        return ['result' => 'success', 'redirect' => $url];
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
                esc_html__('The service is https:// and a host, and nothing behind it.', 'card-checkout')
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
                esc_html__('The payout wallet is 0x and 40 hexadecimal digits.', 'card-checkout')
            );
        }
        return $address;
    }

    private function api_key(): string
    {
        return defined('CARD_CHECKOUT_API_KEY') ? (string) CARD_CHECKOUT_API_KEY : $this->get_option('api_key');
    }
}
