/**
 * Time for one address of a host that has others. Node's default of 250 ms gives up addresses that are only slow; this is
 * enough for a lost first packet to be sent again, after a second.
 */
export const ADDRESS_ATTEMPT_MS = 2_500;
