<?php

declare(strict_types=1);

defined('ABSPATH') || exit;

use Automattic\WooCommerce\Blocks\Payments\Integrations\AbstractPaymentMethodType;

/** Payment method of the checkout block. */
final class Card_Checkout_Block extends AbstractPaymentMethodType
{
    private const SCRIPT = 'card-checkout-block';

    /** @var string */
    protected $name = 'card_checkout';

    public function initialize(): void
    {
        $this->settings = get_option('woocommerce_card_checkout_settings', []);
    }

    public function is_active(): bool
    {
        return card_checkout_gateway()->is_available();
    }

    /** @return list<string> */
    public function get_payment_method_script_handles(): array
    {
        wp_register_script(
            self::SCRIPT,
            plugins_url('assets/block.js', CARD_CHECKOUT_FILE),
            ['wc-blocks-registry', 'wc-settings', 'wp-element', 'wp-html-entities'],
            CARD_CHECKOUT_VERSION,
            true
        );
        return [self::SCRIPT];
    }

    /** @return array<string, mixed> data for the script, without secrets */
    public function get_payment_method_data(): array
    {
        $gateway = card_checkout_gateway();
        return [
            'title' => $gateway->title,
            'description' => $gateway->description,
            'supports' => $gateway->supports,
        ];
    }
}
