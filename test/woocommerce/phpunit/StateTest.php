<?php

declare(strict_types=1);

use PHPUnit\Framework\TestCase;

final class StateTest extends TestCase
{
    /** Every pair of the two states: those that the service reports have a meaning, and the others have none. */
    public function testKnowsTheStatesOfTheServiceAndNoOther(): void
    {
        $known = [
            'unpaid/pending' => 'open',
            'unpaid/ready' => 'releasing',
            'unpaid/processing' => 'releasing',
            'unpaid/failed' => 'release_refused',
            'unpaid/manual_required' => 'release_refused',
            'paid/completed' => 'paid',
            'canceled/canceled' => 'canceled',
            'canceled/manual_required' => 'canceled_with_money',
            'canceled/completed' => 'canceled_and_released',
        ];
        $statuses = ['unpaid', 'paid', 'canceled', 'refunded', '', 'PAID'];
        $forwards = ['pending', 'ready', 'processing', 'completed', 'failed', 'manual_required', 'canceled', '', 'x'];
        foreach ($statuses as $status) {
            foreach ($forwards as $forward) {
                $answer = ['status' => $status, 'forward_status' => $forward, 'value_coin' => '0.000000'];
                $this->assertSame(
                    $known["$status/$forward"] ?? Card_Checkout_State::UNKNOWN,
                    Card_Checkout_State::of($answer),
                    "$status/$forward"
                );
            }
        }
        $this->assertSame(Card_Checkout_State::UNKNOWN, Card_Checkout_State::of([]));
    }

    public function testKnowsAPartialPaymentByWhatArrived(): void
    {
        $answer = ['status' => 'unpaid', 'forward_status' => 'pending', 'value_coin' => '0.000001'];
        $this->assertSame(Card_Checkout_State::PARTIALLY_PAID, Card_Checkout_State::of($answer));
        $this->assertSame(Card_Checkout_State::OPEN, Card_Checkout_State::of(['value_coin' => null] + $answer));
    }
}
