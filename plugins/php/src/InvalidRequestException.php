<?php

declare(strict_types=1);

namespace CardCheckout;

/** A request that fails again unchanged: 400, or another refusal without a separate class. */
final class InvalidRequestException extends ApiException
{
}
