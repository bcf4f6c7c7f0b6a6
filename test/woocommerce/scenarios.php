<?php
/**
 * What the plugin promises, against the real API: `php scenarios.php NAME` runs one, `php scenarios.php` lists them. The
 * service is at SERVICE_URL; how far its payments have come is set at SERVICE_URL/test-status.
 */
declare(strict_types=1);

require __DIR__ . '/wordpress-stubs.php';
require __DIR__ . '/blocks-stubs.php';
require dirname(__DIR__, 2) . '/plugins/woocommerce/card-checkout/card-checkout.php';

const WALLET = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';

/** @param array<string, string> $change */
function settle_in(array $change = []): Card_Checkout_Gateway
{
    run_hook('plugins_loaded');
    Shop::$options['woocommerce_card_checkout_settings'] = $change + [
        'enabled' => 'yes',
        'service_url' => (string) getenv('SERVICE_URL'),
        'api_key' => (string) getenv('SERVICE_KEY'),
        'payout_address' => WALLET,
    ];
    return card_checkout_gateway();
}

function call_it(string $status): void
{
    $context = stream_context_create(['http' => [
        'method' => 'POST',
        'header' => 'Content-Type: text/plain',
        'content' => $status,
    ]]);
    require_that(file_get_contents(getenv('SERVICE_URL') . '/test-status', false, $context) !== false, 'the status');
}

/** @param array<string, mixed> $what happens at the service */
function control(array $what): void
{
    $context = stream_context_create(['http' => [
        'method' => 'POST',
        'header' => 'Content-Type: text/plain',
        'content' => json_encode($what),
    ]]);
    require_that(file_get_contents(getenv('SERVICE_URL') . '/test-control', false, $context) !== false, 'the control');
}

function box(int $id): string
{
    Shop::$cache = [];
    return Card_Checkout_Admin::order_box_html(wc_get_order($id));
}

function meta(int $order_id, string $name): string
{
    return Shop::$saved[$order_id]['meta']["_card_checkout_$name"] ?? '';
}

/** @param array<string, mixed> $change */
function event_of(int $order_id, array $change = []): string
{
    return json_encode($change + [
        'event' => 'payment.paid',
        'paymentId' => meta($order_id, 'payment_id'),
        'timestamp' => time(),
    ]);
}

function deliver(int $order_id, ?string $body = null, ?string $signature = null, ?string $key = null): int
{
    // Each webhook is a request of its own.
    Shop::$cache = [];
    $body ??= event_of($order_id);
    $webhook = new Card_Checkout_Webhook(card_checkout_gateway()->orders());
    return $webhook->receive(
        $body,
        $signature ?? hash_hmac('sha256', $body, meta($order_id, 'ipn_token')),
        $order_id,
        $key ?? Shop::$saved[$order_id]['key']
    );
}

/** @return list<array{url: string, arguments: array<string, mixed>}> the creates that were sent */
function creates(): array
{
    return array_values(array_filter(Shop::$requests, static fn ($request) => str_ends_with($request['url'], '/wallet')));
}

/** @param array<string, string> $settings as the form sends them */
function save_settings(Card_Checkout_Gateway $gateway, array $settings): void
{
    Shop::$posted = $settings;
    Shop::$settings_errors = [];
    $gateway->errors = [];
    $gateway->process_admin_options();
}

function same(mixed $found, mixed $expected, string $what): void
{
    require_that($found === $expected, "$what: expected " . json_encode($expected) . ', found ' . json_encode($found));
}

