<?php

declare(strict_types=1);

namespace Card_Checkout_Library;

defined('ABSPATH') || exit;

/** Error response of the service. */
class ApiException extends CheckoutException
{
    /**
     * @param string|null $apiCode code of the error, such as `below_minimum`; null if a program cannot react
     */
    final public function __construct(
        string $message,
        int $status,
        public readonly ?string $apiCode = null,
        public readonly ?int $retryAfterSeconds = null
    ) {
        parent::__construct($message, $status);
    }

    public static function of(string $message, int $status, ?string $apiCode, ?int $retryAfterSeconds): self
    {
        $class = match (true) {
            $status === 401, $status === 403 => AuthenticationException::class,
            $status === 404 => NotFoundException::class,
            $status === 409 => ConflictException::class,
            $status === 429 => RateLimitException::class,
            $status >= 500 => ServiceException::class,
            default => InvalidRequestException::class,
        };
        return new $class($message, $status, $apiCode, $retryAfterSeconds);
    }
}
