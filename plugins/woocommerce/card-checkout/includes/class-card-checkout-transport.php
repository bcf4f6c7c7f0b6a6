<?php

declare(strict_types=1);

defined('ABSPATH') || exit;

use Card_Checkout_Library\Answer;
use Card_Checkout_Library\ConnectionException;
use Card_Checkout_Library\Transport;

/** Transport of the library over WordPress's HTTP API. */
final class Card_Checkout_Transport implements Transport
{
    private const TIMEOUT_SECONDS = 8;
    private const MAXIMUM_ANSWER_BYTES = 65536;

    /** @param string|null $problem reason for sending no request; null to send */
    public function __construct(private readonly ?string $problem = null)
    {
    }

    public function send(string $method, string $url, array $headers, ?string $body): Answer
    {
        if ($this->problem !== null) {
            throw new ConnectionException($this->problem);
        }
        $arguments = [
            'method' => $method,
            'headers' => $headers,
            'timeout' => self::TIMEOUT_SECONDS,
            // A redirect would carry the key to another host.
            'redirection' => 0,
            'limit_response_size' => self::MAXIMUM_ANSWER_BYTES,
        ];
        $answer = wp_remote_request($url, $body === null ? $arguments : ['body' => $body] + $arguments);
        if (is_wp_error($answer)) {
            throw new ConnectionException('the service did not answer: ' . $answer->get_error_message());
        }
        return new Answer((int) wp_remote_retrieve_response_code($answer), (string) wp_remote_retrieve_body($answer));
    }
}
