<?php
/**
 * A small shop without a framework: orders in SQLite, and a webhook receiver that meets the five obligations. `php
 * shop.php reconcile` reads the event log to find payments whose webhook was missed. The README lists the environment
 * variables.
 */
declare(strict_types=1);

const CURRENCY = 'USD';
const TOLERANCE_SECONDS = 300;
const MAXIMUM_BODY_BYTES = 65_536;
const MAXIMUM_ANSWER_BYTES = 262_144;
/** Maximum age of checked orders, longer than a payment stays open. */
const RECONCILE_SECONDS = 9 * 86_400;
/** Maximum orders per run, below the rate limit of status requests per minute. */
const RECONCILED_AT_ONCE = 100;
const MAXIMUM_FAILURES = 3;
const EVENTS_A_PAGE = 50;
/** Maximum pages per run. The next run continues after them. */
const MAXIMUM_PAGES = 200;
const GONE = 410;

function setting(string $name): string
{
    $value = getenv($name);
    if ($value === false || $value === '') {
        throw new RuntimeException("$name is not set");
    }
    return $value;
}

function open_database(): PDO
{
    $database = new PDO('sqlite:' . (getenv('ORDERS_FILE') ?: 'orders.sqlite'));
    $database->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_EXCEPTION);
    $database->exec('PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL');
    $database->exec('CREATE TABLE IF NOT EXISTS orders (
        number INTEGER PRIMARY KEY, amount TEXT NOT NULL, created_at INTEGER NOT NULL,
        payment_id TEXT UNIQUE, ipn_token TEXT, fulfilled_at INTEGER, checked_at INTEGER NOT NULL DEFAULT 0
    )');
    $database->exec('CREATE TABLE IF NOT EXISTS parcels (order_number INTEGER NOT NULL)');
    $database->exec('CREATE TABLE IF NOT EXISTS cursor (id INTEGER PRIMARY KEY, after INTEGER NOT NULL)');
    return $database;
}

function run(PDO $database, string $sql, array $values): PDOStatement
{
    $statement = $database->prepare($sql);
    $statement->execute($values);
    return $statement;
}

/** @return array<string, mixed> */
function call_service(string $path, ?array $body = null, ?string $idempotencyKey = null): array
{
    $headers = ['X-API-Key: ' . setting('CARD_CHECKOUT_KEY'), 'Content-Type: application/json'];
    if ($idempotencyKey !== null) {
        $headers[] = 'Idempotency-Key: ' . $idempotencyKey;
    }
    // Does not follow redirects, which would carry the key to another host.
    $http = ['method' => 'GET', 'header' => $headers, 'timeout' => 8, 'follow_location' => 0, 'ignore_errors' => true];
    if ($body !== null) {
        $http = ['method' => 'POST', 'content' => json_encode($body, JSON_THROW_ON_ERROR)] + $http;
    }
    $url = rtrim(setting('CARD_CHECKOUT_URL'), '/') . $path;
    $stream = @fopen($url, 'r', false, stream_context_create(['http' => $http]));
    // Since redirects are not followed, PHP returns them as responses.
    $line = $stream === false ? '' : stream_get_meta_data($stream)['wrapper_data'][0] ?? '';
    $status = preg_match('#^HTTP/\S+ (\d{3})\b#', $line, $match) === 1 ? (int) $match[1] : 0;
    $answer = $stream === false ? false : stream_get_contents($stream, MAXIMUM_ANSWER_BYTES + 1);
    if ($answer === false || $status !== 200) {
        throw new RuntimeException('the service did not answer, or refused', $status);
    }
    if (strlen($answer) > MAXIMUM_ANSWER_BYTES) {
        throw new RuntimeException('the answer of the service is too long');
    }
    return json_decode($answer, true, 8, JSON_THROW_ON_ERROR);
}

