import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Dialog, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { CONTROL_SOCKET, callServer } from '../../src/cli/control-socket.ts';
import { launchBrowser } from '../support/browser.ts';
import { type EndToEndService, SOMEBODY, startEndToEndService } from '../support/e2e-service.ts';
import { CUSTOMER_ADDRESS } from '../support/refunds.ts';
import { waitFor } from '../support/wait-for.ts';
import { type OrderStorage, openRealShop, type RealShop } from './real-shop.ts';

const wordpressDir = process.env['WORDPRESS_DIR'];
const woocommerceDir = process.env['WOOCOMMERCE_DIR'];
const hasPrograms = ['php', 'mariadbd'].every((name) => spawnSync(name, ['--version']).status === 0);
const screenshots = join(import.meta.dirname, '..', '..', 'test-output', 'screenshots', 'woocommerce');

/** The header stays at the top of the window, over what a screenshot is of. */
const withoutHeader = '#wpadminbar, .woocommerce-layout__header { display: none }';

interface OrderFacts {
  readonly status: string;
  readonly payment: string;
  readonly notes: readonly string[];
}

async function readOrder(shop: RealShop): Promise<OrderFacts> {
  const text = await shop.php(`
    $order = wc_get_orders(['limit' => 1, 'orderby' => 'id', 'order' => 'DESC'])[0];
    $notes = array_map(fn ($note) => $note->content, wc_get_order_notes(['order_id' => $order->get_id()]));
    echo json_encode(['status' => $order->get_status(), 'payment' => $order->get_meta('_card_checkout_payment_id'), 'notes' => $notes]);`);
  return JSON.parse(text.slice(text.lastIndexOf('{"status"'))) as OrderFacts;
}

async function placeOrder(page: Page, shop: RealShop, button: string): Promise<void> {
  await page.getByRole('button', { name: button }).click();
  try {
    await page.waitForURL('**/pay/**');
  } catch (error) {
    await page.screenshot({ path: join(screenshots, 'checkout-failed.png'), fullPage: true });
    throw new Error(`the service's page did not come; WordPress logged: ${shop.debugLog().slice(-2_000)}`, {
      cause: error,
    });
  }
}

/** Buys the product in the checkout made of blocks, until the service's page is there. */
async function buyWithBlocks(page: Page, shop: RealShop, product: number): Promise<void> {
  await page.goto(`${shop.url}/?add-to-cart=${product}`);
  await page.goto(`${shop.url}/checkout/`);
  await page.getByRole('textbox', { name: 'Email address' }).fill('ada@shop.example');
  for (const [name, value] of [
    ['First name', 'Ada'],
    ['Last name', 'Lovelace'],
    ['Address', 'Street 1'],
    ['Postal code', '10115'],
    ['City', 'Berlin'],
  ] as const) {
    await page.getByRole('textbox', { name, exact: true }).fill(value);
  }
  // The checkout sends the address first, and drops a click until the answer is there.
  await page.getByRole('textbox', { name: 'City' }).blur();
  await page.waitForResponse((response) => response.url().includes('/wc/store/v1/batch'));
  await page.waitForLoadState('networkidle');
  await page.screenshot({ path: join(screenshots, 'checkout-blocks.png'), fullPage: true });
  await placeOrder(page, shop, 'Place Order');
}

async function buyClassically(page: Page, shop: RealShop, product: number): Promise<void> {
  await page.goto(`${shop.url}/?add-to-cart=${product}`);
  await page.goto(`${shop.url}/classic-checkout/`);
  for (const [field, value] of [
    ['first_name', 'Ada'],
    ['last_name', 'Lovelace'],
    ['address_1', 'Street 1'],
    ['postcode', '10115'],
    ['city', 'Berlin'],
    ['phone', '030 1234567'],
    ['email', 'ada@shop.example'],
  ] as const) {
    await page.locator(`#billing_${field}`).fill(value);
  }
  await page.locator('#billing_email').blur();
  await page.waitForLoadState('networkidle');
  // While the totals are updated, an overlay takes the click.
  await page.locator('.blockOverlay').first().waitFor({ state: 'detached' });
  await page.getByText('You pay by card on the next page').waitFor();
  await page.screenshot({ path: join(screenshots, 'checkout-classic.png'), fullPage: true });
  await placeOrder(page, shop, 'Place order');
}

