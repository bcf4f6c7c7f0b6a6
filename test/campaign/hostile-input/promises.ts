/** What is promised of input that nobody should send, as rows of the campaign's table. */
export const hostileInputPromises = {
  createBodies:
    'Any JSON body of a create is answered in the specified shape and stores one payment with 200, else none',
  createQueries: 'So is any query of a create and of a status question',
  judgement:
    'Amount, address, note, e-mail and callback are taken exactly when the rules, written a second time, take them',
  rawBytes:
    'Any bytes on a connection get whole answers in the specified shape, and no payment without its 200',
  pages:
    'Any address, header and form of the pages is answered with a safe page and starts no visit unless it leads there',
  providerAnswers: 'Any bytes from a provider end as a usable answer or as one of three errors, in time',
} as const;

export type HostileInputPromise = keyof typeof hostileInputPromises;
