import type { Role } from '../../accounts/person.ts';

/** Sections of the dashboard by navigation group, with the lowest role that sees each. The first group has no title. */
export const sections = {
  home: { group: '', label: 'Home', path: '', role: 'viewer' },
  payments: { group: '', label: 'Payments', path: '/payments', role: 'viewer' },
  statement: { group: '', label: 'Statement', path: '/statement', role: 'viewer' },
  analytics: { group: '', label: 'Analytics', path: '/analytics', role: 'viewer' },
  keys: { group: 'Developers', label: 'API keys', path: '/keys', role: 'developer' },
  webhooks: { group: 'Developers', label: 'Webhooks', path: '/webhook-check', role: 'developer' },
  settings: { group: 'Account', label: 'Settings', path: '/settings', role: 'owner' },
  people: { group: 'Account', label: 'People', path: '/people', role: 'owner' },
  security: { group: 'Account', label: 'Security', path: '/security', role: 'viewer' },
  audit: { group: 'Account', label: 'Audit log', path: '/audit', role: 'owner' },
} as const satisfies Record<string, Omit<AddedSection, 'after'>>;

/** Section of a feature. Follows one of the dashboard's own sections, in order of registration. */
interface AddedSection {
  readonly after: keyof typeof sections;
  readonly group: string;
  readonly label: string;
  readonly path: string;
  readonly role: Role;
}

export type Section = keyof typeof sections | AddedSection;
