<?php

declare(strict_types=1);

namespace CardCheckout;

/** 429: wait for `retryAfterSeconds` plus a random time. */
final class RateLimitException extends ApiException
{
}
