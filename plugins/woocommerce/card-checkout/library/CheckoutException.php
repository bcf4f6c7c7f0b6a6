<?php

declare(strict_types=1);

namespace Card_Checkout_Library;

defined('ABSPATH') || exit;

/**
 * Base class of all exceptions of this library. The message is for merchants and logs, never for customers, and
 * contains no key or token. The code is the HTTP status, or 0 without a response of the service.
 */
class CheckoutException extends \RuntimeException
{
    /**
     * Returns whether the service refused, so that the same request would fail again. Otherwise, it may have been
     * executed: repeat it with the same idempotency key.
     */
    public function isRefusal(): bool
    {
        return $this->getCode() >= 400 && $this->getCode() < 500 && !in_array($this->getCode(), [408, 425, 429], true);
    }
}
