<?php

declare(strict_types=1);

use PHPUnit\Framework\TestCase;

final class AmountTest extends TestCase
{
    public function testReadsAndWritesUsdcWithoutLosingAUnit(): void
    {
        foreach ([0, 1, 999_999, 1_000_000, 23_260_000, 999_999_999_999] as $units) {
            $this->assertSame($units, Card_Checkout_Amount::units(Card_Checkout_Amount::usdc($units)));
        }
        mt_srand(7);
        for ($index = 0; $index < 1_000; $index++) {
            $units = mt_rand(0, 999_999_999_999);
            $this->assertSame($units, Card_Checkout_Amount::units(Card_Checkout_Amount::usdc($units)));
        }
        $this->assertSame(12_500_000, Card_Checkout_Amount::units('12.5'));
        $this->assertSame(12_000_000, Card_Checkout_Amount::units('12'));
        foreach (['', '.5', '1.', '-1', '1e3', '1.0000001', '1000000', ' 1', "1\n", '1,5', '0x1'] as $text) {
            $this->assertNull(Card_Checkout_Amount::units($text), "'$text'");
        }
    }

    public function testHasCentsOfWhatWooCommerceKeepsAsDecimalText(): void
    {
        foreach (['25' => 2500, '0.1' => 10, '19.99' => 1999, '1234.5' => 123450, '0.29' => 29, '-1' => -100] as $text => $cents) {
            $this->assertSame($cents, Card_Checkout_Amount::cents((string) $text));
        }
        for ($cents = 0; $cents <= 1_000_000; $cents += 7) {
            $this->assertSame($cents, Card_Checkout_Amount::cents($cents / 100));
        }
        $this->assertSame('1234.50', Card_Checkout_Amount::decimal('1234.5'));
    }

    public function testSharesOfAllPartsOfAnOrderNeverExceedWhatArrived(): void
    {
        mt_srand(11);
        for ($index = 0; $index < 2_000; $index++) {
            $total = mt_rand(1, 1_000_000);
            $received = mt_rand(0, 30_000_000_000);
            [$left, $sum] = [$total, 0];
            while ($left > 0) {
                $part = mt_rand(1, $left);
                $sum += Card_Checkout_Amount::share($received, $part, $total);
                $left -= $part;
            }
            $this->assertLessThanOrEqual($received, $sum);
            $this->assertSame($received, Card_Checkout_Amount::share($received, $total, $total));
        }
        // The highest amounts fit an integer.
        $this->assertSame(999_999_999_999, Card_Checkout_Amount::share(999_999_999_999, 1_000_000, 1_000_000));
        $this->assertSame(11_630_000, Card_Checkout_Amount::share(23_260_000, 1250, 2500));
    }

    public function testRefusesARefundThatIsNoPartOfTheOrder(): void
    {
        foreach ([[1, 2, 1], [1, -1, 1], [-1, 1, 1], [0, 0, 0]] as $arguments) {
            try {
                Card_Checkout_Amount::share(...$arguments);
                $this->fail(json_encode($arguments) . ' is accepted');
            } catch (InvalidArgumentException $exception) {
                $this->assertStringContainsString('part', $exception->getMessage());
            }
        }
    }
}
