<?php

declare(strict_types=1);

defined('WP_UNINSTALL_PLUGIN') || exit;

// Orders keep their payment ids, because the merchant needs them for accounting.
foreach (['woocommerce_card_checkout_settings', 'card_checkout_publication', 'card_checkout_webhooks'] as $option) {
    delete_option($option);
}
wp_clear_scheduled_hook('card_checkout_check_open_orders');
