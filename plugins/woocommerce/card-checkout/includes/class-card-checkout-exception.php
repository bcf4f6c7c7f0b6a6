<?php

declare(strict_types=1);

defined('ABSPATH') || exit;

// What the plugin and the library throw. The text is for merchants and the log, never for customers.
class_alias(Card_Checkout_Library\CheckoutException::class, 'Card_Checkout_Exception');
