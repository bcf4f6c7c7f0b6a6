<?php

declare(strict_types=1);

namespace Card_Checkout_Library;

defined('ABSPATH') || exit;

/**
 * Client of a card-checkout service, for a shop's server. Responses are arrays with the API's field names.
 *
 * Repeats reads and requests with an idempotency key after a lost response or a server error. Every method throws a
 * `CheckoutException` on failure.
 */
final class Client
{
    private const VERSION = '0.1.0';
    private const MAXIMUM_REASON_LENGTH = 500;
    private const FIRST_PAUSE_MICROSECONDS = 200_000;
    private const REPEATED_STATUSES = [500, 502, 503, 504, 520, 521, 522, 523, 524];

    private readonly string $serviceUrl;
    private readonly string $apiKey;
    private readonly Transport $transport;

    /**
     * @param string $serviceUrl https URL of the service; http only on this machine
     * @param string $apiKey key from the dashboard; '' only for exchanging a connection's code
     * @param int $retries maximum repetitions of a request without a response
     */
    public function __construct(
        string $serviceUrl,
        #[\SensitiveParameter] string $apiKey,
        ?Transport $transport = null,
        private readonly int $retries = 2
    ) {
        $parts = parse_url($serviceUrl) ?: [];
        $isLocal = preg_match('/^(localhost|127(\.\d{1,3}){3}|\[::1\])$/D', $parts['host'] ?? '') === 1;
        $hasScheme = in_array($parts['scheme'] ?? '', $isLocal ? ['https', 'http'] : ['https'], true);
        if (!$hasScheme || !isset($parts['host']) || array_diff(array_keys($parts), ['scheme', 'host', 'port', 'path']) !== []) {
            throw new \InvalidArgumentException('the service address must be https:// and a host');
        }
        if ($apiKey !== '' && preg_match('/^service_live_[\x21-\x7e]{1,300}$/D', $apiKey) !== 1) {
            throw new \InvalidArgumentException('the API key must be the whole key, which begins with service_live_');
        }
        $this->serviceUrl = rtrim($serviceUrl, '/');
        $this->apiKey = $apiKey;
        $this->transport = $transport ?? throw new \InvalidArgumentException('a transport is missing');
    }

    /** @return array<string, string> properties without the key, for debuggers and dumps */
    public function __debugInfo(): array
    {
        return ['serviceUrl' => $this->serviceUrl];
    }