$scenarios = [
    'creates a checkout and sends the customer there' => function (): void {
        $gateway = settle_in();
        $id = Shop::give_order('1234.5');
        $answer = $gateway->process_payment($id);
        same($answer['result'], 'success', 'result');
        same($answer['redirect'], meta($id, 'url'), 'redirect');
        $request = creates()[0];
        $body = json_decode($request['arguments']['body'], true);
        same([$body['amount'], $body['currency'], $body['address']], ['1234.50', 'EUR', WALLET], 'the request');
        parse_str((string) parse_url($body['callback'], PHP_URL_QUERY), $query);
        same([$query['wc-api'], (int) $query['order_id']], ['card_checkout', $id], 'the callback');
        require_that(str_starts_with(meta($id, 'ipn_token'), 'ipn_'), 'the token is kept');
        require_that(!str_contains($answer['redirect'], meta($id, 'ipn_token')), 'the token stays here');
    },
    'has one payment an order, however often the customer comes back' => function (): void {
        $gateway = settle_in();
        $id = Shop::give_order();
        $first = $gateway->process_payment($id)['redirect'];
        $payment = meta($id, 'payment_id');
        same($gateway->process_payment($id)['redirect'], $first, 'the second visit');
        // The answer was lost before it was kept.
        Shop::$saved[$id]['meta'] = [];
        Shop::$cache = [];
        same($gateway->process_payment($id)['redirect'], $first, 'after a lost answer');
        same(meta($id, 'payment_id'), $payment, 'the payment');
    },
    'makes another payment when the first was canceled' => function (): void {
        $gateway = settle_in();
        $id = Shop::give_order();
        $gateway->process_payment($id);
        $first = meta($id, 'payment_id');
        call_it('canceled');
        same($gateway->process_payment($id)['result'], 'success', 'result');
        require_that(meta($id, 'payment_id') !== $first, 'it is another one');
    },
    'completes the order by a genuine webhook, once' => function (): void {
        $gateway = settle_in();
        $id = Shop::give_order();
        $gateway->process_payment($id);
        call_it('paid');
        same(deliver($id), 204, 'the first');
        same(deliver($id), 204, 'the same again');
        card_checkout_check_open_orders();
        same([Shop::$completions, Shop::$saved[$id]['status']], [1, 'processing'], 'completed');
    },
    'refuses what is forged, altered, old, of another payment, or for another order' => function (): void {
        $gateway = settle_in();
        [$id, $other] = [Shop::give_order(), Shop::give_order()];
        $gateway->process_payment($id);
        $gateway->process_payment($other);
        call_it('paid');
        $body = event_of($id);
        $signature = hash_hmac('sha256', $body, meta($id, 'ipn_token'));
        same(deliver($id, $body, ''), 401, 'unsigned');
        same(deliver($id, $body, str_repeat('0', 64)), 401, 'forged');
        same(deliver($id, "$body ", $signature), 401, 'altered');
        same(deliver($id, $body, strtoupper($signature)), 401, 'written otherwise');
        same(deliver($id, event_of($id, ['timestamp' => time() - 301])), 401, 'old');
        same(deliver($id, event_of($other)), 401, 'of another payment');
        same(deliver($other, $body, $signature), 401, 'for another order');
        same(deliver($id, $body, $signature, 'wc_order_guessed'), 401, 'with another order key');
        same(deliver($id, 'no JSON'), 400, 'no JSON');
        same(deliver($id, str_repeat(' ', 65537)), 413, 'too long');
        same((new Card_Checkout_Webhook($gateway->orders()))->receive($body, $signature, 9999, 'x'), 401, 'no order');
        same(Shop::$completions, 0, 'completed');
    },
    'accepts a body that nobody would write again in the same way' => function (): void {
        $gateway = settle_in();
        $id = Shop::give_order();
        $gateway->process_payment($id);
        call_it('paid');
        $body = "{ \"timestamp\" : " . time() . ".0,\n\t\"paymentId\":\"" . meta($id, 'payment_id') . "\",\"note\":\"\\u00fc\" }\n";
        same(deliver($id, $body), 204, 'the answer');
        same(Shop::$completions, 1, 'completed');
    },
    'completes nothing that the service does not call paid, or that was charged otherwise' => function (): void {
        $gateway = settle_in();
        $id = Shop::give_order();
        $gateway->process_payment($id);
        same(deliver($id), 204, 'unpaid');
        same(Shop::$saved[$id]['status'], 'pending', 'status');
        call_it('paid');
        Shop::$saved[$id]['total'] = '26';
        same(deliver($id), 500, 'another amount');
        same([Shop::$completions, Shop::$saved[$id]['status']], [0, 'on-hold'], 'completed');
        same(Shop::$saved[$id]['notes'], ['Card checkout: the payment is over 25.00 EUR, the order over 26.00 EUR'], 'note');
    },
    'finds orders whose webhook was lost' => function (): void {
        $gateway = settle_in();
        [$id, $unpaid] = [Shop::give_order(), Shop::give_order()];
        $gateway->process_payment($id);
        call_it('paid');
        Shop::$cache = [];
        run_hook('card_checkout_check_open_orders');
        same([Shop::$completions, Shop::$saved[$unpaid]['status']], [1, 'pending'], 'completed');
    },
    'completes an order that is paid though the customer went back and chose another way to pay' => function (): void {
        $gateway = settle_in();
        [$id, $other] = [Shop::give_order(), Shop::give_order()];
        foreach ([$id, $other] as $each) {
            $gateway->process_payment($each);
            Shop::$saved[$each]['method'] = 'bacs';
            Shop::$saved[$each]['status'] = 'on-hold';
        }
        call_it('paid');
        same([deliver($id), Shop::$saved[$id]['status']], [204, 'processing'], 'the webhook');
        Shop::$cache = [];
        run_hook('card_checkout_check_open_orders');
        same(Shop::$saved[$other]['status'], 'processing', 'the look');
    },
    'puts an order on hold that is paid though it was cancelled, once, and leaves the rest to a hand' => function (): void {
        $gateway = settle_in();
        [$id, $other] = [Shop::give_order(), Shop::give_order()];
        foreach ([$id, $other] as $each) {
            $gateway->process_payment($each);
            Shop::$saved[$each]['status'] = 'cancelled';
        }
        call_it('paid');
        same(deliver($id), 204, 'the webhook');
        foreach ([1, 2] as $look) {
            Shop::$cache = [];
            run_hook('card_checkout_check_open_orders');
        }
        foreach ([$id, $other] as $each) {
            same([Shop::$saved[$each]['status'], count(Shop::$saved[$each]['notes'])], ['on-hold', 1], 'the order');
        }
        same(Shop::$completions, 0, 'completed');
    },
    'completes nothing that another request has completed, or is completing' => function (): void {
        $gateway = settle_in();
        $id = Shop::give_order();
        $gateway->process_payment($id);
        call_it('paid');
        Shop::$lock_answer = '0';
        same(deliver($id), 500, 'while the lock is held');
        Shop::$lock_answer = '1';
        Shop::$meanwhile = function () use ($id): void {
            Shop::$saved[$id]['status'] = 'processing';
        };
        same(deliver($id), 204, 'after another one');
        same(Shop::$completions, 0, 'completed');
    },
    'answers 500 while the service does not answer, and tells the customer nothing of it' => function (): void {
        $gateway = settle_in();
        $id = Shop::give_order();
        $gateway->process_payment($id);
        settle_in(['service_url' => 'http://127.0.0.1:9']);
        same(deliver($id), 500, 'the webhook');
        $broken = card_checkout_gateway()->process_payment(Shop::give_order());
        same($broken, ['result' => 'failure'], 'the checkout');
        [[$text, $type]] = Shop::$notices;
        require_that($type === 'error' && !str_contains($text, '127.0.0.1'), $text);
        require_that(str_contains(implode(' ', Shop::$log), 'connection refused'), 'it is in the log');
        require_that(!str_contains(implode(' ', Shop::$log), (string) getenv('SERVICE_KEY')), 'the key is not');
    },
    'says in the log why the service refused' => function (): void {
        $gateway = settle_in(['api_key' => 'service_live_wrong']);
        same($gateway->process_payment(Shop::give_order())['result'], 'failure', 'result');
        require_that(str_contains(Shop::$log[0] ?? '', '401'), Shop::$log[0] ?? 'nothing');
    },
    'is offered where it is set up, in its four currencies' => function (): void {
        same(settle_in()->is_available(), true, 'set up');
        same(run_hook('woocommerce_payment_gateways', []), ['Card_Checkout_Gateway'], 'registered');
        foreach (['enabled' => 'no', 'service_url' => '', 'api_key' => '', 'payout_address' => ''] as $key => $value) {
            same(settle_in([$key => $value])->is_available(), false, $key);
        }
        Shop::$currency = 'GBP';
        same(settle_in()->is_available(), false, 'GBP');
        same(card_checkout_gateway()->supports, ['products', 'refunds'], 'supports');
    },
    'takes settings that can be right, and shows what is wrong with others and keeps the old ones' => function (): void {
        $gateway = settle_in();
        $right = ['payout_address' => WALLET, 'service_url' => 'https://pay.example.com/'];
        save_settings($gateway, $right);
        same([$gateway->errors, $gateway->settings['service_url']], [[], 'https://pay.example.com'], 'right ones');
        foreach (['http://pay.example.com', 'https://pay.example.com/api', 'https://a@b.example', 'pay.example.com', 'https://x?y', 'https://', 'javascript:1'] as $url) {
            save_settings($gateway, ['service_url' => $url] + $right);
            same([count(Shop::$settings_errors), $gateway->settings['service_url']], [1, 'https://pay.example.com'], $url);
        }
        foreach (['0x1', WALLET . '0', WALLET . "\n0", 'bc1q'] as $address) {
            save_settings($gateway, ['payout_address' => $address] + $right);
            same([count(Shop::$settings_errors), $gateway->settings['payout_address']], [1, WALLET], $address);
        }
    },
    'keeps the API key that is saved when the field is empty, and never shows it' => function (): void {
        $gateway = settle_in();
        $key = (string) getenv('SERVICE_KEY');
        save_settings($gateway, ['api_key' => '', 'payout_address' => WALLET]);
        same([Shop::$settings_errors, $gateway->settings['api_key']], [[], $key], 'empty');
        save_settings($gateway, ['api_key' => 'sk_live_other', 'payout_address' => WALLET]);
        same([count(Shop::$settings_errors), $gateway->settings['api_key']], [1, $key], 'not a key');
        $html = $gateway->generate_card_checkout_key_html('api_key', $gateway->form_fields['api_key']);
        require_that(!str_contains($html, substr($key, 0, 20)) && str_contains($html, 'value=""'), 'the key is in the page');
        require_that(str_contains($html, substr($key, -4)), 'its last characters are not');
    },
    'connects in one click, once, and keeps the wallet that the merchant entered' => function (): void {
        settle_in(['api_key' => '']);
        $url = Card_Checkout_Connect::begin();
        parse_str((string) parse_url($url, PHP_URL_QUERY), $asked);
        same([$asked['name'], $asked['scopes']], ['Tea & Biscuits', 'create,read,refund'], 'asked');
        $pending = json_decode(Shop::$options['transient card_checkout_connect_0'], true);
        require_that(!str_contains($url, $pending['verifier']), 'the verifier stays here');
        parse_str((string) parse_url((string) file_get_contents($url), PHP_URL_QUERY), $back);
        same([$back['action'], $back['state']], ['card_checkout_connected', $pending['state']], 'back');
        same(Card_Checkout_Connect::finish($back['code'], $back['state']), 'The shop is connected. Check the payout wallet below.', 'outcome');
        $settings = Shop::$options['woocommerce_card_checkout_settings'];
        require_that(str_starts_with($settings['api_key'], 'service_live_'), 'a key');
        same($settings['payout_address'], WALLET, 'the wallet');
        $id = Shop::give_order();
        same(card_checkout_gateway()->process_payment($id)['result'], 'success', implode(' ', Shop::$log));
        require_that(
            str_contains(Card_Checkout_Connect::finish($back['code'], $back['state']), 'was not started here'),
            'only once'
        );
        same(Shop::$options['woocommerce_card_checkout_settings'], $settings, 'unchanged');
    },
    'takes the account’s wallet where the merchant entered none' => function (): void {
        settle_in(['api_key' => '', 'payout_address' => '']);
        parse_str((string) parse_url((string) file_get_contents((string) Card_Checkout_Connect::begin()), PHP_URL_QUERY), $back);
        Card_Checkout_Connect::finish($back['code'], $back['state']);
        same(Shop::$options['woocommerce_card_checkout_settings']['payout_address'], '0x52908400098527886E0F7030069857D2E4169EE7', 'wallet');
    },
    'connects nothing with a foreign state, a foreign code or another service' => function (): void {
        settle_in();
        $before = Shop::$options['woocommerce_card_checkout_settings'];
        same(Card_Checkout_Connect::finish('code', 'state'), 'The connection was not started here, or took too long. Start it again.', 'unasked');
        parse_str((string) parse_url((string) file_get_contents((string) Card_Checkout_Connect::begin()), PHP_URL_QUERY), $back);
        require_that(str_contains(Card_Checkout_Connect::finish($back['code'], 'another-state'), 'was not started here'), 'state');
        require_that(isset(Shop::$options['transient card_checkout_connect_0']), 'a foreign link ends nothing');
        Card_Checkout_Connect::begin();
        $state = json_decode(Shop::$options['transient card_checkout_connect_0'], true)['state'];
        require_that(str_contains(Card_Checkout_Connect::finish($back['code'], $state), 'Start the connection again'), 'a code for another verifier');
        Card_Checkout_Connect::begin();
        $state = json_decode(Shop::$options['transient card_checkout_connect_0'], true)['state'];
        Shop::$options['woocommerce_card_checkout_settings']['service_url'] = 'https://other.example';
        require_that(str_contains(Card_Checkout_Connect::finish('code', $state), 'was changed meanwhile'), 'another service');
        Shop::$options['woocommerce_card_checkout_settings']['service_url'] = $before['service_url'];
        same(Shop::$options['woocommerce_card_checkout_settings'], $before, 'unchanged');
        settle_in(['service_url' => '']);
        same(Card_Checkout_Connect::begin(), null, 'without a service');
    },
    'tests the connection when the settings are saved, and says what is wrong' => function (): void {
        $gateway = settle_in();
        $gateway->check_connection();
        same(Shop::$options['card_checkout_publication']['chain_id'], 137, 'the contracts');
        require_that(str_contains(Card_Checkout_Admin::connection_html(), 'chain 137'), 'the page');
        foreach (Shop::$requests as $request) {
            $has_key = isset($request['arguments']['headers']['X-API-Key']);
            same($has_key, !str_contains($request['url'], '.well-known'), 'the key in ' . $request['url']);
        }
        Shop::$options['woocommerce_card_checkout_settings']['service_url'] = 'http://127.0.0.1:9';
        save_settings(card_checkout_gateway(), ['enabled' => 'yes', 'service_url' => 'http://127.0.0.1:9', 'payout_address' => WALLET]);
        same(count(Shop::$settings_errors), 1, 'no service');
        require_that(str_contains(Shop::$settings_errors[0], 'did not answer'), Shop::$settings_errors[0]);
        try {
            settle_in(['api_key' => 'service_live_wrong_wrong_wrong'])->check_connection();
            throw new LogicException('a wrong key passes');
        } catch (Card_Checkout_Exception $exception) {
            require_that(str_contains($exception->getMessage(), '401'), $exception->getMessage());
        }
    },
    'redirects no customer to a deposit address that could pay another wallet' => function (): void {
        $gateway = settle_in();
        $gateway->check_connection();
        $accepted = Shop::$options['card_checkout_publication'];
        foreach (['factories', 'fee_wallets'] as $part) {
            $other = $accepted;
            $other[$part] = $part === 'factories' ? [['address' => WALLET]] : [WALLET];
            Shop::$options['card_checkout_publication'] = $other;
            same($gateway->process_payment(Shop::give_order())['result'], 'failure', $part);
            require_that(str_contains(end(Shop::$log), 'could pay another wallet'), end(Shop::$log));
        }
        Shop::$options['card_checkout_publication'] = $accepted;
        same($gateway->process_payment(Shop::give_order())['result'], 'success', 'the accepted contracts');
        same(get_option('card_checkout_publication'), $accepted, 'accepted only by a test of the connection');
    },
    'remembers the last webhook that was accepted and the last one that was not, with the reason' => function (): void {
        $gateway = settle_in();
        $id = Shop::give_order();
        $gateway->process_payment($id);
        deliver($id, null, str_repeat('0', 64));
        same(Card_Checkout_Webhook::last()['reason'], 'The signature is wrong.', 'rejected');
        // Forged webhooks do not write on and on.
        deliver($id, 'no JSON');
        same(Card_Checkout_Webhook::last()['reason'], 'The signature is wrong.', 'again');
        call_it('paid');
        deliver($id);
        require_that(time() - Card_Checkout_Webhook::last()['accepted_at'] < 60, 'accepted');
        $html = Card_Checkout_Admin::connection_html();
        require_that(str_contains($html, 'Last rejected webhook') && str_contains($html, 'Last accepted webhook'), $html);
    },
    'shows the payment on the order page, and its token nowhere' => function (): void {
        $gateway = settle_in();
        $id = Shop::give_order();
        require_that(str_contains(Card_Checkout_Admin::order_box_html(wc_get_order($id)), 'no payment'), 'none');
        $gateway->process_payment($id);
        require_that(str_contains(Card_Checkout_Admin::order_box_html(wc_get_order($id)), 'Open'), 'open');
        call_it('paid');
        deliver($id);
        Shop::$cache = [];
        $html = Card_Checkout_Admin::order_box_html(wc_get_order($id));
        require_that(str_contains($html, meta($id, 'payment_id')) && str_contains($html, 'Check now'), $html);
        require_that(!str_contains($html . json_encode(Shop::$saved[$id]['notes']), meta($id, 'ipn_token')), 'the token');
        same(count(Shop::$saved[$id]['notes']), 1, 'notes');
        require_that(str_contains(Shop::$saved[$id]['notes'][0], meta($id, 'payment_id')), Shop::$saved[$id]['notes'][0]);
    },
    'cancels the order of a payment that expired, unless the customer pays in another way' => function (): void {
        $gateway = settle_in();
        [$id, $other] = [Shop::give_order(), Shop::give_order()];
        foreach ([$id, $other] as $each) {
            $gateway->process_payment($each);
        }
        Shop::$saved[$other]['method'] = 'bacs';
        call_it('canceled');
        foreach ([1, 2] as $check) {
            Shop::$cache = [];
            run_hook('card_checkout_check_open_orders');
        }
        same([Shop::$saved[$id]['status'], count(Shop::$saved[$id]['notes'])], ['cancelled', 1], 'expired');
        same(Shop::$saved[$other]['status'], 'pending', 'another method');
    },
    'keeps open orders from WooCommerce’s own clean-up, others not' => function (): void {
        $gateway = settle_in();
        [$id, $other] = [Shop::give_order(), Shop::give_order()];
        $gateway->process_payment($id);
        same(run_hook('woocommerce_cancel_unpaid_order', true, wc_get_order($id)), false, 'with a payment');
        same(run_hook('woocommerce_cancel_unpaid_order', true, wc_get_order($other)), true, 'without one');
    },
    'sends no address that the service would refuse the order for' => function (): void {
        $gateway = settle_in();
        $id = Shop::give_order();
        Shop::$saved[$id]['email'] = 'jürgen@müller.example';
        same($gateway->process_payment($id)['result'], 'success', 'result');
        same(json_decode(creates()[0]['arguments']['body'], true)['email'], null, 'email');
    },
    'is offered in the checkout of blocks with what is no secret' => function (): void {
        settle_in(['title' => 'Pay by card']);
        run_hook('woocommerce_blocks_loaded');
        $registry = new class {
            public ?object $registered = null;
            public function register(object $method): void { $this->registered = $method; }
        };
        run_hook('woocommerce_blocks_payment_method_type_registration', $registry);
        $block = $registry->registered;
        $block->initialize();
        same([$block->get_name(), $block->is_active()], ['card_checkout', true], 'block');
        same($block->get_payment_method_script_handles(), ['card-checkout-block'], 'script');
        $data = $block->get_payment_method_data();
        same([array_keys($data), $data['title']], [['title', 'description', 'supports'], 'Pay by card'], 'data');
    },
    'looks hourly from its activation to its deactivation' => function (): void {
        run_hook('activate');
        require_that(wp_next_scheduled('card_checkout_check_open_orders') !== false, 'scheduled');
        run_hook('deactivate');
        same(wp_next_scheduled('card_checkout_check_open_orders'), false, 'scheduled');
        run_hook('before_woocommerce_init');
    },
];
foreach (['edges', 'refunds'] as $name) {
    $scenarios += require dirname(__DIR__, 2) . "/plugins/woocommerce/tests/$name.php";
}

$name = $argv[1] ?? null;
if ($name === null) {
    echo json_encode(array_keys($scenarios)), "\n";
    exit(0);
}
$scenarios[$name]();
echo "ok\n";
