<?php

declare(strict_types=1);

namespace Card_Checkout_Library;

defined('ABSPATH') || exit;

/** HTTP transport. Frameworks implement it with their own HTTP client. */
interface Transport
{
    /**
     * Sends a request. Must limit size and time, and not follow redirects, which would carry the key to another host.
     *
     * @param array<string, string> $headers
     * @throws ConnectionException without a response; the message contains neither headers nor body
     */
    public function send(string $method, string $url, array $headers, ?string $body): Answer;
}
