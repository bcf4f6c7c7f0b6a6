<?php

/** Refunds from the order page: scenarios of `test/woocommerce/scenarios.php`. */

declare(strict_types=1);

// Refunds to one address never have the same amount, and scenarios run at the same time. The service answers with a checksum.
define('CUSTOMER', '0x' . bin2hex(random_bytes(20)));

/** An order of 25.00 EUR that is paid by so many units of USDC, with the customer's address. */
function give_paid_order(Card_Checkout_Gateway $gateway, string $units = '26000000', string $address = CUSTOMER): int
{
    $id = Shop::give_order();
    $gateway->process_payment($id);
    control(['pay' => ['payment' => meta($id, 'payment_id'), 'units' => $units]]);
    same(deliver($id), 204, 'the webhook');
    type_into_box($id, ['card_checkout_refund_address' => $address]);
    return $id;
}

/** @param array<string, string> $fields of the order page, which is then saved */
function type_into_box(int $id, array $fields): void
{
    Shop::$cache = [];
    $_POST = $fields;
    run_hook('woocommerce_process_shop_order_meta', $id);
    $_POST = [];
    Shop::$cache = [];
}

/** What WooCommerce's refund form does. */
function refund(int $id, string $amount, string $reason = ''): string
{
    Shop::$cache = [];
    $answer = wc_create_refund([
        'order_id' => $id, 'amount' => $amount, 'reason' => $reason, 'refund_payment' => true, 'restock_items' => true,
        'line_items' => [7 => ['qty' => 1, 'refund_total' => $amount, 'refund_tax' => []]],
    ]);
    Shop::$cache = [];
    require_that($answer instanceof WP_Error, 'nothing is refunded yet');
    return $answer->get_error_message();
}

/** @return array<string, mixed> */
function open_refund(int $id): array
{
    return json_decode(meta($id, 'refund'), true) ?? [];
}

