<?php

declare(strict_types=1);

namespace CardCheckout;

/** Server error. The request may have been executed. */
final class ServiceException extends ApiException
{
}