/** @return array<string, mixed> */
function create_order(string $amount): array
{
    $database = open_database();
    run($database, 'INSERT INTO orders (amount, created_at) VALUES (?, ?)', [$amount, time()]);
    $order = (int) $database->lastInsertId();
    $shop = substr(hash('sha256', getenv('ORDERS_FILE') ?: 'orders.sqlite'), 0, 12);
    $payment = call_service('/api/v1/wallet', [
        'address' => setting('PAYOUT_ADDRESS'),
        'callback' => setting('CALLBACK_URL'),
        'amount' => $amount,
        'currency' => CURRENCY,
        'note' => "Order $order",
    ], "php-$shop-$order");
    run(
        $database,
        'UPDATE orders SET payment_id = ?, ipn_token = ? WHERE number = ?',
        [$payment['payment_id'], $payment['ipn_token'], $order],
    );
    // The ipn_token must stay on the server.
    return ['order' => $order, 'payment_id' => $payment['payment_id'], 'checkout_url' => $payment['checkout_url']];
}

/** Receives a webhook and returns the HTTP status. */
function receive(string $rawBody, string $signature): int
{
    $event = json_decode($rawBody, true, 8);
    if (!is_array($event) || !is_string($event['paymentId'] ?? null) || !is_numeric($event['timestamp'] ?? null)) {
        return 400;
    }
    $database = open_database();
    $order = run(
        $database,
        'SELECT ipn_token FROM orders WHERE payment_id = ?',
        [$event['paymentId']],
    )->fetch(PDO::FETCH_ASSOC);
    if ($order === false) {
        return 401;
    }

    // 2. Verify the signature of the raw bytes (1.) in constant time. An old event is a replay.
    if (!hash_equals(hash_hmac('sha256', $rawBody, $order['ipn_token']), $signature)) {
        return 401;
    }
    if (abs(time() - $event['timestamp']) > TOLERANCE_SECONDS) {
        return 401;
    }

    fulfil_if_paid($database, $event['paymentId']); // 3. and 4.
    return 204; // 5. Respond within ten seconds. Another program sends the parcel.
}

/** Fulfils a payment's order once, if the service reports it as paid in the order's amount and currency. */
function fulfil_if_paid(PDO $database, string $paymentId): bool
{
    $order = run($database, 'SELECT number, amount FROM orders WHERE payment_id = ?', [$paymentId])
        ->fetch(PDO::FETCH_ASSOC);

    // 3. Confirm the payment. 25.00 in another currency is a different price.
    $status = call_service('/api/v1/payment-status?payment_id=' . rawurlencode($paymentId));
    if ($status['status'] !== 'paid' || $status['currency'] !== CURRENCY) {
        return false;
    }
    if ((float) $status['amount'] !== (float) $order['amount']) {
        return false;
    }
    // The received amount lacks the provider's fee. Choose a minimum share below which a person reviews the order.
    error_log("$paymentId: {$status['value_coin']} USDC received for {$order['amount']} " . CURRENCY);

    // 4. Mark the order and queue the parcel in one transaction, unless it is already marked.
    $database->exec('BEGIN IMMEDIATE');
    try {
        $changed = run(
            $database,
            'UPDATE orders SET fulfilled_at = ? WHERE payment_id = ? AND fulfilled_at IS NULL',
            [time(), $paymentId],
        )->rowCount();
        if ($changed === 1) {
            run($database, 'INSERT INTO parcels (order_number) VALUES (?)', [$order['number']]);
        }
        $database->exec('COMMIT');
        return $changed === 1;
    } catch (Throwable $error) {
        $database->exec('ROLLBACK');
        throw $error;
    }
}

/**
 * Reads the account's event log, because a webhook is sent only once and may be missed. Returns whether the service
 * responded. The cursor advances after all orders of a page, so that the next run repeats failed ones.
 */
