import type { Role } from '../../domain/person.ts';

/** The places of the dashboard, in the order of its navigation. */
export const sections = {
  overview: { label: 'Overview', path: '', role: 'viewer' },
  payments: { label: 'Payments', path: '/payments', role: 'viewer' },
  links: { label: 'Payment links', path: '/links', role: 'developer' },
  keys: { label: 'API keys', path: '/keys', role: 'developer' },
  settings: { label: 'Settings', path: '/settings', role: 'owner' },
  people: { label: 'People', path: '/people', role: 'owner' },
  sessions: { label: 'Sessions', path: '/sessions', role: 'viewer' },
  audit: { label: 'Audit log', path: '/audit', role: 'owner' },
} as const satisfies Record<string, { label: string; path: string; role: Role }>;

export type Section = keyof typeof sections;

/** All of the dashboard is below it. */
export const DASHBOARD_PATH = '/dashboard';
