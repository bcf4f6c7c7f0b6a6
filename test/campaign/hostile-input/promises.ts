/** What is promised of input that nobody should send, as rows of the campaign's table. */
export const hostileInputPromises = {
  createBodies:
    'Any JSON body of a create gets a response of the specified shape, and stores a payment only with 200',
  createQueries: 'Any query of a create or a status read gets a response of the specified shape',
  judgement:
    'Amount, address, note, email and callback are accepted exactly when an independent implementation of the rules accepts them',
  rawBytes:
    'Any bytes on a connection get complete responses of the specified shape, and no payment is stored without its 200',
  pages:
    'Any URL, header or form of the pages gets a safe page, and starts a session only if it redirects to it',
  providerAnswers:
    'Any bytes from a provider lead to a usable response or one of three errors within the time limit',
} as const;

export type HostileInputPromise = keyof typeof hostileInputPromises;
