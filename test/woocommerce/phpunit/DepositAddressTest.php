<?php

declare(strict_types=1);

use PHPUnit\Framework\TestCase;

final class DepositAddressTest extends TestCase
{
    public function testAcceptsWhatTheServiceMakesForEachFactoryFeeAndFeeWallet(): void
    {
        ['publication' => $publication, 'payments' => $payments] = vectors()['deposits'];
        $this->assertGreaterThan(20, count($payments));
        foreach ($payments as ['payout' => $payout, 'payment' => $payment]) {
            Card_Checkout_Deposit_Address::verify($payment, $payout, $publication);
            // Digits in another case are the same address.
            Card_Checkout_Deposit_Address::verify($payment, strtolower($payout), $publication);
        }
    }

    public function testRefusesAnAddressOfAnotherWalletFeePaymentFactoryOrChain(): void
    {
        ['publication' => $publication, 'payments' => [$first, $second]] = vectors()['deposits'];
        ['payout' => $payout, 'payment' => $payment] = $first;
        $changes = [
            [['polygon_address_in' => $second['payment']['polygon_address_in']] + $payment, $payout, $publication],
            [['payment_id' => $second['payment']['payment_id']] + $payment, $payout, $publication],
            [['fee_percent' => $payment['fee_percent'] + 0.01] + $payment, $payout, $publication],
            [$payment, $second['payout'], $publication],
            [$payment, $payout, ['chain_id' => 1] + $publication],
            [$payment, $payout, ['factories' => [['address' => $payout]]] + $publication],
            [$payment, $payout, ['fee_wallets' => [$payout]] + $publication],
        ];
        foreach ($changes as $index => [$changed, $wallet, $published]) {
            try {
                Card_Checkout_Deposit_Address::verify($changed, $wallet, $published);
                $this->fail("change $index is accepted");
            } catch (Card_Checkout_Exception $exception) {
                $this->assertStringContainsString('could pay another wallet', $exception->getMessage());
            }
        }
    }

    public function testRefusesFeesAddressesAndListsThatAreNone(): void
    {
        ['publication' => $publication, 'payments' => [['payout' => $payout, 'payment' => $payment]]] = vectors()['deposits'];
        $many = array_fill(0, 257, ['address' => $payout]);
        $changes = [
            'a fee above ten percent' => [['fee_percent' => 10.01] + $payment, $publication],
            'a negative fee' => [['fee_percent' => -1] + $payment, $publication],
            'no fee' => [array_diff_key($payment, ['fee_percent' => 0]), $publication],
            'no address' => [['polygon_address_in' => '0x1'] + $payment, $publication],
            'an address and a line break' => [
                ['polygon_address_in' => $payment['polygon_address_in'] . "\n"] + $payment,
                $publication,
            ],
            'no factory' => [$payment, ['factories' => []] + $publication],
            'too many factories' => [$payment, ['factories' => $many, 'fee_wallets' => [$payout]] + $publication],
            'no chain' => [$payment, array_diff_key($publication, ['chain_id' => 0])],
            'nothing' => [$payment, []],
        ];
        foreach ($changes as $name => [$changed, $published]) {
            try {
                Card_Checkout_Deposit_Address::verify($changed, $payout, $published);
                $this->fail("$name is accepted");
            } catch (Card_Checkout_Exception $exception) {
                $this->assertNotSame('', $exception->getMessage());
            }
        }
    }
}
