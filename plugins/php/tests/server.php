<?php

/** A service for the tests: the first part of the path says what it does, the rest is the path of the API. */

declare(strict_types=1);

preg_match('#^/(echo|refuse/\d+|repeat|html|redirect|nothing|flaky/[0-9a-f]+|slow|long)(/.*)$#', $_SERVER['REQUEST_URI'], $match);
[, $what, $path] = $match + ['', '', ''];
[$name, $argument] = explode('/', "$what/");
$request = [
    'method' => $_SERVER['REQUEST_METHOD'],
    'path' => $path,
    'key' => $_SERVER['HTTP_X_API_KEY'] ?? '',
    'idempotency_key' => $_SERVER['HTTP_IDEMPOTENCY_KEY'] ?? '',
    'agent' => $_SERVER['HTTP_USER_AGENT'] ?? '',
    'body' => (string) file_get_contents('php://input'),
];
$texts = array_fill_keys(['payment_id', 'ipn_token', 'checkout_url', 'amount', 'polygon_address_in', 'refund_id', 'status'], 'x');
$answer = static function (int $status, array $content): void {
    http_response_code($status);
    header('Content-Type: application/json');
    echo json_encode($content);
};
switch ($name) {
    case 'echo':
        $answer(200, $texts + ['request' => $request, 'refunds' => [$texts + ['request' => $request]]]);
        break;
    case 'refuse':
        header('Retry-After: 7');
        $answer((int) $argument, ['error' => 'No.', 'code' => 'a_code']);
        break;
    case 'repeat':
        $answer(400, ['error' => "Bad\r\nheader {$request['key']}, {$request['body']}" . str_repeat('ü', 2_000)]);
        break;
    case 'html':
        echo '<html>', $request['key'], $request['idempotency_key'], $request['body'];
        break;
    case 'redirect':
        header('Location: /echo/elsewhere', true, 302);
        break;
    case 'nothing':
        $answer(200, ['key' => $request['key']]);
        break;
    case 'flaky':
        $file = sys_get_temp_dir() . "/card-checkout-php-$argument";
        file_put_contents($file, "{$request['idempotency_key']}\n", FILE_APPEND);
        $keys = file($file, FILE_IGNORE_NEW_LINES);
        if (count($keys) < ($request['method'] === 'POST' && $path !== '/api/v1/wallet' ? 2 : 3)) {
            $answer(503, ['error' => 'Later.']);
        } else {
            unlink($file);
            $answer(200, $texts + ['keys' => $keys]);
        }
        break;
    case 'slow':
        usleep(1_500_000);
        break;
    case 'long':
        for ($part = 0; $part < 40; $part++) {
            echo str_repeat('x', 65_536);
        }
        break;
    default:
        $answer(404, ['error' => 'Unknown path.']);
}
