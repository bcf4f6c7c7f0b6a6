import { describe, expect, it } from 'vitest';
import { meansInBrowser } from './provider-catalog.ts';

const webkit = 'AppleWebKit/605.1.15 (KHTML, like Gecko)';
const mac = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)';
const iphone = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X)';
const blink = 'AppleWebKit/537.36 (KHTML, like Gecko)';
const safariOnMac = `${mac} ${webkit} Version/18.5 Safari/605.1.15`;
const chromeOnAndroid = `Mozilla/5.0 (Linux; Android 10; K) ${blink} Chrome/140.0.0.0 Mobile Safari/537.36`;

describe('meansInBrowser', () => {
  it.each([
    ['apple_pay', safariOnMac],
    ['apple_pay', `${iphone} ${webkit} Version/18.5 Mobile/15E148 Safari/604.1`],
    ['apple_pay', `${iphone} ${webkit} CriOS/140.0 Mobile/15E148 Safari/604.1`],
    ['apple_pay', `${iphone} ${webkit} FxiOS/140.0 Mobile/15E148 Safari/605.1.15`],
    ['google_pay', chromeOnAndroid],
    ['google_pay', `${mac} ${blink} Chrome/140.0.0.0 Safari/537.36`],
    ['google_pay', `${mac} ${blink} Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0`],
    ['google_pay', 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:142.0) Gecko/20100101 Firefox/142.0'],
    ['google_pay', 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:142.0) Gecko/20100101 Firefox/142.0'],
    // Web views inside apps, and clients that are not browsers.
    [null, `${iphone} ${webkit} Mobile/15E148 Instagram 390.0`],
    [
      null,
      `Mozilla/5.0 (Linux; Android 15; Pixel 9; wv) ${blink} Version/4.0 Chrome/140.0 Mobile Safari/537.36`,
    ],
    [null, 'curl/8.5.0'],
    [null, ''],
  ])('offers %s of the wallets in %s', (wallet, userAgent) => {
    const others = ['card', 'paypal', 'klarna'];
    expect(meansInBrowser(userAgent).filter((means) => !others.includes(means))).toEqual(
      wallet === null ? [] : [wallet],
    );
    expect(meansInBrowser(userAgent)).toEqual(expect.arrayContaining(others));
  });
});
