<?php
/**
 * Plugin Name: Card checkout for WooCommerce
 * Description: Takes cards at a self-hosted card-checkout service; the money arrives as USDC in your own wallet.
 * Version: 0.1.0
 * Requires at least: 6.4
 * Requires PHP: 8.1
 * Requires Plugins: woocommerce
 * Text Domain: card-checkout
 */

declare(strict_types=1);

defined('ABSPATH') || exit;

const CARD_CHECKOUT_VERSION = '0.1.0';
const CARD_CHECKOUT_FILE = __FILE__;
/** The hook of the hourly look at open orders. */
const CARD_CHECKOUT_LOOK = 'card_checkout_look_at_open_orders';

add_action('plugins_loaded', 'card_checkout_load');
add_action('before_woocommerce_init', 'card_checkout_declare_compatibility');
add_action('woocommerce_blocks_loaded', 'card_checkout_register_block');
register_activation_hook(__FILE__, 'card_checkout_activate');
register_deactivation_hook(__FILE__, 'card_checkout_deactivate');

function card_checkout_load(): void
{
    // WooCommerce may be switched off.
    if (!class_exists('WC_Payment_Gateway')) {
        return;
    }
    require_once __DIR__ . '/includes/class-card-checkout-client.php';
    require_once __DIR__ . '/includes/class-card-checkout-orders.php';
    require_once __DIR__ . '/includes/class-card-checkout-webhook.php';
    require_once __DIR__ . '/includes/class-card-checkout-gateway.php';

    add_filter('woocommerce_payment_gateways', 'card_checkout_add_gateway');
    add_filter('woocommerce_cancel_unpaid_order', 'card_checkout_keep_open_order', 10, 2);
    add_action('woocommerce_api_card_checkout', 'card_checkout_receive_webhook');
    add_action(CARD_CHECKOUT_LOOK, 'card_checkout_look_at_open_orders');
}

function card_checkout_declare_compatibility(): void
{
    if (class_exists('Automattic\WooCommerce\Utilities\FeaturesUtil')) {
        foreach (['custom_order_tables', 'cart_checkout_blocks'] as $feature) {
            Automattic\WooCommerce\Utilities\FeaturesUtil::declare_compatibility($feature, __FILE__, true);
        }
    }
}

function card_checkout_register_block(): void
{
    if (!class_exists('Automattic\WooCommerce\Blocks\Payments\Integrations\AbstractPaymentMethodType')) {
        return;
    }
    require_once __DIR__ . '/includes/class-card-checkout-block.php';
    add_action('woocommerce_blocks_payment_method_type_registration', 'card_checkout_add_block');
}

/** @param Automattic\WooCommerce\Blocks\Payments\PaymentMethodRegistry $registry */
function card_checkout_add_block($registry): void
{
    $registry->register(new Card_Checkout_Block());
}

/** @param array<int, string|object> $gateways */
function card_checkout_add_gateway(array $gateways): array
{
    $gateways[] = 'Card_Checkout_Gateway';
    return $gateways;
}

/**
 * WooCommerce cancels unpaid orders after an hour. At an on-ramp a customer may take longer, and money on its way cannot be
 * called back: the payment's own end decides, which the hourly look sees.
 */
function card_checkout_keep_open_order(bool $cancel, WC_Order $order): bool
{
    return $cancel && !Card_Checkout_Orders::has_payment($order);
}

function card_checkout_gateway(): Card_Checkout_Gateway
{
    return new Card_Checkout_Gateway();
}

/** The service's one webhook. No nonce: whoever sends it proves itself by the signature. */
function card_checkout_receive_webhook(): void
{
    $webhook = new Card_Checkout_Webhook(card_checkout_gateway()->orders());
    $status = ($_SERVER['REQUEST_METHOD'] ?? '') === 'POST'
        ? $webhook->receive(
            (string) file_get_contents('php://input'),
            (string) ($_SERVER['HTTP_X_SERVICE_SIGNATURE'] ?? ''),
            absint($_GET['order_id'] ?? 0),
            sanitize_text_field(wp_unslash((string) ($_GET['order_key'] ?? '')))
        )
        : 405;
    nocache_headers();
    status_header($status);
    exit;
}

/** A webhook is sent once and may be lost: the orders that are open are asked for. */
function card_checkout_look_at_open_orders(): void
{
    card_checkout_gateway()->orders()->look_at_open();
}

function card_checkout_activate(): void
{
    if (wp_next_scheduled(CARD_CHECKOUT_LOOK) === false) {
        wp_schedule_event(time(), 'hourly', CARD_CHECKOUT_LOOK);
    }
}

function card_checkout_deactivate(): void
{
    wp_clear_scheduled_hook(CARD_CHECKOUT_LOOK);
}
