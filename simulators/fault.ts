/** How a part of the sandbox behaves: as it should, not at all, or too late. Forgotten at a restart. */
export type Fault = 'up' | 'down' | 'slow';

/**
 * How a simulated on-ramp behaves: `refuse` declines every question and every card; `less`, `late`, `twice` and
 * `wrong-token` say what becomes of the orders that are paid from now on; the others what becomes of its notices.
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
