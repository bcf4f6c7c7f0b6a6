import { shop } from '../../../shop.js';

/** Page of the account's return URL: https://shop.example/thanks/{payment_id} */
export default async function Page({ params }) {
  const { paymentId } = await params;
  // Reads the shop's database, updated by the webhook or the event log. Anyone can open this URL.
  const isFulfilled = shop.countFulfilments(paymentId) > 0;
  return (
    <main>
      {isFulfilled ? null : <meta httpEquiv="refresh" content="5" />}
      <h1>{isFulfilled ? 'Thank you. Your tea is on its way.' : 'We are waiting for your payment.'}</h1>
    </main>
  );
}
