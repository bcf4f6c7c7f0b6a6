<?php

/**
 * The parts of the plugin that need no WordPress, and the few functions of WordPress that their callers name. Vectors come
 * from the service's own code: `VECTORS_FILE` is written by php-checks.test.ts.
 */

declare(strict_types=1);

define('ABSPATH', __DIR__ . '/');

/** What the next request is answered, and what was requested last. */
final class Http
{
    public static int $status = 200;
    public static string $body = '{}';
    public static string $url = '';
    /** @var array<string, mixed> */
    public static array $arguments = [];
}

/** @param array<string, mixed> $arguments */
function wp_remote_request(string $url, array $arguments): array
{
    [Http::$url, Http::$arguments] = [$url, $arguments];
    return ['status' => Http::$status, 'body' => substr(Http::$body, 0, $arguments['limit_response_size'])];
}

function is_wp_error(mixed $value): bool
{
    return false;
}

/** @param array<string, mixed> $answer */
function wp_remote_retrieve_response_code(array $answer): int
{
    return $answer['status'];
}

/** @param array<string, mixed> $answer */
function wp_remote_retrieve_body(array $answer): string
{
    return $answer['body'];
}

function wp_json_encode(mixed $value): string|false
{
    return json_encode($value);
}

/** @return array<string, mixed> */
function vectors(): array
{
    return json_decode((string) file_get_contents((string) getenv('VECTORS_FILE')), true, 16, JSON_THROW_ON_ERROR);
}

foreach (['client', 'keccak', 'deposit-address', 'amount', 'state', 'webhook'] as $name) {
    require dirname(__DIR__, 3) . "/woocommerce/card-checkout/includes/class-card-checkout-$name.php";
}
