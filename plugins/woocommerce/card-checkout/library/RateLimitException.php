<?php

declare(strict_types=1);

namespace Card_Checkout_Library;

defined('ABSPATH') || exit;

/** 429: wait for `retryAfterSeconds` plus a random time. */
final class RateLimitException extends ApiException
{
}
