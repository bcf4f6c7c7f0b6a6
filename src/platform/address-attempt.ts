/** Time limit per IP address of a host with several. Long enough to retransmit a lost first packet once. */
export const ADDRESS_ATTEMPT_MS = 2_500;