async function orderPage(shop: RealShop): Promise<string> {
  const text = await shop.php("echo 'URL:' . wc_get_orders(['limit' => 1])[0]->get_edit_order_url();");
  return text.split('URL:')[1] as string;
}

/** What WooCommerce has recorded as refunded for the newest order. */
async function readRefunds(shop: RealShop): Promise<{ total: string; items: number; status: string }> {
  const text = await shop.php(`
    $order = wc_get_orders(['limit' => 1, 'orderby' => 'id', 'order' => 'DESC', 'type' => 'shop_order'])[0];
    echo 'JSON:' . json_encode(['total' => (string) $order->get_total_refunded(), 'status' => $order->get_status(),
      'items' => abs($order->get_item_count_refunded())]);`);
  return JSON.parse(text.split('JSON:')[1] as string);
}

/** Presses WooCommerce's own "Refund … via" for the whole order. Returns what WooCommerce says. */
async function refundWholeOrder(page: Page): Promise<string> {
  await page.getByRole('button', { name: 'Refund', exact: true }).click();
  await page.locator('.refund_order_item_qty').first().fill('1');
  await page.locator('.refund_order_item_qty').first().blur();
  const said: string[] = [];
  const listen = (dialog: Dialog) => {
    said.push(dialog.message());
    void dialog.accept();
  };
  page.on('dialog', listen);
  await page.locator('.do-api-refund').click();
  // The first asks whether to refund, the second has the gateway's answer.
  await waitFor('the answer of the refund', 30_000, () => said.length === 2);
  page.off('dialog', listen);
  return said[1] as string;
}

async function signIn(page: Page, shop: RealShop): Promise<void> {
  await page.goto(`${shop.url}/wp-login.php`);
  await page.fill('#user_login', 'admin');
  await page.fill('#user_pass', 'a password of the test');
  await page.click('#wp-submit');
  await page.waitForURL('**/wp-admin/**');
}

