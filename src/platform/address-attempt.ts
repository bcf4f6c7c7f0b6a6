/** Connection timeout per IP address of a host with several. It allows for one retransmission of a lost SYN packet. */
export const ADDRESS_ATTEMPT_MS = 2_500;
