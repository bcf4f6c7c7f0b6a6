<?php

declare(strict_types=1);

namespace Card_Checkout_Library;

defined('ABSPATH') || exit;

/** 429: wait for \`retryAfterSeconds\`, and then for a random moment. */
final class RateLimitException extends ApiException
{
}
