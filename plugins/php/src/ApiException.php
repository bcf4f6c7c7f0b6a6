<?php

declare(strict_types=1);

namespace CardCheckout;

/** The service answered with an error. */
class ApiException extends CheckoutException
{
    /**
     * @param string|null $apiCode the error's code, for example `below_minimum`; null if nothing can be done about it
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
