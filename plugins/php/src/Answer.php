<?php

declare(strict_types=1);

namespace CardCheckout;

/** Response to an HTTP request. */
final class Answer
{
    public function __construct(
        public readonly int $status,
        public readonly string $body,
        public readonly ?string $retryAfter = null
    ) {
    }
}
