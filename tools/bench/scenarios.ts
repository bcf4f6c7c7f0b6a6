import type { ServerName } from './servers/bench-server.ts';

/** The kinds of requests there are files of. */
export type RequestKind = 'create' | 'create-one-account' | 'status-by-id' | 'status-by-token';

/** One thing that is measured: requests of a kind against a server. */
export interface Contender {
  readonly label: string;
  readonly server: ServerName;
  readonly requests: RequestKind;
}

/** Contenders that are measured in turn under the same load. */
export interface Scenario {
  readonly name: string;
  readonly title: string;
  readonly contenders: readonly Contender[];
  /** Which pairs are compared, `[label, of which label]`. */
  readonly comparisons: readonly (readonly [string, string])[];
}

/** Connections of each load. */
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
