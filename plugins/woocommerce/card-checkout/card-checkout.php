<?php
/**
 * Plugin Name: Card checkout for WooCommerce
 * Description: Accept cards through your self-hosted card-checkout service. You receive USDC on Polygon in your own wallet.
 * Version: 0.2.0
 * Requires at least: 6.5
 * Tested up to: 6.9
 * Requires PHP: 8.1
 * Requires Plugins: woocommerce
 * WC requires at least: 8.3
 * WC tested up to: 10.5
 * Author: The card-checkout authors
 * License: MIT
 * License URI: https://opensource.org/license/mit
 * Text Domain: card-checkout
 * Domain Path: /languages
 */

declare(strict_types=1);

defined('ABSPATH') || exit;

const CARD_CHECKOUT_VERSION = '0.2.0';
const CARD_CHECKOUT_FILE = __FILE__;
/** Hook of the hourly check of open orders and refunds. */
const CARD_CHECKOUT_HOURLY = 'card_checkout_check_open_orders';
/** Files in `library`, a copy of the PHP library with its own namespace, in loading order. */
const CARD_CHECKOUT_LIBRARY = [
    'CheckoutException', 'ConnectionException', 'DepositAddressException', 'WebhookException', 'ApiException',
    'AuthenticationException', 'ConflictException', 'InvalidRequestException', 'NotFoundException', 'RateLimitException',
    'ServiceException', 'Answer', 'Transport', 'Client', 'Keccak', 'DepositAddress', 'Webhook',
];
/** Files in `includes`, in loading order. */
const CARD_CHECKOUT_CLASSES = [
    'exception', 'transport', 'amount', 'state', 'lock', 'fields', 'orders', 'refunds', 'refund-box', 'webhook', 'return',
    'gateway', 'admin', 'connect',
];

add_action('plugins_loaded', 'card_checkout_load');
add_action('before_woocommerce_init', 'card_checkout_declare_compatibility');
add_action('woocommerce_blocks_loaded', 'card_checkout_register_block');
register_activation_hook(__FILE__, 'card_checkout_schedule');
register_deactivation_hook(__FILE__, 'card_checkout_deactivate');

function card_checkout_load(): void
{
    // WooCommerce may be deactivated.
    if (!class_exists('WC_Payment_Gateway')) {
        return;
    }
    foreach (CARD_CHECKOUT_LIBRARY as $name) {
        require_once __DIR__ . "/library/$name.php";
    }
    foreach (CARD_CHECKOUT_CLASSES as $name) {
        require_once __DIR__ . "/includes/class-card-checkout-$name.php";
    }

    load_plugin_textdomain('card-checkout', false, dirname(plugin_basename(__FILE__)) . '/languages');
    Card_Checkout_Admin::register();
    Card_Checkout_Refund_Box::register();
    Card_Checkout_Connect::register();
    Card_Checkout_Fields::register();
    add_filter('woocommerce_payment_gateways', 'card_checkout_add_gateway');
    add_filter('woocommerce_cancel_unpaid_order', 'card_checkout_keep_open_order', 10, 2);
    add_action('woocommerce_api_card_checkout', 'card_checkout_receive_webhook');
    add_action('woocommerce_api_card_checkout_return', 'card_checkout_return_to_order');
    add_action(CARD_CHECKOUT_HOURLY, 'card_checkout_check_open_orders');
    // Activation hooks do not run on other sites of a network, or if an update only copies files.
    add_action('init', 'card_checkout_schedule');
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
    if (is_object($registry)) {
        $registry->register(new Card_Checkout_Block());
    }
}

/**
 * @param mixed $gateways usually a list, but another plugin's filter may return anything
 * @return array<int|string, string|object>
 */
function card_checkout_add_gateway(mixed $gateways): array
{
    $gateways = is_array($gateways) ? $gateways : [];
    $gateways[] = 'Card_Checkout_Gateway';
    return $gateways;
}

/**
 * Keeps orders with a payment open. WooCommerce would cancel them after an hour, but a customer at a provider may take
 * longer, and money in transit cannot be recalled. The hourly check ends an order when its payment ends.
 */
function card_checkout_keep_open_order(mixed $cancel, mixed $order): bool
{
    return (bool) $cancel && !($order instanceof WC_Order && Card_Checkout_Orders::has_payment($order));
}

function card_checkout_gateway(): Card_Checkout_Gateway
{
    return new Card_Checkout_Gateway();
}

/** Receives a webhook. It has no nonce, because its signature proves the sender. */
function card_checkout_receive_webhook(): void
{
    $webhook = new Card_Checkout_Webhook(card_checkout_gateway()->orders());
    $status = ($_SERVER['REQUEST_METHOD'] ?? '') === 'POST'
        ? $webhook->receive(
            Card_Checkout_Webhook::read_body(),
            (string) ($_SERVER['HTTP_X_SERVICE_SIGNATURE'] ?? ''),
            absint($_GET['order_id'] ?? 0),
            sanitize_text_field(wp_unslash((string) ($_GET['order_key'] ?? '')))
        )
        : 405;
    nocache_headers();
    status_header($status);
    exit;
}

/** Redirects customers who return from the service's page. Changes nothing and shows orders only to their customers. */
function card_checkout_return_to_order(): void
{
    nocache_headers();
    $payment_id = sanitize_text_field(wp_unslash((string) ($_GET['payment_id'] ?? '')));
    wp_safe_redirect(Card_Checkout_Return::url_for($payment_id));
    exit;
}

/** Checks open orders, because webhooks are sent only once, and open refunds, which have none. */
function card_checkout_check_open_orders(): void
{
    card_checkout_gateway()->orders()->check_open();
    card_checkout_gateway()->refunds()->check_open();
}

function card_checkout_schedule(): void
{
    if (wp_next_scheduled(CARD_CHECKOUT_HOURLY) === false) {
        wp_schedule_event(time(), 'hourly', CARD_CHECKOUT_HOURLY);
    }
}

function card_checkout_deactivate(): void
{
    wp_clear_scheduled_hook(CARD_CHECKOUT_HOURLY);
}
