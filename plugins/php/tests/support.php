<?php

/** What the tests share. */

declare(strict_types=1);

error_reporting(-1);
set_error_handler(static function (int $level, string $text): bool {
    // Zero within `@`.
    return (error_reporting() & $level) === 0 || throw new ErrorException($text, 0, $level);
});
spl_autoload_register(static function (string $class): void {
    $file = dirname(__DIR__) . '/src/' . substr($class, strlen('CardCheckout\\')) . '.php';
    if (str_starts_with($class, 'CardCheckout\\') && is_file($file)) {
        require $file;
    }
});

const API_KEY = 'service_live_a-key-of-the-tests-0123456789';
const PAYMENT = '01a1fbd7-b7b3-7002-be38-5df3e4ebf9f4';

function same(mixed $found, mixed $expected, string $what): void
{
    if ($found !== $expected) {
        throw new LogicException("$what: expected " . json_encode($expected) . ', found ' . json_encode($found));
    }
}

/** @param class-string<Throwable> $class */
function thrown(string $class, callable $do): Throwable
{
    try {
        $do();
    } catch (Throwable $exception) {
        same($exception::class, $class, $exception->getMessage());
        foreach ([API_KEY, 'order-1001', 'ipn_secret'] as $secret) {
            if (str_contains((string) $exception, $secret)) {
                throw new LogicException("$secret is in the text of " . $exception::class);
            }
        }
        return $exception;
    }
    throw new LogicException("$class was not thrown");
}

/**
 * Starts PHP's server, and returns its address. It ends with this process.
 *
 * @param array<string, string> $environment
 */
function start_server(string $script, array $environment = []): string
{
    $socket = stream_socket_server('tcp://127.0.0.1:0');
    $address = (string) stream_socket_get_name($socket, false);
    fclose($socket);
    $log = tempnam(sys_get_temp_dir(), 'card-checkout-php-');
    $command = [PHP_BINARY, '-S', $address, $script];
    // Without PHP_CLI_SERVER_WORKERS: workers would outlive the server.
    $output = ['file', $log, 'w'];
    $process = proc_open($command, [1 => $output, 2 => $output], $pipes, null, $environment + ['PATH' => (string) getenv('PATH')]);
    register_shutdown_function(static function () use ($process, $log): void {
        proc_terminate($process, 9);
        proc_close($process);
        unlink($log);
    });
    for ($tries = 0; $tries < 500; $tries++) {
        if (@fsockopen('127.0.0.1', (int) substr(strrchr($address, ':'), 1)) !== false) {
            return "http://$address";
        }
        usleep(20_000);
    }
    throw new LogicException('the server did not start: ' . file_get_contents($log));
}
