/** The fault of a part of the sandbox: none, down, or slow. A restart resets it. */
export type Fault = 'up' | 'down' | 'slow';

/**
 * The fault of a simulated on-ramp: `refuse` declines every request and every card. `less`, `late`, `twice` and
 * `wrong-token` apply to the orders that are paid from now on. The others apply to its webhooks.
 */
export type ProviderFault =
  | Fault
  | 'refuse'
  | 'less'
  | 'late'
  | 'twice'
  | 'wrong-token'
  | 'notices-repeated'
  | 'notices-reversed'
  | 'notices-lost'
  | 'notices-forged';
