<?php

/** Tests of the library: `php tests/run.php`. Traffic stays on this machine, in a server that the test starts and ends. */

declare(strict_types=1);

use CardCheckout\ApiException;
use CardCheckout\AuthenticationException;
use CardCheckout\CheckoutException;
use CardCheckout\Client;
use CardCheckout\ConflictException;
use CardCheckout\ConnectionException;
use CardCheckout\CurlTransport;
use CardCheckout\DepositAddress;
use CardCheckout\DepositAddressException;
use CardCheckout\InvalidRequestException;
use CardCheckout\Keccak;
use CardCheckout\NotFoundException;
use CardCheckout\RateLimitException;
use CardCheckout\ServiceException;
use CardCheckout\Webhook;
use CardCheckout\WebhookException;

require __DIR__ . '/support.php';

$url = start_server(__DIR__ . '/server.php');
/** A client of one answer of tests/server.php. */
$at = static fn (string $path, int $retries = 0): Client =>
    new Client("$url/$path", API_KEY, new CurlTransport(1.0, 1.0), $retries);

$tests = [
    'sends the key, the idempotency key and the parameters of a create' => function () use ($at): void {
        $parameters = ['address' => '0x1', 'callback' => 'https://shop.example/hook', 'amount' => '25.00'];
        $payment = $at('echo')->create($parameters, 'order-1001');
        $request = $payment['request'];
        same([$request['method'], $request['path']], ['POST', '/api/v1/wallet'], 'request');
        same([$request['key'], $request['idempotency_key']], [API_KEY, 'order-1001'], 'keys');
        same(json_decode($request['body'], true), $parameters, 'body');
        same($request['agent'], 'card-checkout-php/0.1.0', 'agent');
        $keys = array_map(static fn () => $at('echo')->create([])['request']['idempotency_key'], [1, 2]);
        same(array_map(static fn ($key) => preg_match('/^php-[0-9a-f]{32}$/', $key), $keys), [1, 1], 'generated keys');
        same($keys[0] === $keys[1], false, 'a key for each create');
        same($at('echo')->create([])['request']['body'], '{}', 'an empty object');
        same(json_decode($at('echo')->create(['note' => "\xff"])['request']['body'], true), ['note' => "\u{fffd}"], 'no UTF-8');
    },
    'reads, cancels and refunds at the paths of the API' => function () use ($at): void {
        $client = $at('echo');
        $calls = [
            [$client->status('a b'), 'GET /api/v1/payment-status?payment_id=a%20b'],
            [$client->payment(PAYMENT), 'GET /merchant/v1/payments/' . PAYMENT],
            [$client->payments(['status' => 'paid', 'limit' => 2]), 'GET /merchant/v1/payments?status=paid&limit=2'],
            [$client->events(7), 'GET /merchant/v1/events?after=7&limit=50'],
            [$client->events(), 'GET /merchant/v1/events?limit=50'],
            [$client->cancel('../x'), 'POST /merchant/v1/payments/..%2Fx/cancel'],
            [$client->openRefund('p', ['amount' => '1.00']), 'POST /merchant/v1/payments/p/refunds'],
            [$client->refunds('p')[0], 'GET /merchant/v1/payments/p/refunds'],
            [$client->refund('r'), 'GET /merchant/v1/refunds/r'],
            [$client->confirmRefund('r', '0x1'), 'POST /merchant/v1/refunds/r/confirm'],
            [$client->submitRefundTransaction('r', '0x1'), 'POST /merchant/v1/refunds/r/transaction'],
            [$client->cancelRefund('r'), 'POST /merchant/v1/refunds/r/cancel'],
        ];
        foreach ($calls as [$answer, $expected]) {
            same("{$answer['request']['method']} {$answer['request']['path']}", $expected, 'request');
        }
        same($client->publication()['request']['key'], '', 'a publication needs no key');
    },
    'throws an exception for each kind of refusal, with the code of the API' => function () use ($at): void {
        $kinds = [
            400 => InvalidRequestException::class, 401 => AuthenticationException::class, 403 => AuthenticationException::class,
            404 => NotFoundException::class, 409 => ConflictException::class, 429 => RateLimitException::class,
            500 => ServiceException::class, 502 => ServiceException::class,
        ];
        foreach ($kinds as $status => $class) {
            $exception = thrown($class, static fn () => $at("refuse/$status")->create([], 'order-1001'));
            same([$exception->getCode(), $exception->apiCode, $exception->retryAfterSeconds], [$status, 'a_code', 7], 'parts');
            same($exception instanceof ApiException && $exception instanceof CheckoutException, true, 'family');
            same($exception->isRefusal(), $status < 429, "$status is a refusal");
        }
    },
    'says nothing of keys and tokens, also when an answer repeats them' => function () use ($at): void {
        foreach (['repeat', 'html', 'redirect', 'nothing'] as $path) {
            $client = $at($path);
            $exception = thrown(
                $path === 'repeat' ? InvalidRequestException::class : ConnectionException::class,
                static fn () => $client->create(['note' => 'ipn_secret'], 'order-1001')
            );
            same(preg_match('/[\x00-\x1f]/', $exception->getMessage()), 0, 'one line');
            same(strlen($exception->getMessage()) < 1100, true, 'short');
        }
        same(str_contains(print_r($at('echo'), true), API_KEY), false, 'a dump of the client');
        thrown(InvalidArgumentException::class, static fn () => $at('echo')->create([], "order-1001\r\nX-Admin: 1"));
        thrown(InvalidArgumentException::class, static fn () => new Client('https://a.example', API_KEY . "\n"));
        thrown(InvalidArgumentException::class, static fn () => new Client('https://a.example', 'sk_live_1'));
    },
    'takes the address of a service over https, or on this machine' => function (): void {
        foreach (['http://pay.example', 'pay.example', 'ftp://pay.example', 'https://u:p@pay.example', 'https://a?b', ''] as $bad) {
            thrown(InvalidArgumentException::class, static fn () => new Client($bad, API_KEY));
        }
        foreach (['https://pay.example/', 'http://localhost:3000', 'http://127.0.0.1:3000', 'http://[::1]:3000'] as $good) {
            same((new Client($good, API_KEY))->__debugInfo()['serviceUrl'], rtrim($good, '/'), $good);
        }
    },
    'repeats a create with the same key after a server error, and a change without a key never' => function () use ($at): void {
        $payment = $at('flaky/' . bin2hex(random_bytes(6)), 2)->create([]);
        same(count(array_unique($payment['keys'])), 1, 'keys');
        same(count($payment['keys']), 3, 'attempts');
        $flaky = $at('flaky/' . bin2hex(random_bytes(6)), 2);
        thrown(ServiceException::class, static fn () => $flaky->cancel('p'));
        same(count($flaky->cancel('p')['keys'] ?? []) < 3, true, 'attempts without a key');
    },
    'ends a request in its time, and reads no endless answer' => function () use ($at): void {
        $started = microtime(true);
        $exception = thrown(ConnectionException::class, static fn () => $at('slow')->status('p'));
        same(microtime(true) - $started < 5, true, 'time');
        same([$exception->getCode(), $exception->isRefusal()], [0, false], 'it may have been executed');
        thrown(ConnectionException::class, static fn () => $at('long')->status('p'));
        thrown(ConnectionException::class, static fn () => (new Client('http://127.0.0.1:9', API_KEY, null, 0))->status('p'));
    },
    'verifies webhooks by their raw body' => function (): void {
        $now = 1_800_000_000;
        $body = '{ "event":"payment.paid", "paymentId":"' . PAYMENT . "\",\n \"timestamp\": $now }";
        $verify = static fn (string $text, ?string $signature = null, string $token = 'ipn_secret', int $late = 0) =>
            Webhook::verify($text, $signature ?? Webhook::sign($text, 'ipn_secret'), $token, 300, $now + $late);
        same($verify($body)['paymentId'], PAYMENT, 'event');
        same(Webhook::paymentIdOf($body), PAYMENT, 'payment');
        $signature = Webhook::sign($body, 'ipn_secret');
        $forged = [
            [$body, ''], ["$body ", $signature], [$body, strtoupper($signature)], [$body, $signature, ''], [$body, $signature, 'x'],
            [$body, Webhook::sign($body, ''), ''], [$body, $signature, 'ipn_secret', 301], [$body, null, 'ipn_secret', -301],
            [str_repeat(' ', 65_537), null],
        ];
        foreach ($forged as $arguments) {
            same(thrown(WebhookException::class, static fn () => $verify(...$arguments))->getCode(), 401, 'forged');
        }
        foreach (['no JSON', '[]', '7', '{"paymentId":7}', '{"paymentId":"' . PAYMENT . '","event":"x","timestamp":"soon"}'] as $text) {
            same(thrown(WebhookException::class, static fn () => $verify($text))->getCode(), 400, $text);
        }
        foreach (['no JSON', '{"paymentId":"x"}', '{"paymentId":["' . PAYMENT . '"]}', '7'] as $text) {
            same(Webhook::paymentIdOf($text), null, $text);
        }
    },
    'computes the deposit address of a payment' => function (): void {
        same(bin2hex(Keccak::hash('')), 'c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470', 'keccak');
        same(bin2hex(Keccak::hash(str_repeat('a', 136))), 'a6c4d403279fe3e0af03729caada8374b5ca54d8065329a3ebcaeb4b60aa386e', 'a block');
        $publication = ['chain_id' => 137, 'factories' => [['address' => '0x' . str_repeat('1', 40)]], 'fee_wallets' => ['0x' . str_repeat('2', 40)]];
        $payment = ['payment_id' => PAYMENT, 'fee_percent' => 2.5, 'polygon_address_in' => '0x' . str_repeat('3', 40)];
        $wallet = '0x' . str_repeat('4', 40);
        $verify = static fn (array $change, array $published) => DepositAddress::verify($change + $payment, $wallet, $published);
        thrown(DepositAddressException::class, static fn () => $verify([], $publication));
        thrown(DepositAddressException::class, static fn () => $verify(['fee_percent' => 11], $publication));
        thrown(DepositAddressException::class, static fn () => $verify([], ['factories' => []] + $publication));
        thrown(DepositAddressException::class, static fn () => $verify([], ['chain_id' => '137'] + $publication));
    },
];

$failed = 0;
foreach ($tests as $name => $test) {
    try {
        $test();
        echo "ok   $name\n";
    } catch (Throwable $exception) {
        $failed++;
        echo "FAIL $name: {$exception->getMessage()} in {$exception->getFile()}:{$exception->getLine()}\n";
    }
}
echo count($tests) - $failed, " passed, $failed failed\n";
exit($failed === 0 ? 0 : 1);
