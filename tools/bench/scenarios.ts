import type { ServerName } from './servers/bench-server.ts';

/** Kinds of requests that have a file. */
export type RequestKind = 'create' | 'create-one-account' | 'status-by-id' | 'status-by-token';

/** Requests of one kind against a server. */
export interface Contender {
  readonly label: string;
  readonly server: ServerName;
  readonly requests: RequestKind;
}

/** Contenders under the same load, measured alternately. */
export interface Scenario {
  readonly name: string;
  readonly title: string;
  readonly contenders: readonly Contender[];
  /** Compared pairs: `[label, base label]`. */
  readonly comparisons: readonly (readonly [string, string])[];
}

/** Numbers of connections, one per load. */
export const CONNECTIONS = 64;

export const scenarios: readonly Scenario[] = [
  {
    name: 'create',
    title: 'Create, 64 connections, 512 bodies',
    contenders: [
      { label: 'ceiling A', server: 'ceiling-a', requests: 'create' },
      { label: 'service', server: 'service', requests: 'create' },
      { label: 'service, a million stored', server: 'service-million', requests: 'create' },
    ],
    comparisons: [
      ['service', 'ceiling A'],
      ['service, a million stored', 'service'],
    ],
  },
  {
    name: 'read',
    title: 'Status, 64 connections, 512 payments',
    contenders: [
      { label: 'raw GET', server: 'raw-get', requests: 'status-by-id' },
      { label: 'status by payment_id', server: 'service', requests: 'status-by-id' },
      { label: 'status by ipn_token', server: 'service', requests: 'status-by-token' },
    ],
    comparisons: [
      ['status by payment_id', 'raw GET'],
      ['status by ipn_token', 'raw GET'],
    ],
  },
  {
    name: 'create-postgres',
    title: 'Create on PostgreSQL, 64 connections, 512 bodies',
    contenders: [
      { label: 'ceiling on PostgreSQL', server: 'ceiling-postgres', requests: 'create' },
      { label: 'service on PostgreSQL', server: 'service-postgres', requests: 'create' },
      {
        label: 'service on PostgreSQL, one account',
        server: 'service-postgres',
        requests: 'create-one-account',
      },
    ],
    comparisons: [['service on PostgreSQL', 'ceiling on PostgreSQL']],
  },
];
