<?php

declare(strict_types=1);

namespace CardCheckout;

/** Request that would fail again: 400, or another refusal without its own class. */
final class InvalidRequestException extends ApiException
{
}
