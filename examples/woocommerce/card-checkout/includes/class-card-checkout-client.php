<?php

declare(strict_types=1);

defined('ABSPATH') || exit;

/** The service refused, or did not answer. The message is for the log, never for a customer. */
final class Card_Checkout_Exception extends RuntimeException
{
}

/** The two calls of the API that a shop needs. */
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
     * @param array<string, mixed> $parameters as the API takes them
     * @return array<string, mixed> the payment, with payment_id, ipn_token and checkout_url
     */
    public function create(array $parameters, string $idempotency_key): array
    {
        $payment = $this->call('POST', '/api/v1/wallet', $parameters, ['Idempotency-Key' => $idempotency_key]);
        foreach (['payment_id', 'ipn_token', 'checkout_url', 'amount'] as $name) {
            if (!is_string($payment[$name] ?? null)) {
                throw new Card_Checkout_Exception("the service answered without $name");
            }
        }
        return $payment;
    }

    /** @return array<string, mixed> with status, amount and currency */
    public function read_status(string $payment_id): array
    {
        return $this->call('GET', '/api/v1/payment-status?payment_id=' . rawurlencode($payment_id));
    }

    /**
     * @param array<string, mixed>|null $body
     * @param array<string, string> $headers
     * @return array<string, mixed>
     */
    private function call(string $method, string $path, ?array $body = null, array $headers = []): array
    {
        $arguments = [
            'method' => $method,
            'headers' => ['X-API-Key' => $this->api_key, 'Content-Type' => 'application/json'] + $headers,
            'timeout' => self::TIMEOUT_SECONDS,
            // A redirect would carry the key elsewhere.
            'redirection' => 0,
            'limit_response_size' => self::MAXIMUM_ANSWER_BYTES,
        ];
        if ($body !== null) {
            $arguments['body'] = (string) wp_json_encode($body);
        }
        $answer = wp_remote_request($this->service_url . $path, $arguments);
        if (is_wp_error($answer)) {
            throw new Card_Checkout_Exception('the service did not answer: ' . $answer->get_error_message());
        }
        $status = (int) wp_remote_retrieve_response_code($answer);
        $content = json_decode(wp_remote_retrieve_body($answer), true, 8);
        if ($status !== 200 || !is_array($content)) {
            $reason = is_array($content) ? ($content['code'] ?? $content['error'] ?? '') : '';
            throw new Card_Checkout_Exception("the service answered $status " . (is_string($reason) ? $reason : ''));
        }
        return $content;
    }
}
