<?php

declare(strict_types=1);

defined('ABSPATH') || exit;

/**
 * The service refused a request or did not respond. The message is for merchants and the log, never for customers. The
 * code is the HTTP status, or 0 without a response.
 */
final class Card_Checkout_Exception extends RuntimeException
{
    /** Whether the service refused. Without a response, or with a server error, the request may have been executed. */
    public function is_refusal(): bool
    {
        return $this->getCode() >= 400 && $this->getCode() < 500 && $this->getCode() !== 429;
    }
}

/** Calls of the service's API that a shop needs. */
final class Card_Checkout_Client
{
    private const TIMEOUT_SECONDS = 8;
    private const MAXIMUM_ANSWER_BYTES = 65536;

    public function __construct(
        private readonly string $service_url,
        #[SensitiveParameter] private readonly string $api_key
    ) {
    }

    /**
     * @param array<string, mixed> $parameters of the API
     * @return array<string, mixed> the payment, with payment_id, ipn_token and checkout_url
     */
    public function create(array $parameters, string $idempotency_key): array
    {
        $payment = $this->call('POST', '/api/v1/wallet', $parameters, ['Idempotency-Key' => $idempotency_key]);
        foreach (['payment_id', 'ipn_token', 'checkout_url', 'amount', 'polygon_address_in'] as $name) {
            if (!is_string($payment[$name] ?? null)) {
                throw new Card_Checkout_Exception("the service answered without $name");
            }
        }
        return $payment;
    }

    /** @return array<string, mixed> with status, forward_status, amount, currency, value_coin and the transactions */
    public function read_status(string $payment_id): array
    {
        return $this->call('GET', '/api/v1/payment-status?payment_id=' . rawurlencode($payment_id));
    }

    /** @return array<string, mixed> the payment as the dashboard shows it, with its note */
    public function read_payment(string $payment_id): array
    {
        return $this->call('GET', '/merchant/v1/payments/' . rawurlencode($payment_id));
    }

    /**
     * Opens a refund, which the merchant then transfers from their own wallet.
     *
     * @param array<string, string> $parameters amount, reason, destination
     * @return array<string, mixed> the refund; without a destination, with `address_url` for the customer
     */
    public function open_refund(string $payment_id, array $parameters, string $idempotency_key): array
    {
        $path = '/merchant/v1/payments/' . rawurlencode($payment_id) . '/refunds';
        return self::require_refund($this->call('POST', $path, $parameters, ['Idempotency-Key' => $idempotency_key]));
    }

    /** @return list<array<string, mixed>> the refunds of a payment */
    public function list_refunds(string $payment_id): array
    {
        $answer = $this->call('GET', '/merchant/v1/payments/' . rawurlencode($payment_id) . '/refunds');
        return array_map([self::class, 'require_refund'], array_values((array) ($answer['refunds'] ?? [])));
    }

    /** @return array<string, mixed> the refund */
    public function read_refund(string $refund_id): array
    {
        return self::require_refund($this->call('GET', '/merchant/v1/refunds/' . rawurlencode($refund_id)));
    }

    /**
     * Confirms the address that the customer entered through the link.
     *
     * @param string $destination as shown to the confirming person
     * @return array<string, mixed> the refund
     */
    public function confirm_refund(string $refund_id, string $destination): array
    {
        $path = '/merchant/v1/refunds/' . rawurlencode($refund_id) . '/confirm';
        return self::require_refund($this->call('POST', $path, ['destination' => $destination]));
    }

    /** @return array<string, mixed> the refund, canceled */
    public function cancel_refund(string $refund_id): array
    {
        $path = '/merchant/v1/refunds/' . rawurlencode($refund_id) . '/cancel';
        return self::require_refund($this->call('POST', $path, []));
    }

    /** @return array<string, mixed> the refund; the service checks the transaction once it is final */
    public function submit_transaction(string $refund_id, string $transaction): array
    {
        $path = '/merchant/v1/refunds/' . rawurlencode($refund_id) . '/transaction';
        return self::require_refund($this->call('POST', $path, ['transaction' => $transaction]));
    }

    /**
     * Throws if the service cannot be reached or does not accept the key.
     *
     * @throws Card_Checkout_Exception
     */
    public function check_key(): void
    {
        $this->call('GET', '/merchant/v1/payments?limit=1');
    }

    /**
     * Exchanges the code of a connection for an API key. Sent without a key.
     *
     * @return array<string, mixed> with api_key and wallet
     */
    public function exchange_code(string $code, #[SensitiveParameter] string $verifier, string $return_url): array
    {
        $parameters = ['code' => $code, 'code_verifier' => $verifier, 'return' => $return_url];
        $answer = $this->call('POST', '/merchant/v1/connect', $parameters, [], false);
        if (!is_string($answer['api_key'] ?? null)) {
            throw new Card_Checkout_Exception('the service answered without api_key');
        }
        return $answer;
    }

    /**
     * The service's publication of its deposit contracts. Sent without the key.
     *
     * @return array<string, mixed>
     */
    public function read_publication(): array
    {
        return $this->call('GET', '/.well-known/card-checkout.json', null, [], false);
    }

    /**
     * @param array<string, mixed>|null $body
     * @param array<string, string> $headers
     * @return array<string, mixed>
     */
    private function call(
        string $method,
        string $path,
        ?array $body = null,
        array $headers = [],
        bool $with_key = true
    ): array {
        $headers['Content-Type'] = 'application/json';
        if ($with_key) {
            $headers['X-API-Key'] = $this->api_key;
        }
        $arguments = [
            'method' => $method,
            'headers' => $headers,
            'timeout' => self::TIMEOUT_SECONDS,
            // A redirect would carry the key to another host.
            'redirection' => 0,
            'limit_response_size' => self::MAXIMUM_ANSWER_BYTES,
        ];
        if ($body !== null) {
            // Cast, because an empty PHP array would become a JSON array.
            $arguments['body'] = (string) wp_json_encode((object) $body);
        }
        $answer = wp_remote_request($this->service_url . $path, $arguments);
        if (is_wp_error($answer)) {
            throw new Card_Checkout_Exception('the service did not answer: ' . $answer->get_error_message());
        }
        $status = (int) wp_remote_retrieve_response_code($answer);
        $content = json_decode(wp_remote_retrieve_body($answer), true, 16);
        if ($status < 200 || $status > 299 || !is_array($content)) {
            $reason = is_array($content) && is_string($content['error'] ?? null) ? $content['error'] : 'no JSON';
            throw new Card_Checkout_Exception("the service answered $status: $reason", $status);
        }
        return $content;
    }

    /**
     * @param mixed $answer
     * @return array<string, mixed>
     */
    private static function require_refund($answer): array
    {
        foreach (['refund_id', 'status', 'amount'] as $name) {
            if (!is_array($answer) || !is_string($answer[$name] ?? null)) {
                throw new Card_Checkout_Exception("the service answered a refund without $name");
            }
        }
        return $answer;
    }
}