function reconcile(): bool
{
    $database = open_database();
    for ($pages = 0; $pages < MAXIMUM_PAGES; $pages++) {
        $after = run($database, 'SELECT after FROM cursor', [])->fetchColumn();
        try {
            $page = call_service('/merchant/v1/events?limit=' . EVENTS_A_PAGE . ($after === false ? '' : "&after=$after"));
            foreach ($page['events'] as $event) {
                if ($event['type'] === 'payment.paid') {
                    fulfil_missed($database, $event['payment']['payment_id']);
                }
            }
            run($database, 'INSERT OR REPLACE INTO cursor (id, after) VALUES (1, ?)', [(int) $page['next_after']]);
            if (!$page['has_more']) {
                break;
            }
        } catch (Throwable $error) {
            // The cursor expires if the shop is offline for more than 30 days.
            if ($error->getCode() !== GONE || !check_open_orders($database)) {
                error_log($error->getMessage());
                return false;
            }
            run($database, 'DELETE FROM cursor', []);
        }
    }
    return true;
}

function fulfil_missed(PDO $database, string $paymentId): void
{
    $sql = 'SELECT 1 FROM orders WHERE payment_id = ? AND fulfilled_at IS NULL';
    $isOpen = run($database, $sql, [$paymentId])->fetchColumn() !== false;
    if ($isOpen && fulfil_if_paid($database, $paymentId)) {
        echo "$paymentId: fulfilled\n";
    }
}

/**
 * Reads the status of open orders, starting with the longest unchecked, so that none blocks the others. Returns whether
 * the service responded.
 */
function check_open_orders(PDO $database): bool
{
    $open = run(
        $database,
        'SELECT payment_id FROM orders WHERE fulfilled_at IS NULL AND payment_id IS NOT NULL AND created_at > ?
            ORDER BY checked_at, number LIMIT ' . RECONCILED_AT_ONCE,
        [time() - RECONCILE_SECONDS],
    )->fetchAll(PDO::FETCH_COLUMN);
    $failures = 0;
    foreach ($open as $paymentId) {
        run($database, 'UPDATE orders SET checked_at = ? WHERE payment_id = ?', [time(), $paymentId]);
        try {
            fulfil_missed($database, $paymentId);
        } catch (Throwable $error) {
            error_log("$paymentId: " . $error->getMessage());
            if (++$failures === MAXIMUM_FAILURES) {
                break; // The next run continues.
            }
        }
    }
    return $failures === 0;
}

function answer(int $status, ?array $body = null): void
{
    http_response_code($status);
    if ($body !== null) {
        header('Content-Type: application/json');
        echo json_encode($body, JSON_THROW_ON_ERROR);
    }
}

if (PHP_SAPI === 'cli') {
    if (($argv[1] ?? '') !== 'reconcile') {
        fwrite(STDERR, "php shop.php reconcile\n");
        exit(2);
    }
    exit(reconcile() ? 0 : 1);
}

$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
$rawBody = (string) file_get_contents('php://input', false, null, 0, MAXIMUM_BODY_BYTES + 1);
try {
    if (strlen($rawBody) > MAXIMUM_BODY_BYTES) {
        answer(413);
    } elseif ($path === '/webhook') {
        answer(receive($rawBody, $_SERVER['HTTP_X_SERVICE_SIGNATURE'] ?? ''));
    } elseif ($path === '/orders') {
        answer(200, create_order((string) json_decode($rawBody, true, 8, JSON_THROW_ON_ERROR)['amount']));
    } elseif (preg_match('#^/orders/([0-9a-f-]{36})$#', (string) $path, $match) === 1) {
        $count = run(
            open_database(),
            'SELECT count(*) FROM parcels JOIN orders ON number = order_number WHERE payment_id = ?',
            [$match[1]],
        )->fetchColumn();
        answer(200, ['fulfilments' => (int) $count]);
    } else {
        answer(404);
    }
} catch (Throwable $error) {
    // The webhook is not sent again, but `reconcile` finds the order.
    error_log($error->getMessage());
    answer(500);
}
