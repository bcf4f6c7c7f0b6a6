<?php

/**
 * A shop with one product: `php -S 127.0.0.1:4000 shop.php`. The README of this library lists the settings. The shop
 * keeps orders in SQLite, fulfills each once, and finds payments with missed webhooks: `php shop.php reconcile`.
 */

declare(strict_types=1);

use CardCheckout\CheckoutException;
use CardCheckout\Client;
use CardCheckout\ConnectionException;
use CardCheckout\DepositAddress;
use CardCheckout\ServiceException;
use CardCheckout\Webhook;
use CardCheckout\WebhookException;

// In a real shop, replace this with `require 'vendor/autoload.php'`.
spl_autoload_register(static function (string $class): void {
    if (str_starts_with($class, 'CardCheckout\\')) {
        require dirname(__DIR__) . '/src/' . substr($class, strlen('CardCheckout\\')) . '.php';
    }
});

const PRICE = '25.00';
const CURRENCY = 'USD';
/** Maximum age of checked orders, longer than a payment stays open. */
const CHECKED_SECONDS = 9 * 86_400;
/** Maximum orders per run, below the rate limit of status requests per minute. */
const CHECKED_AT_ONCE = 100;

function setting(string $name): string
{
    $value = getenv($name);
    return $value !== false && $value !== '' ? $value : throw new RuntimeException("$name is not set");
}

function client(): Client
{
    return new Client(setting('CARD_CHECKOUT_URL'), setting('CARD_CHECKOUT_KEY'));
}

/** @param list<scalar|null> $values */
function run(string $sql, array $values = []): PDOStatement
{
    static $database = null;
    if ($database === null) {
        $database = new PDO('sqlite:' . (getenv('ORDERS_FILE') ?: __DIR__ . '/orders.sqlite'));
        $database->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_EXCEPTION);
        $database->exec('PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL');
        $database->exec('CREATE TABLE IF NOT EXISTS orders (id TEXT PRIMARY KEY, created_at INTEGER NOT NULL,
            payment_id TEXT UNIQUE, ipn_token TEXT, fulfilled_at INTEGER)');
    }
    $statement = $database->prepare($sql);
    $statement->execute($values);
    return $statement;
}

/** Places an order and returns the URL where the customer pays. */
function buy(): string
{
    // Unguessable, because it is the customer's link to the order.
    $order = bin2hex(random_bytes(16));
    run('INSERT INTO orders (id, created_at) VALUES (?, ?)', [$order, time()]);
    $client = client();
    $payment = $client->create([
        'address' => setting('PAYOUT_ADDRESS'),
        'callback' => setting('CALLBACK_URL'),
        'amount' => PRICE,
        'currency' => CURRENCY,
        'note' => "Order $order",
    ], $order);
    // Proves that the address can pay only this wallet, even if the service is compromised.
    DepositAddress::verify($payment, setting('PAYOUT_ADDRESS'), accepted_publication($client));
    run('UPDATE orders SET payment_id = ?, ipn_token = ? WHERE id = ?', [$payment['payment_id'], $payment['ipn_token'], $order]);
    $isSecure = ($_SERVER['HTTPS'] ?? 'off') !== 'off';
    setcookie('order', $order, ['path' => '/', 'secure' => $isSecure, 'httponly' => true, 'samesite' => 'Lax']);
    return $payment['checkout_url'];
}

/**
 * Returns the deposit contracts accepted with the first order. To accept changed ones, delete the file.
 *
 * @return array<string, mixed>
 */
function accepted_publication(Client $client): array
{
    $file = (getenv('ORDERS_FILE') ?: __DIR__ . '/orders.sqlite') . '.publication.json';
    if (!is_file($file)) {
        file_put_contents($file, json_encode($client->publication(), JSON_THROW_ON_ERROR), LOCK_EX);
    }
    return json_decode((string) file_get_contents($file), true, 16, JSON_THROW_ON_ERROR);
}

