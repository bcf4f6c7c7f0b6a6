/**
 * Time limit for one of several addresses of a host. Node's default of 250 ms abandons slow addresses; this allows for
 * the retransmission of a lost first packet after a second.
 */
export const ADDRESS_ATTEMPT_MS = 2_500;
