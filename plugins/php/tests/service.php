<?php

/**
 * The library and its example shop with a real service: `php tests/service.php`, with SERVICE_URL and SERVICE_KEY.
 * `test/woocommerce/plugin.test.ts` runs it; the paths below `/test-` are its own.
 */

declare(strict_types=1);

use CardCheckout\AuthenticationException;
use CardCheckout\Client;
use CardCheckout\ConflictException;
use CardCheckout\CurlTransport;
use CardCheckout\DepositAddress;
use CardCheckout\DepositAddressException;
use CardCheckout\InvalidRequestException;
use CardCheckout\NotFoundException;
use CardCheckout\Webhook;

require __DIR__ . '/support.php';

const WALLET = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';

$service = (string) getenv('SERVICE_URL');
$key = (string) getenv('SERVICE_KEY');
$client = new Client($service, $key);
$parameters = ['address' => WALLET, 'callback' => 'https://shop.example/webhook', 'amount' => '25.00', 'currency' => 'USD'];
$order = bin2hex(random_bytes(8));
/** @param array<string, mixed> $what happens at the service */
$control = static function (array $what) use ($service): void {
    $answer = (new CurlTransport())->send('POST', "$service/test-control", [], json_encode($what));
    same($answer->status, 200, $answer->body);
};

$payment = $client->create($parameters, $order);
same($client->create($parameters, $order)['payment_id'], $payment['payment_id'], 'a repetition');
thrown(ConflictException::class, static fn () => $client->create(['amount' => '26.00'] + $parameters, $order));
$refused = thrown(InvalidRequestException::class, static fn () => $client->create(['amount' => '10001'] + $parameters));
same(str_contains($refused->getMessage(), 'amount'), true, $refused->getMessage());
$control(['loseAnswerOf' => '/api/v1/wallet']);
same($client->create($parameters, "$order-lost")['status'], 'unpaid', 'a lost answer');
thrown(AuthenticationException::class, static fn () => (new Client($service, 'service_live_wrong'))->checkKey());
$client->checkKey();
$unknown = '00000000-0000-7000-8000-000000000000';
thrown(NotFoundException::class, static fn () => $client->status($unknown));

$publication = $client->publication();
DepositAddress::verify($payment, WALLET, $publication);
$other = '0x52908400098527886E0F7030069857D2E4169EE7';
thrown(DepositAddressException::class, static fn () => DepositAddress::verify($payment, $other, $publication));

$canceled = $client->create($parameters, "$order-canceled")['payment_id'];
same($client->cancel($canceled)['status'], 'canceled', 'canceled');
same($client->payment($canceled)['status'], 'canceled', 'payment');

$control(['pay' => ['payment' => $payment['payment_id'], 'units' => '26000000']]);
same($client->status($payment['payment_id'])['status'], 'paid', 'paid');
$listed = $client->payments(['search' => $payment['payment_id']])['payments'];
same(array_column($listed, 'payment_id'), [$payment['payment_id']], 'found');
same(is_array($client->events(null, 1)['events']), true, 'events');
$refund = $client->openRefund($payment['payment_id'], ['amount' => '5.00', 'reason' => 'Returned'], "$order-refund");
same($client->refund($refund['refund_id'])['status'], 'awaiting_address', 'refund');
same(count($client->refunds($payment['payment_id'])), 1, 'refunds');
same($client->cancelRefund($refund['refund_id'])['status'], 'canceled', 'canceled refund');

// A customer of the example shop.
$orders = tempnam(sys_get_temp_dir(), 'card-checkout-shop-');
$shop = start_server(dirname(__DIR__) . '/examples/shop.php', [
    'CARD_CHECKOUT_URL' => $service, 'CARD_CHECKOUT_KEY' => $key, 'PAYOUT_ADDRESS' => WALLET,
    'CALLBACK_URL' => 'https://shop.example/webhook', 'ORDERS_FILE' => $orders,
]);
$database = new PDO("sqlite:$orders");
$read = static fn (string $column): string => (string) $database->query("SELECT $column FROM orders")->fetchColumn();
$fetch = static function (string $method, string $path, array $headers = [], ?string $body = null) use ($shop): string {
    $answer = (new CurlTransport())->send($method, $shop . $path, $headers, $body);
    return "$answer->status $answer->body";
};
same(str_contains($fetch('GET', '/'), '<button>Buy for 25.00 USD'), true, 'the page');
same(substr($fetch('POST', '/buy'), 0, 3), '303', 'the redirect');
$cookie = ['Cookie' => 'order=' . $read('id')];
same(str_contains($fetch('GET', '/order', $cookie), 'Not paid yet'), true, 'unpaid');
same(str_contains($fetch('GET', '/order', ['Cookie' => 'order=other']), 'no such order'), true, 'another browser');
$id = $read('payment_id');
$event = json_encode(['event' => 'payment.paid', 'paymentId' => $id, 'timestamp' => time()]);
$signed = ['X-Service-Signature' => Webhook::sign($event, $read('ipn_token'))];
same($fetch('POST', '/webhook', $signed, $event), '204 ', 'a webhook of an unpaid payment');
same($read('fulfilled_at'), '', 'not fulfilled');
$control(['pay' => ['payment' => $id, 'units' => '26000000']]);
same($fetch('POST', '/webhook', ['X-Service-Signature' => str_repeat('0', 64)], $event), '401 ', 'forged');
same($fetch('POST', '/webhook', $signed, str_replace($id, $unknown, $event)), '401 ', 'an unknown payment');
same($fetch('POST', '/webhook', $signed, $event), '204 ', 'the webhook');
same($read('fulfilled_at') !== '', true, 'fulfilled');
same(str_contains($fetch('GET', '/order', $cookie), 'on its way'), true, 'paid');
array_map('unlink', glob("$orders*") ?: []);
echo "ok\n";
