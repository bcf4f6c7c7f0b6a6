import { redirect } from 'next/navigation';
import { shop } from '../shop.js';

/** Runs on the server, so the browser never sees the key and the shop sets the price. */
async function buy() {
  'use server';
  const { checkout_url: checkoutUrl } = await shop.createOrder('25.00');
  redirect(checkoutUrl);
}

export default function Page() {
  return (
    <main>
      <h1>A tin of tea</h1>
      <form action={buy}>
        <button type="submit">Buy for $25.00</button>
      </form>
    </main>
  );
}
