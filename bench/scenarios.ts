import type { ServerName } from './servers/bench-server.ts';

/** The kinds of requests there are files of. */
export type RequestKind = 'create' | 'create-fresh' | 'status-by-id' | 'status-by-token' | 'checkout-page';

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
  readonly connections: number;
  readonly contenders: readonly Contender[];
  /** Which pairs are compared, `[label, of which label]`. */
  readonly comparisons: readonly (readonly [string, string])[];
}

const rawGet = (requests: RequestKind): Contender => ({ label: 'raw GET', server: 'raw-get', requests });

function creates(requests: 'create' | 'create-fresh'): Contender[] {
  return [
    { label: 'ceiling A', server: 'ceiling-a', requests },
    { label: 'ceiling B', server: 'ceiling-b', requests },
    { label: 'service', server: 'service', requests },
  ];
}

const ofCeilings = [
  ['service', 'ceiling A'],
  ['service', 'ceiling B'],
] as const;
const rawPost: Contender = { label: 'raw POST + JSON', server: 'raw-post', requests: 'create' };

const service = (server: ServerName, label: string): Contender => ({ label, server, requests: 'create' });

export const scenarios: readonly Scenario[] = [
  {
    name: 'create-64',
    title: 'Create, 64 connections, 512 bodies',
    connections: 64,
    contenders: [rawGet('status-by-id'), rawPost, ...creates('create')],
    comparisons: [...ofCeilings, ['service', 'raw POST + JSON'], ['service', 'raw GET']],
  },
  {
    name: 'create-8',
    title: 'Create, 8 connections, 512 bodies',
    connections: 8,
    contenders: [rawPost, ...creates('create')],
    comparisons: ofCeilings,
  },
  {
    name: 'create-fresh-64',
    title: 'Create, 64 connections, a fresh payout address each time',
    connections: 64,
    contenders: creates('create-fresh'),
    comparisons: ofCeilings,
  },
  {
    name: 'read-64',
    title: 'Reads, 64 connections, 512 payments',
    connections: 64,
    contenders: [
      rawGet('status-by-id'),
      { label: 'status by payment_id', server: 'service', requests: 'status-by-id' },
      { label: 'status by ipn_token', server: 'service', requests: 'status-by-token' },
      { label: 'checkout page', server: 'service', requests: 'checkout-page' },
    ],
    comparisons: [
      ['status by payment_id', 'raw GET'],
      ['status by ipn_token', 'raw GET'],
      ['checkout page', 'raw GET'],
    ],
  },
  {
    name: 'create-million',
    title: 'Create, 64 connections, a million payments stored, 100,000 of them open',
    connections: 64,
    contenders: [
      service('service', 'service, empty'),
      service('service-million', 'service, a million stored'),
    ],
    comparisons: [['service, a million stored', 'service, empty']],
  },
  {
    name: 'logging-and-metrics',
    title: 'Create, 64 connections, with and without log and metrics',
    connections: 64,
    contenders: [
      service('service-silent', 'service, silent and uncounted'),
      service('service', 'service, as it ships'),
    ],
    comparisons: [['service, as it ships', 'service, silent and uncounted']],
  },
  {
    name: 'create-postgres',
    title: 'Create on PostgreSQL, 64 connections, 512 bodies',
    connections: 64,
    contenders: [
      { label: 'ceiling on PostgreSQL', server: 'ceiling-postgres', requests: 'create' },
      service('service-postgres', 'service on PostgreSQL'),
    ],
    comparisons: [['service on PostgreSQL', 'ceiling on PostgreSQL']],
  },
];
