<?php
/**
 * Sets up a shop in an unpacked WordPress: `php install-shop.php STEP`, with WP_ROOT, WP_HOME and SHOP_STORAGE (hpos or
 * posts) in the environment. The steps are install, activate, settings, a process each, because plugins are loaded from the
 * next request on. The last one prints the id of a product as JSON. Nothing is installed from the network.
 */
declare(strict_types=1);

$step = $argv[1] ?? '';
if ($step === 'install') {
    define('WP_INSTALLING', true);
}
$_SERVER['HTTP_HOST'] = parse_url((string) getenv('WP_HOME'), PHP_URL_HOST) . ':' . parse_url((string) getenv('WP_HOME'), PHP_URL_PORT);
$_SERVER['HTTPS'] = 'on';
$root = (string) getenv('WP_ROOT');
require "$root/wp-load.php";
require_once "$root/wp-admin/includes/upgrade.php";
require_once "$root/wp-admin/includes/plugin.php";

if ($step === 'install') {
    wp_install('Shop', 'admin', 'owner@shop.example', true, '', 'a password of the test');
    exit(0);
}
if ($step === 'activate') {
    foreach (['woocommerce/woocommerce.php', 'card-checkout/card-checkout.php'] as $plugin) {
        $result = activate_plugin($plugin);
        if (is_wp_error($result)) {
            fwrite(STDERR, $plugin . ': ' . $result->get_error_message());
            exit(1);
        }
    }
    exit(0);
}
WC_Install::create_pages();
WC_Install::create_tables();
update_option('woocommerce_currency', 'EUR');
update_option('woocommerce_default_country', 'DE');
update_option('woocommerce_coming_soon', 'no');
update_option('woocommerce_custom_orders_table_enabled', getenv('SHOP_STORAGE') === 'hpos' ? 'yes' : 'no');
wp_insert_post([
    'post_type' => 'page',
    'post_status' => 'publish',
    'post_name' => 'classic-checkout',
    'post_title' => 'Classic checkout',
    'post_content' => '[woocommerce_checkout]',
]);
update_option('permalink_structure', '/%postname%/');
flush_rewrite_rules();

$product = new WC_Product_Simple();
$product->set_name('Tea');
$product->set_regular_price('25');
$product->set_virtual(true);
$product->save();
update_option('woocommerce_card_checkout_settings', [
    'enabled' => 'yes',
    'title' => 'Card',
    'description' => 'You pay by card on the next page, and then return to the shop.',
    'service_url' => (string) getenv('SERVICE_URL'),
    'api_key' => (string) getenv('SERVICE_KEY'),
    'payout_address' => (string) getenv('PAYOUT_ADDRESS'),
]);
printf('%s', json_encode(['product' => $product->get_id()]));
