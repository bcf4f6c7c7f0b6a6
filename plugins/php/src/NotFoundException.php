<?php

declare(strict_types=1);

namespace CardCheckout;

/** 404: the account has no such payment or refund. */
final class NotFoundException extends ApiException
{
}