return [
    'opens a refund from WooCommerce’s form, and records it with its items when it is paid, once' => function (): void {
        $gateway = settle_in();
        $id = give_paid_order($gateway);
        same($gateway->can_refund_order(wc_get_order($id)), true, 'offered');
        require_that(str_contains(box($id), CUSTOMER), 'the address');
        $said = refund($id, '12.50', 'Returned');
        // Half of the charge is half of the USDC that arrived.
        require_that(str_contains(strtolower($said), 'transfer exactly 13.000000 usdc on polygon to ' . CUSTOMER), $said);
        same([count(Shop::$refunds), Shop::$saved[$id]['status']], [0, 'processing'], 'nothing is recorded yet');
        require_that(str_contains(box($id), 'ethereum:0x') && str_contains(box($id), '13.000000'), box($id));
        require_that(str_contains(refund($id, '12.50'), 'open already'), 'a second press');
        Shop::$cache = [];
        run_hook('card_checkout_check_open_orders');
        same(count(Shop::$refunds), 0, 'before the transfer');
        control(['payRefund' => ['refund' => open_refund($id)['refund']['refund_id']]]);
        $before = Shop::$saved[$id];
        Shop::$cache = [];
        run_hook('card_checkout_check_open_orders');
        [$recorded] = Shop::$refunds[$id];
        same($recorded->arguments['amount'], '12.50', 'the amount');
        same([$recorded->arguments['reason'], $recorded->arguments['restock_items']], ['Returned', true], 'the form');
        same(array_keys($recorded->arguments['line_items']), [7], 'the items');
        same($recorded->is_paid_by_gateway, true, 'not by hand');
        same(open_refund($id), [], 'the open refund');
        require_that(str_contains(strtolower(end(Shop::$saved[$id]['notes'])), '13.000000 usdc went to ' . CUSTOMER), 'the note');
        // A process that ended before it removed the open refund.
        Shop::$saved[$id] = $before;
        Shop::$cache = [];
        run_hook('card_checkout_check_open_orders');
        same([count(Shop::$refunds[$id]), open_refund($id)], [1, []], 'twice');
        // The rest of the order is the rest of the USDC.
        require_that(str_contains(refund($id, '12.50'), 'exactly 13.000000 USDC'), 'the rest');
        control(['payRefund' => ['refund' => open_refund($id)['refund']['refund_id']]]);
        Shop::$cache = [];
        run_hook('card_checkout_check_open_orders');
        same([count(Shop::$refunds[$id]), Shop::$saved[$id]['status']], [2, 'refunded'], 'the rest');
    },
    'asks the customer for the address by a link, and the merchant to confirm it' => function (): void {
        $id = give_paid_order(settle_in(), '26000000', '');
        $said = refund($id, '25');
        $link = open_refund($id)['refund']['address_url'];
        require_that(str_starts_with($link, 'https://') && str_contains($said, "Send the customer this link"), $said);
        require_that(str_contains(box($id), esc_attr($link)), 'the link is in the box');
        $check = function () use ($id): string {
            Shop::$cache = [];
            run_hook('card_checkout_check_open_orders');
            return box($id);
        };
        require_that(str_contains($check(), esc_attr($link)), 'the service does not answer the link again');
        control(['nameAddress' => ['refund' => open_refund($id)['refund']['refund_id'], 'address' => CUSTOMER]]);
        $named = $check();
        require_that(str_contains($named, 'Confirm address') && !str_contains($named, 'ethereum:'), $named);
        require_that(str_contains(strtolower($named), CUSTOMER) && !str_contains($named, esc_attr($link)), $named);
        $check();
        $notes = array_filter(Shop::$saved[$id]['notes'], static fn ($note) => str_contains($note, 'customer named'));
        same(count($notes), 1, 'a note, once');
        // The page of an earlier address confirms no other.
        type_into_box($id, ['card_checkout_refund_action' => 'confirm', 'card_checkout_refund_to' => WALLET]);
        same(open_refund($id)['refund']['status'], 'awaiting_confirmation', 'another address');
        $shown = open_refund($id)['refund']['destination'];
        type_into_box($id, ['card_checkout_refund_action' => 'confirm', 'card_checkout_refund_to' => $shown]);
        same(open_refund($id)['refund']['status'], 'awaiting_transfer', 'confirmed');
        require_that(str_contains(box($id), '26.000000') && str_contains(box($id), 'ethereum:'), box($id));
        control(['payRefund' => ['refund' => open_refund($id)['refund']['refund_id']]]);
        $check();
        same([count(Shop::$refunds[$id]), Shop::$saved[$id]['status']], [1, 'refunded'], 'recorded');
    },
    'opens no second refund when the answer to the first was lost' => function (): void {
        $id = give_paid_order(settle_in());
        $path = '/merchant/v1/payments/' . meta($id, 'payment_id') . '/refunds';
        control(['loseAnswerOf' => $path]);
        require_that(str_contains(refund($id, '25'), 'did not answer'), 'the first press');
        same(open_refund($id)['refund'], null, 'nothing is known');
        require_that(str_contains(refund($id, '25'), 'Check it in a minute'), 'a press at once');
        $open = open_refund($id);
        $open['asked_at'] -= 61;
        Shop::$saved[$id]['meta']['_card_checkout_refund'] = json_encode($open);
        require_that(str_contains(refund($id, '25'), 'open already. Transfer exactly 26.000000'), 'found by its reference');
        $posts = array_filter(Shop::$requests, static fn ($one) => str_ends_with($one['url'], '/refunds')
            && $one['arguments']['method'] === 'POST');
        same(count($posts), 1, 'requests that open a refund');
    },
    'forgets a refund that the service did not open, and says why it refuses one' => function (): void {
        $gateway = settle_in();
        $id = give_paid_order($gateway, '26000000', '');
        type_into_box($id, ['card_checkout_refund_address' => '0x123']);
        same(meta($id, 'refund_address'), '', 'an address that is none');
        type_into_box($id, ['card_checkout_refund_address' => WALLET]);
        require_that(str_contains(refund($id, '25'), 'must not be an address of the merchant'), 'the own wallet');
        type_into_box($id, ['card_checkout_refund_address' => CUSTOMER]);
        foreach (['0', '25.01', '-1'] as $amount) {
            same(open_refund($id), [], "before $amount");
            $answer = $gateway->process_refund($id, $amount);
            require_that(str_contains($answer->get_error_message(), 'at most the payment of 25.00 EUR'), $amount);
        }
        settle_in(['service_url' => 'http://127.0.0.1:9']);
        require_that(str_contains(refund($id, '25'), 'did not answer'), 'no service');
        same(open_refund($id), [], 'the status could not be read, so nothing was asked for');
        $unpaid = Shop::give_order();
        settle_in()->process_payment($unpaid);
        same(card_checkout_gateway()->can_refund_order(wc_get_order($unpaid)), false, 'unpaid');
        require_that(str_contains(refund($unpaid, '25'), 'Nothing was paid'), 'unpaid');
    },
    'cancels a refund that is not paid, and submits a transaction' => function (): void {
        $id = give_paid_order(settle_in());
        refund($id, '10');
        type_into_box($id, ['card_checkout_refund_action' => 'submit', 'card_checkout_refund_transaction' => '0x12']);
        require_that(str_contains(Shop::$options['transient card_checkout_outcome_0'], '400'), 'a hash that is none');
        $hash = '0x' . str_repeat('5b', 32);
        type_into_box($id, ['card_checkout_refund_action' => 'submit', 'card_checkout_refund_transaction' => $hash]);
        same(open_refund($id)['refund']['submitted_transaction'], $hash, 'submitted');
        require_that(str_contains(box($id), 'checked once it is final'), 'the box');
        type_into_box($id, ['card_checkout_refund_action' => 'cancel']);
        same([open_refund($id), count(Shop::$refunds)], [[], 0], 'canceled');
        require_that(str_contains(end(Shop::$saved[$id]['notes']), 'Nothing was refunded'), 'the note');
        require_that(str_contains(refund($id, '25'), 'exactly 26.000000'), 'all of it can be refunded again');
    },
    'says on the order that WooCommerce did not record a refund that was paid' => function (): void {
        $id = give_paid_order(settle_in());
        refund($id, '25');
        wc_create_refund(['order_id' => $id, 'amount' => '25', 'refund_payment' => false, 'reason' => 'by hand']);
        control(['payRefund' => ['refund' => open_refund($id)['refund']['refund_id']]]);
        Shop::$cache = [];
        run_hook('card_checkout_check_open_orders');
        same([count(Shop::$refunds[$id]), open_refund($id)], [1, []], 'recorded once');
        require_that(str_contains(end(Shop::$saved[$id]['notes']), 'did not record it (Invalid refund amount.)'), 'the note');
    },
    'escapes what the service answers of a refund' => function (): void {
        $id = give_paid_order(settle_in());
        refund($id, '25');
        $open = open_refund($id);
        $open['refund'] = ['payment_uri' => 'javascript:alert(1)', 'transaction_problem' => '<script>', 'address_url' => '"><script>']
            + $open['refund'];
        Shop::$saved[$id]['meta']['_card_checkout_refund'] = json_encode($open);
        require_that(!str_contains(box($id), '<script') && !str_contains(box($id), 'javascript:'), box($id));
    },
];
