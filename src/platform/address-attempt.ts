/** Time limit for one of several IP addresses of a host, enough for one retransmission of a lost first packet. */
export const ADDRESS_ATTEMPT_MS = 2_500;