    /**
     * Creates a checkout. Save `payment_id` and `ipn_token` with the order. Redirect the customer to `checkout_url`.
     *
     * @param array<string, mixed> $parameters address, callback, amount, and optional parameters of the API
     * @param string|null $idempotencyKey such as the order number: a repeated call returns the first payment. Without a
     *     key, each call creates a payment, although its own retries are safe.
     * @return array<string, mixed>
     */
    public function create(array $parameters, #[\SensitiveParameter] ?string $idempotencyKey = null): array
    {
        $key = $idempotencyKey ?? 'php-' . bin2hex(random_bytes(16));
        $payment = $this->call('POST', '/api/v1/wallet', $parameters, $key);
        return self::requireTexts($payment, ['payment_id', 'ipn_token', 'checkout_url', 'amount', 'polygon_address_in']);
    }

    /** @return array<string, mixed> with status, forward_status, amount, currency, value_coin and the transactions */
    public function status(string $paymentId): array
    {
        return $this->call('GET', '/api/v1/payment-status?payment_id=' . rawurlencode($paymentId));
    }

    /** @return array<string, mixed> the payment with all its fields, including the note; needs the scope `read` */
    public function payment(string $paymentId): array
    {
        return $this->call('GET', '/merchant/v1/payments/' . rawurlencode($paymentId));
    }

    /**
     * @param array<string, string|int> $filters for example status, created_from, search, limit, before
     * @return array<string, mixed> with payments and next, the value of `before` for the next page
     */
    public function payments(array $filters = []): array
    {
        return $this->call('GET', '/merchant/v1/payments' . self::query($filters));
    }

    /**
     * Returns events of the account after a number, because a webhook is sent only once and may be missed.
     *
     * @return array<string, mixed> with events, next_after and has_more
     */
    public function events(?int $after = null, int $limit = 50): array
    {
        return $this->call('GET', '/merchant/v1/events' . self::query(['after' => $after, 'limit' => $limit]));
    }

    /** @return array<string, mixed> the canceled payment; needs the scope `cancel` */
    public function cancel(string $paymentId): array
    {
        return $this->call('POST', '/merchant/v1/payments/' . rawurlencode($paymentId) . '/cancel', []);
    }

    /**
     * Opens a refund, which the merchant then transfers from their own wallet.
     *
     * @param array<string, string> $parameters amount in USDC, reason, destination
     * @return array<string, mixed> the refund, with an `address_url` for the customer if there is no destination
     */
    public function openRefund(
        string $paymentId,
        array $parameters,
        #[\SensitiveParameter] ?string $idempotencyKey = null
    ): array {
        $path = '/merchant/v1/payments/' . rawurlencode($paymentId) . '/refunds';
        return self::requireRefund($this->call('POST', $path, $parameters, $idempotencyKey ?? bin2hex(random_bytes(16))));
    }

    /** @return list<array<string, mixed>> the refunds of a payment */
    public function refunds(string $paymentId): array
    {
        $answer = $this->call('GET', '/merchant/v1/payments/' . rawurlencode($paymentId) . '/refunds');
        return array_map(self::requireRefund(...), array_values((array) ($answer['refunds'] ?? [])));
    }

    /** @return array<string, mixed> the refund */
    public function refund(string $refundId): array
    {
        return self::requireRefund($this->call('GET', '/merchant/v1/refunds/' . rawurlencode($refundId)));
    }

    /**
     * Confirms the address that the customer entered through the link.
     *
     * @param string $destination address that was shown to the confirming person
     * @return array<string, mixed> the refund
     */
    public function confirmRefund(string $refundId, string $destination): array
    {
        return $this->changeRefund($refundId, 'confirm', ['destination' => $destination]);
    }

    /** @return array<string, mixed> the canceled refund */
    public function cancelRefund(string $refundId): array
    {
        return $this->changeRefund($refundId, 'cancel', []);
    }

    /** @return array<string, mixed> the refund; the service checks the transaction once it is final */
    public function submitRefundTransaction(string $refundId, string $transaction): array
    {
        return $this->changeRefund($refundId, 'transaction', ['transaction' => $transaction]);
    }

    /** Throws if the service is unreachable or does not accept the key. */
    public function checkKey(): void
    {
        $this->payments(['limit' => 1]);
    }

    /**
     * Exchanges the code of a connection for an API key. Sends no key.
     *
     * @return array<string, mixed> with api_key and wallet
     */
    public function exchangeCode(string $code, #[\SensitiveParameter] string $verifier, string $returnUrl): array
    {
        $parameters = ['code' => $code, 'code_verifier' => $verifier, 'return' => $returnUrl];
        return self::requireTexts($this->call('POST', '/merchant/v1/connect', $parameters, null, false), ['api_key']);
    }

    /**
     * Returns the service's deposit contracts for `DepositAddress::verify`. Sends no key.
     *
     * @return array<string, mixed>
     */
    public function publication(): array
    {
        return $this->call('GET', '/.well-known/card-checkout.json', null, null, false);
    }

    /**
     * @param array<string, string> $parameters
     * @return array<string, mixed>
     */
    private function changeRefund(string $refundId, string $change, array $parameters): array
    {
        $path = '/merchant/v1/refunds/' . rawurlencode($refundId) . "/$change";
        return self::requireRefund($this->call('POST', $path, $parameters));
    }

    /**
     * @param array<string, mixed>|null $body
     * @return array<string, mixed>
     */
    private function call(
        string $method,
        string $path,
        ?array $body = null,
        #[\SensitiveParameter] ?string $idempotencyKey = null,
        bool $withKey = true
    ): array {
        $headers = [
            'Accept' => 'application/json',
            'Content-Type' => 'application/json',
            'User-Agent' => 'card-checkout-php/' . self::VERSION,
        ];
        if ($withKey) {
            $headers['X-API-Key'] = $this->apiKey;
        }
        if ($idempotencyKey !== null) {
            if (preg_match('/^[\x21-\x7e]{1,255}$/D', $idempotencyKey) !== 1) {
                throw new \InvalidArgumentException('an idempotency key has 1 to 255 visible ASCII characters');
            }
            $headers['Idempotency-Key'] = $idempotencyKey;
        }
        // The cast keeps an empty PHP array from becoming a JSON array.
        $text = $body === null ? null : json_encode((object) $body, JSON_THROW_ON_ERROR | JSON_INVALID_UTF8_SUBSTITUTE);
        $attempts = 1 + ($method === 'GET' || $idempotencyKey !== null ? max(0, $this->retries) : 0);
        for ($attempt = 1;; $attempt++) {
            try {
                return $this->contentOf($this->transport->send($method, $this->serviceUrl . $path, $headers, $text));
            } catch (ConnectionException | ServiceException $exception) {
                $isRepeated = $exception instanceof ConnectionException
                    || in_array($exception->getCode(), self::REPEATED_STATUSES, true);
                if ($attempt >= $attempts || !$isRepeated) {
                    throw $exception;
                }
                usleep(random_int(1, self::FIRST_PAUSE_MICROSECONDS) * 2 ** min($attempt, 5));
            }
        }
    }

    /** @return array<string, mixed> */
    private function contentOf(Answer $answer): array
    {
        $status = $answer->status;
        $content = json_decode($answer->body, true, 32);
        if ($status >= 200 && $status <= 299 && is_array($content)) {
            return $content;
        }
        $reason = is_array($content) && is_string($content['error'] ?? null) ? $content['error'] : 'no JSON';
        $message = "the service answered $status: " . $this->withoutSecrets($reason);
        if ($status < 400) {
            throw new ConnectionException($message);
        }
        $apiCode = is_array($content) && is_string($content['code'] ?? null) ? $content['code'] : null;
        $retryAfter = $answer->retryAfter;
        $seconds = $retryAfter !== null && preg_match('/^\d{1,9}$/D', $retryAfter) === 1 ? (int) $retryAfter : null;
        throw ApiException::of($message, $status, $apiCode, $seconds);
    }

    /** Removes secrets, because a proxy may repeat request headers in its response. */
    private function withoutSecrets(string $reason): string
    {
        $text = $this->apiKey === '' ? $reason : str_replace($this->apiKey, '…', $reason);
        $text = preg_replace(['/service_(live|test)_\S+|ipn_\w+/', '/[\x00-\x1f\x7f]+/'], ['…', ' '], $text) ?? '';
        return preg_match('/^.{0,' . self::MAXIMUM_REASON_LENGTH . '}/su', $text, $match) === 1 ? $match[0] : '';
    }

    /** @param array<string, string|int|null> $parameters */
    private static function query(array $parameters): string
    {
        $query = http_build_query($parameters, '', '&', PHP_QUERY_RFC3986);
        return $query === '' ? '' : "?$query";
    }

    /** @return array<string, mixed> the refund */
    private static function requireRefund(mixed $answer): array
    {
        return self::requireTexts(is_array($answer) ? $answer : [], ['refund_id', 'status', 'amount']);
    }

    /**
     * @param array<string, mixed> $answer
     * @param list<string> $names
     * @return array<string, mixed> the answer
     */
    private static function requireTexts(array $answer, array $names): array
    {
        foreach ($names as $name) {
            if (!is_string($answer[$name] ?? null)) {
                throw new ConnectionException("the service answered without $name");
            }
        }
        return $answer;
    }
}
