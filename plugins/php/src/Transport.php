<?php

declare(strict_types=1);

namespace CardCheckout;

/** Sends one HTTP request. Frameworks implement it with their own HTTP client. */
interface Transport
{
    /**
     * Follows no redirect, which would carry the key to another host, and reads a bounded answer in a bounded time.
     *
     * @param array<string, string> $headers
     * @throws ConnectionException without an answer; the text contains no header and no body
     */
    public function send(string $method, string $url, array $headers, ?string $body): Answer;
}
