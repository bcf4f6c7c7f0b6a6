import { shop } from '../../../shop.js';

/** The return URL of the account leads here: https://shop.example/thanks/{payment_id} */
export default async function Page({ params }) {
  const { paymentId } = await params;
  // The shop's own database, which the webhook or the event log has written. Anyone may open this address.
  const isFulfilled = shop.countFulfilments(paymentId) > 0;
  return (
    <main>
      {isFulfilled ? null : <meta httpEquiv="refresh" content="5" />}
      <h1>{isFulfilled ? 'Thank you. Your tea is on its way.' : 'We are waiting for your payment.'}</h1>
    </main>
  );
}
