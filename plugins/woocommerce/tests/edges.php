<?php

/**
 * Orders at the edges, and neighbors that behave badly: scenarios of `test/woocommerce/scenarios.php`, which runs them
 * with its stubs of WordPress against the service's real API.
 */

declare(strict_types=1);

/** The hourly check in a request of its own. */
function check_hourly(): void
{
    Shop::$cache = [];
    run_hook('card_checkout_check_open_orders');
}

/** @return array{string, int} the order's status, and how many of its notes contain the text */
function told(int $id, string $text): array
{
    $notes = array_filter(Shop::$saved[$id]['notes'], static fn (string $note): bool => str_contains($note, $text));
    return [Shop::$saved[$id]['status'], count($notes)];
}

/** Pays the order in another way, after the customer started a card payment. */
function start_and_pay_elsewhere(Card_Checkout_Gateway $gateway, string $status): int
{
    $id = Shop::give_order();
    $gateway->process_payment($id);
    Shop::$saved[$id] = ['method' => 'stripe', 'status' => $status] + Shop::$saved[$id];
    return $id;
}

return [
    'tells of money for an order that was paid or refunded in another way, once, and completes nothing' => function (): void {
        $gateway = settle_in();
        foreach (['processing', 'completed', 'refunded', 'shipped'] as $status) {
            $id = start_and_pay_elsewhere($gateway, $status);
            call_it('paid');
            same(deliver($id), 204, 'the webhook');
            same(deliver($id), 204, 'the webhook again');
            check_hourly();
            same(told($id, 'does not need'), [$status, 1], $status);
            require_that(str_contains(implode(' ', Shop::$log), "order $id:"), "the log of $status");
            call_it('');
        }
        $draft = start_and_pay_elsewhere($gateway, 'checkout-draft');
        call_it('paid');
        deliver($draft);
        same(told($draft, 'does not need'), ['on-hold', 1], 'WooCommerce deletes drafts');
        same(Shop::$completions, 0, 'completions');
    },
    'finds money for an order that was paid in another way when its webhook is lost' => function (): void {
        $id = start_and_pay_elsewhere(settle_in(), 'completed');
        check_hourly();
        same(told($id, 'does not need'), ['completed', 0], 'unpaid');
        foreach (['canceled/manual_required/23.5', 'canceled/completed/23.5'] as $nth => $status) {
            call_it($status);
            check_hourly();
            check_hourly();
            same(told($id, 'does not need'), ['completed', $nth + 1], $status);
        }
    },
    'puts an order from the trash on hold when its payment arrives' => function (): void {
        $gateway = settle_in();
        [$id, $partly] = [Shop::give_order(), Shop::give_order()];
        foreach ([$id, $partly] as $each) {
            $gateway->process_payment($each);
            Shop::$saved[$each]['status'] = 'trash';
        }
        call_it('canceled/manual_required/3');
        same(deliver($partly), 204, 'late money');
        same(told($partly, '3 USDC arrived'), ['on-hold', 1], 'late money');
        call_it('paid');
        check_hourly();
        foreach ([$id, $partly] as $each) {
            same(told($each, 'moved to the trash'), ['on-hold', 1], 'found by the hourly check');
        }
        same(Shop::$completions, 0, 'completions');
    },
    'completes no copy of an order by the payment of the first' => function (): void {
        $id = give_paid_order(settle_in());
        refund($id, '25');
        foreach ([[], ['_card_checkout_owner']] as $lost) {
            $copy = Shop::give_order();
            Shop::$saved[$copy]['meta'] = array_diff_key(
                Shop::$saved[$id]['meta'],
                array_flip([...$lost, '_card_checkout_completed_by', '_card_checkout_noted'])
            );
            check_hourly();
            same(deliver($copy), $lost === [] ? 401 : 204, 'a webhook');
            same([Shop::$saved[$copy]['status'], Shop::$saved[$copy]['notes']], ['pending', []], 'the copy');
        }
        same(Shop::$completions, 1, 'completions');
        same(card_checkout_gateway()->process_payment($copy)['result'], 'success', 'the copy can be paid');
        require_that(meta($copy, 'payment_id') !== meta($id, 'payment_id'), 'by a payment of its own');
    },
    'completes an order of version 0.1.0, which saved no owner' => function (): void {
        $id = Shop::give_order();
        settle_in()->process_payment($id);
        unset(Shop::$saved[$id]['meta']['_card_checkout_owner'], Shop::$saved[$id]['meta']['_card_checkout_unsettled']);
        call_it('paid');
        check_hourly();
        same([Shop::$saved[$id]['status'], Shop::$completions], ['processing', 1], 'the order');
        // Refunded since: its payment is no second one.
        Shop::$saved[$id]['status'] = 'refunded';
        unset(Shop::$saved[$id]['meta']['_card_checkout_completed_by']);
        same([deliver($id), told($id, 'does not need')], [204, ['refunded', 0]], 'refunded');
    },
    'replaces the payment of a changed order, and tells of money for the replaced one' => function (): void {
        $gateway = settle_in();
        $id = Shop::give_order();
        $first = $gateway->process_payment($id)['redirect'];
        [$payment, $token] = [meta($id, 'payment_id'), meta($id, 'ipn_token')];
        Shop::$saved[$id]['total'] = '30';
        Shop::$cache = [];
        $second = $gateway->process_payment($id)['redirect'];
        require_that($second !== $first, 'another payment');
        same($gateway->process_payment($id)['redirect'], $second, 'the same again');
        Shop::$cache = [];
        call_it('paid/completed/23.5');
        $body = event_of($id, ['paymentId' => $payment]);
        same(deliver($id, $body, hash_hmac('sha256', $body, meta($id, 'ipn_token'))), 401, 'signed by the other token');
        same(deliver($id, $body, hash_hmac('sha256', $body, $token)), 204, 'the replaced one');
        same(told($id, "by payment $payment"), ['on-hold', 1], 'told');
        same(Shop::$completions, 0, 'completed by another amount');
        // The new payment is charged 30.00 and completes the order.
        check_hourly();
        same([told($id, "by payment $payment"), Shop::$completions], [['processing', 1], 1], 'the new one');
    },
    'makes no second payment for a changed order when money is on its way' => function (): void {
        $gateway = settle_in();
        $id = Shop::give_order();
        $gateway->process_payment($id);
        call_it('unpaid/processing/23.5');
        Shop::$saved[$id]['total'] = '30';
        Shop::$cache = [];
        same($gateway->process_payment($id)['result'], 'failure', 'result');
        require_that(str_contains(Shop::$notices[0][0], 'contact the shop'), Shop::$notices[0][0]);
        same(count(creates()), 1, 'creates');
    },
    'can be paid after a lost answer, also when email, total or wallet changed meanwhile' => function (): void {
        foreach (['email' => 'corrected@shop.example', 'total' => '26', 'wallet' => CUSTOMER] as $field => $value) {
            $gateway = settle_in();
            $id = Shop::give_order();
            control(['loseAnswerOf' => '/api/v1/wallet']);
            same($gateway->process_payment($id)['result'], 'failure', "lost before $field");
            same(end(Shop::$notices)[0], 'The payment could not be started. Please try again.', 'notice');
            if ($field === 'wallet') {
                $gateway = settle_in(['payout_address' => $value]);
            } else {
                Shop::$saved[$id][$field] = $value;
            }
            Shop::$cache = [];
            same($gateway->process_payment($id)['result'], 'success', "$field changed");
        }
    },
    'makes another payment when the service does not know the first any more' => function (): void {
        $gateway = settle_in();
        $id = Shop::give_order();
        $gateway->process_payment($id);
        $gone = '00000000-0000-7000-8000-000000000000';
        Shop::$saved[$id]['meta']['_card_checkout_payment_id'] = $gone;
        Shop::$cache = [];
        same($gateway->process_payment($id)['result'], 'success', implode(' ', Shop::$log));
        require_that(meta($id, 'payment_id') !== $gone, 'another payment');
    },
    'returns only the customer of an order to it' => function (): void {
        $gateway = settle_in();
        $id = Shop::give_order();
        $gateway->process_payment($id);
        $payment = meta($id, 'payment_id');
        $order = wc_get_order($id);
        $name = "card_checkout_$payment";
        $_COOKIE[$name] = Card_Checkout_Return::cookie($order, $payment, time() + 60);
        same(Card_Checkout_Return::url_for($payment), "https://shop.example/order-received/$id", 'the customer');
        $other = Shop::give_order();
        $forged = [
            Card_Checkout_Return::cookie($order, $payment, time() - 1),
            Card_Checkout_Return::cookie($order, '00000000-0000-7000-8000-000000000000', time() + 60),
            Card_Checkout_Return::cookie(wc_get_order($other), 'x', time() + 60),
            str_replace("$id.", "$other.", $_COOKIE[$name]),
            preg_replace('/\.\d+\./', '.' . (time() + 999) . '.', $_COOKIE[$name]),
            "$_COOKIE[$name]0",
            ['x'],
        ];
        foreach ($forged as $_COOKIE[$name]) {
            same(Card_Checkout_Return::url_for($payment), 'https://shop.example/myaccount', 'another browser');
        }
        foreach (['', 'x', '00000000-0000-0000-0000-000000000000', "$payment'"] as $unknown) {
            same(Card_Checkout_Return::url_for($unknown), 'https://shop.example/shop', "unknown $unknown");
        }
    },
    'shows no token and no link in WooCommerce’s REST API' => function (): void {
        $id = Shop::give_order();
        settle_in()->process_payment($id);
        $fields = [['id' => 1, 'key' => '_other', 'value' => 'kept']];
        foreach (Shop::$saved[$id]['meta'] as $key => $value) {
            $fields[] = new WC_Meta_Data(['id' => 2, 'key' => $key, 'value' => $value]);
        }
        foreach (['shop_order', 'shop_subscription'] as $type) {
            $response = run_hook("woocommerce_rest_prepare_{$type}_object", new WP_REST_Response(['meta_data' => $fields]));
            $shown = json_encode(array_map(
                static fn (mixed $field): array => $field instanceof WC_Meta_Data ? $field->get_data() : $field,
                $response->get_data()['meta_data']
            ));
            require_that(str_contains($shown, meta($id, 'payment_id')) && str_contains($shown, '_other'), $shown);
            require_that(!str_contains($shown, meta($id, 'ipn_token')) && !str_contains($shown, '/pay/'), $shown);
        }
        same(run_hook('woocommerce_rest_prepare_shop_order_object', null), null, 'what another filter broke');
    },
    'is not offered where a create must fail, and says why' => function (): void {
        $gateway = settle_in();
        foreach (['10000' => true, '10000.01' => false, '0.01' => true, '0.004' => false, '0' => true] as $total => $is_offered) {
            Shop::$cart_total = (float) $total;
            same($gateway->is_available(), $is_offered, "a cart of $total");
        }
        Shop::$cart_total = 0.0;
        Shop::$currency = 'GBP';
        Shop::$order_to_pay = Shop::give_order('25', 'USD');
        same($gateway->is_available(), true, 'an order in USD of a shop in GBP');
        Shop::$currency = 'USD';
        foreach (['GBP' => '25', 'USD' => '12000'] as $currency => $total) {
            Shop::$order_to_pay = Shop::give_order($total, $currency);
            same($gateway->is_available(), false, "an order of $total $currency");
            same($gateway->process_payment(Shop::$order_to_pay)['result'], 'failure', 'payment');
            require_that(str_contains(end(Shop::$notices)[0], 'choose another one'), end(Shop::$notices)[0]);
            require_that(str_contains(end(Shop::$log), "$total.00 $currency"), end(Shop::$log));
        }
        same(creates(), [], 'creates');
        Shop::$order_to_pay = 0;
        Shop::$url = 'http://shop.example';
        same($gateway->is_available(), false, 'a webhook over http');
        require_that(str_contains((string) $gateway->obstacle(), 'https://'), (string) $gateway->obstacle());
    },
    'stands filters of other plugins that return nothing' => function (): void {
        $gateway = settle_in();
        $id = Shop::give_order();
        $gateway->process_payment($id);
        same(run_hook('woocommerce_cancel_unpaid_order', null, wc_get_order($id)), false, 'null');
        same(run_hook('woocommerce_cancel_unpaid_order', 'yes', null), true, 'no order');
        foreach ([null, false, 'x', new stdClass()] as $broken) {
            same(run_hook('woocommerce_payment_gateways', $broken), ['Card_Checkout_Gateway'], 'gateways');
            same(count(run_hook('plugin_action_links_card-checkout/card-checkout.php', $broken)), 1, 'links');
            Card_Checkout_Refunds::remember_form(null, $broken);
            same(Card_Checkout_Amount::cents($broken), 0, 'a total');
        }
        run_hook('woocommerce_process_shop_order_meta', (string) $id);
        run_hook('woocommerce_process_shop_order_meta', null);
        same($gateway->process_payment(null), ['result' => 'failure'], 'no order to pay');
        require_that($gateway->process_refund(null, null, '') instanceof WP_Error, 'no order to refund');
        same($gateway->can_refund_order(null), false, 'no order to offer a refund for');
        Shop::$options['woocommerce_card_checkout_settings'] = ['enabled' => 'yes', 'title' => null, 'service_url' => ['x']];
        same(card_checkout_gateway()->is_available(), false, 'broken settings');
    },
    'checks hourly on every site, also where no activation hook ran' => function (): void {
        settle_in();
        same(wp_next_scheduled('card_checkout_check_open_orders'), false, 'before');
        run_hook('init');
        $at = wp_next_scheduled('card_checkout_check_open_orders');
        require_that($at !== false, 'scheduled');
        Shop::$options['cron card_checkout_check_open_orders'] = $at - 5;
        run_hook('init');
        same(wp_next_scheduled('card_checkout_check_open_orders'), $at - 5, 'once');
    },
    'ends the hourly check of an order whose payments cannot change any more' => function (): void {
        $gateway = settle_in();
        $id = Shop::give_order();
        $gateway->process_payment($id);
        call_it('canceled');
        check_hourly();
        require_that(meta($id, 'unsettled') !== '', 'late money can arrive');
        Shop::$saved[$id]['meta']['_card_checkout_unsettled'] = (string) (time() - 10 * DAY_IN_SECONDS);
        check_hourly();
        same(meta($id, 'unsettled'), '', 'after ten days');
    },
    'gives up the hourly check after three requests without a response' => function (): void {
        $gateway = settle_in();
        for ($nth = 0; $nth < 6; $nth++) {
            $gateway->process_payment(Shop::give_order());
        }
        settle_in(['service_url' => 'http://127.0.0.1:9']);
        Shop::$cache = [];
        card_checkout_check_open_orders();
        same(count(Shop::$log), 3, 'requests');
    },
];
