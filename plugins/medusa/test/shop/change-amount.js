// @ts-nocheck: plain JavaScript with packages that only its own installation has.
/** Changes the amount of a payment session, as a program of the shop can. Prints the id of its payment. */
exports.default = async function changeAmount({ container, args: [id, amount] }) {
  const payment = container.resolve('payment');
  const { data, currency_code } = await payment.retrievePaymentSession(id);
  const changed = await payment.updatePaymentSession({ id, data, currency_code, amount: Number(amount) });
  process.stdout.write(`CHANGED ${changed.data.payment_id}\n`);
};
