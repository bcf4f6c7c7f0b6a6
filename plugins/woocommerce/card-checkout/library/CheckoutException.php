<?php

declare(strict_types=1);

namespace Card_Checkout_Library;

defined('ABSPATH') || exit;

/**
 * Base of all exceptions of this library. The text is for merchants and logs, never for customers, and contains no key and
 * no token. The code is the HTTP status, or 0 without an answer of the service.
 */
class CheckoutException extends \RuntimeException
{
    /**
     * Whether the service refused, so that the same request fails again. Otherwise it may have been executed: repeat it
     * with the same idempotency key.
     */
    public function isRefusal(): bool
    {
        return $this->getCode() >= 400 && $this->getCode() < 500 && !in_array($this->getCode(), [408, 425, 429], true);
    }
}
