<?php

declare(strict_types=1);

namespace Automattic\WooCommerce\Blocks\Payments\Integrations;

/** What a way to pay in the checkout of blocks extends. */
abstract class AbstractPaymentMethodType
{
    /** @var string */
    protected $name = '';
    /** @var array<string, mixed> */
    protected $settings = [];

    abstract public function initialize(): void;

    public function get_name(): string
    {
        return $this->name;
    }
}