it.each(['hpos', 'posts'] satisfies OrderStorage[])(
  'completes and refunds orders of a real WooCommerce once, in both checkouts, orders stored as %s',
  async (storage) => {
    if (wordpressDir === undefined || woocommerceDir === undefined || !hasPrograms) {
      console.warn('not checked: a real WooCommerce; needs WORDPRESS_DIR, WOOCOMMERCE_DIR, php and mariadbd');
      return;
    }
    mkdirSync(screenshots, { recursive: true });
    const shop = await openRealShop({ wordpressDir, woocommerceDir });
    let service: EndToEndService | null = null;
    let browser: Browser | null = null;
    try {
      service = await startEndToEndService({}, { others: { hosts: [shop.host], caPem: shop.caPem } });
      const product = await shop.setUp({
        storage,
        serviceUrl: service.url,
        apiKey: service.process().demoKey(),
        payoutAddress: SOMEBODY,
      });
      browser = await launchBrowser();
      const page = await browser.newPage({ ignoreHTTPSErrors: true, locale: 'en-US' });
      await buyWithBlocks(page, shop, product);
      const open = await readOrder(shop);
      expect(open.status).toBe('pending');
      expect(page.url()).toContain(open.payment);

      const socket = join(service.environment['DATA_DIR'] as string, CONTROL_SOCKET);
      await callServer(socket, 'sandbox pay', { payment: open.payment });
      const paidNotes = ({ notes }: OrderFacts) =>
        notes.filter((note) => note.includes('Card checkout: Paid'));
      await waitFor('the order to be completed by the webhook', 60_000, async () => {
        const order = await readOrder(shop);
        return order.status === 'processing' && paidNotes(order).length > 0;
      });

      // The service's page leads back to the order, for the browser that placed it.
      await page.goto(`${shop.url}/?wc-api=card_checkout_return&payment_id=${open.payment}`);
      expect(page.url()).toContain('order-received');
      const stranger = await browser.newPage({ ignoreHTTPSErrors: true });
      await stranger.goto(`${shop.url}/?wc-api=card_checkout_return&payment_id=${open.payment}`);
      expect(stranger.url()).not.toContain('order-received');
      const [cookie] = (await page.context().cookies()).filter(({ name }) => name.endsWith(open.payment));
      expect(cookie).toMatchObject({ httpOnly: true, secure: true, sameSite: 'Lax' });
      const answers = await shop.php(`
        wp_set_current_user(1);
        foreach (['v2', 'v3'] as $version) {
          echo json_encode(rest_do_request(new WP_REST_Request('GET', "/wc/$version/orders"))->get_data());
        }`);
      expect(answers).toContain(open.payment);
      expect(answers).not.toMatch(/ipn_[A-Za-z0-9]{8}|\/pay\//);

      await signIn(page, shop);
      const edit = await orderPage(shop);
      await page.goto(edit);
      expect(await page.locator('#card-checkout').textContent()).toContain(open.payment);
      await page.screenshot({ path: join(screenshots, `order-${storage}.png`), fullPage: true });
      await page.getByRole('link', { name: 'Check now' }).click();
      await page.getByText('The payment was checked.').waitFor();
      for (const action of ['card_checkout_check_order', 'card_checkout_check_connection']) {
        const forged = await page.request.post(`${shop.url}/wp-admin/admin-post.php?action=${action}`);
        expect(forged.status(), `${action} without a nonce`).toBe(403);
      }
      await page.goto(`${shop.url}/wp-admin/admin.php?page=wc-settings&tab=checkout&section=card_checkout`);
      expect(await page.content()).not.toContain(service.process().demoKey());
      await page.getByRole('link', { name: 'Test connection' }).click();
      await page.getByText('The connection works.').waitFor();
      await page.screenshot({ path: join(screenshots, `settings-${storage}.png`), fullPage: true });
      // Connected in one click: another key, which works at once.
      const account = JSON.parse(
        readFileSync(join(service.environment['DATA_DIR'] as string, 'sandbox-demo-account.json'), 'utf8'),
      ) as { readonly email: string; readonly password: string };
      await page.getByRole('link', { name: 'Connect in one click' }).click();
      await page.getByLabel('Email address').fill(account.email);
      await page.getByLabel('Password').fill(account.password);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.getByText(`A shop at ${shop.host}`).waitFor();
      await page.getByLabel('Your password').fill(account.password);
      await page.screenshot({ path: join(screenshots, `connect-${storage}.png`), fullPage: true });
      await page.getByRole('button', { name: 'Connect the shop' }).click();
      await page.getByText('The shop is connected.').waitFor();
      const german = await shop.php(`
        unload_textdomain('card-checkout', true);
        foreach (['plugin_locale', 'pre_determine_locale'] as $hook) { add_filter($hook, fn () => 'de_DE'); }
        load_plugin_textdomain('card-checkout', false, 'card-checkout/languages');
        echo __('Test connection', 'card-checkout');`);
      expect(german).toContain('Verbindung testen');
      await shop.php("do_action('card_checkout_check_open_orders');");
      expect(paidNotes(await readOrder(shop))).toHaveLength(1);

      // A refund: opened, its address named by the customer and confirmed, transferred, recorded once with its item.
      await page.goto(edit);
      const opened = await refundWholeOrder(page);
      const link = /https?:\/\/\S+\/refund\/\S+/.exec(opened)?.[0];
      expect(link, opened).toBeDefined();
      const customer = await browser.newPage({ locale: 'en-US' });
      await customer.goto(link as string);
      await customer.getByRole('textbox').fill(CUSTOMER_ADDRESS);
      await customer.screenshot({ path: join(screenshots, `refund-link-${storage}.png`), fullPage: true });
      await customer.getByRole('button').last().click();
      await customer.getByText(CUSTOMER_ADDRESS).waitFor();
      await page.goto(edit);
      const box = page.locator('#card-checkout');
      await box.getByRole('link', { name: 'Check now' }).click();
      await box.getByRole('button', { name: 'Confirm address' }).waitFor();
      expect(await page.inputValue('#card_checkout_refund_to')).toBe(CUSTOMER_ADDRESS);
      await box.screenshot({
        path: join(screenshots, `refund-confirm-${storage}.png`),
        style: withoutHeader,
      });
      await box.getByRole('button', { name: 'Confirm address' }).click();
      await page.getByText('The address is confirmed.').waitFor();
      const said = (await readOrder(shop)).notes.find((note) => note.includes('Transfer exactly'));
      expect(said).toContain(`USDC on Polygon to ${CUSTOMER_ADDRESS}`);
      const usdc = /exactly ([\d.]+) USDC/.exec(said ?? '')?.[1];
      expect((await readRefunds(shop)).total).toBe('0');
      expect(await page.inputValue('#card_checkout_refund_amount')).toBe(usdc);
      expect(await page.inputValue('#card_checkout_refund_to')).toBe(CUSTOMER_ADDRESS);
      expect(await box.getByRole('link', { name: 'Open in a wallet' }).getAttribute('href')).toMatch(
        /^ethereum:0x[0-9a-fA-F]{40}@\d+\/transfer\?address=0x/,
      );
      await page.screenshot({ path: join(screenshots, `refund-open-${storage}.png`), fullPage: true });
      await box.screenshot({
        path: join(screenshots, `refund-box-${storage}.png`),
        style: withoutHeader,
      });
      const refundId = /rfd_[0-9a-f]{20}/.exec((await readOrder(shop)).notes.join('\n'))?.[0];
      await callServer(socket, 'sandbox refund', { refund: refundId as string });
      const hourlyCheck = () => shop.php("do_action('card_checkout_check_open_orders');");
      await waitFor('the refund to be recorded', 60_000, async () => {
        await Promise.all([hourlyCheck(), hourlyCheck()]);
        return (await readRefunds(shop)).total !== '0';
      });
      await hourlyCheck();
      expect(await readRefunds(shop)).toEqual({ total: '25', items: 1, status: 'refunded' });
      await page.goto(edit);
      await page.screenshot({ path: join(screenshots, `refund-paid-${storage}.png`), fullPage: true });

      const classic = await browser.newPage({ ignoreHTTPSErrors: true, locale: 'en-US' });
      await buyClassically(classic, shop, product);
      const second = await readOrder(shop);
      expect([second.status, second.payment === open.payment]).toEqual(['pending', false]);
      await callServer(socket, 'sandbox pay', { payment: second.payment });
      await waitFor('the second order to be completed by the webhook', 60_000, async () => {
        const order = await readOrder(shop);
        return order.status === 'processing' && paidNotes(order).length === 1;
      });
      const ours = shop
        .debugLog()
        .split('\n')
        .filter((line) => line.includes('plugins/card-checkout') || line.includes('meta_query'));
      expect(ours).toEqual([]);

      const left = await shop.php(`
        require_once ABSPATH . 'wp-admin/includes/plugin.php';
        deactivate_plugins('card-checkout/card-checkout.php');
        uninstall_plugin('card-checkout/card-checkout.php');
        global $wpdb;
        echo 'LEFT:' . json_encode([
          $wpdb->get_col("SELECT option_name FROM {$wpdb->options} WHERE option_name LIKE '%card_checkout%'"
            . " AND option_name NOT LIKE '_transient%'"),
          wp_next_scheduled('card_checkout_check_open_orders'),
        ]);`);
      expect(left.split('LEFT:')[1]).toBe('[[],false]');
    } finally {
      await browser?.close();
      await service?.stop();
      await shop.stop();
    }
  },
  300_000,
);