/** Receives a webhook and returns the HTTP status. */
function receive(string $rawBody, string $signature): int
{
    $paymentId = Webhook::paymentIdOf($rawBody) ?? '';
    $token = run('SELECT ipn_token FROM orders WHERE payment_id = ?', [$paymentId])->fetchColumn();
    try {
        Webhook::verify($rawBody, $signature, (string) $token);
    } catch (WebhookException $exception) {
        return $exception->getCode();
    }
    fulfill_if_paid($paymentId);
    return 204;
}

/** Fulfills an order once, if the service reports its payment as paid in the shop's amount and currency. */
function fulfill_if_paid(string $paymentId): bool
{
    $status = client()->status($paymentId);
    if ($status['status'] !== 'paid' || [$status['amount'], $status['currency']] !== [PRICE, CURRENCY]) {
        return false;
    }
    // A real shop ships in the same transaction, or queues the order for shipping.
    $sql = 'UPDATE orders SET fulfilled_at = ? WHERE payment_id = ? AND fulfilled_at IS NULL';
    return run($sql, [time(), $paymentId])->rowCount() === 1;
}

/** Finds paid orders whose webhook was missed, because each is sent only once. Run it every few minutes. */
function reconcile(): bool
{
    $sql = 'SELECT payment_id FROM orders WHERE fulfilled_at IS NULL AND payment_id IS NOT NULL AND created_at > ?
        ORDER BY random() LIMIT ' . CHECKED_AT_ONCE;
    foreach (run($sql, [time() - CHECKED_SECONDS])->fetchAll(PDO::FETCH_COLUMN) as $paymentId) {
        try {
            echo fulfill_if_paid($paymentId) ? "$paymentId: fulfilled\n" : '';
        } catch (ConnectionException | ServiceException $exception) {
            error_log($exception->getMessage());
            return false;
        } catch (CheckoutException $exception) {
            error_log("$paymentId: {$exception->getMessage()}");
        }
    }
    return true;
}

function show(string $html): void
{
    header('Content-Type: text/html; charset=utf-8');
    header('Cache-Control: no-store');
    echo '<!doctype html><html lang="en"><title>One thing</title><h1>One thing</h1>', $html;
}

/** Renders the state of the order that this browser placed. */
function order_html(string $order): string
{
    $row = run('SELECT payment_id, fulfilled_at FROM orders WHERE id = ?', [$order])->fetch(PDO::FETCH_ASSOC);
    if ($row === false || $row['payment_id'] === null) {
        return '<p>There is no such order.</p>';
    }
    $text = match (true) {
        $row['fulfilled_at'] !== null, fulfill_if_paid($row['payment_id']) => 'Paid. Your thing is on its way.',
        default => 'Not paid yet. This page looks again when you reload it.',
    };
    return '<p>' . htmlspecialchars($text) . '</p>';
}

if (PHP_SAPI === 'cli') {
    exit(($argv[1] ?? '') === 'reconcile' && reconcile() ? 0 : 1);
}
$path = $_SERVER['REQUEST_METHOD'] . ' ' . parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
try {
    if ($path === 'POST /webhook') {
        http_response_code(receive(Webhook::readBody(), $_SERVER['HTTP_X_SERVICE_SIGNATURE'] ?? ''));
    } elseif ($path === 'POST /buy') {
        header('Location: ' . buy(), true, 303);
    } elseif ($path === 'GET /order') {
        show(order_html(is_string($_COOKIE['order'] ?? null) ? $_COOKIE['order'] : ''));
    } elseif ($path === 'GET /') {
        show('<form method="post" action="/buy"><button>Buy for ' . PRICE . ' ' . CURRENCY . '</button></form>');
    } else {
        http_response_code(404);
    }
} catch (Throwable $exception) {
    // The webhook is not repeated, but `reconcile` finds the order.
    error_log($exception->getMessage());
    http_response_code(500);
    show('<p>This did not work. Please try again.</p>');
}
