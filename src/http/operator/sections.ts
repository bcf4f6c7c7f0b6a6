/** The places of the console, in the order of its navigation. */
export const sections = {
  accounts: { label: 'Accounts', path: '/accounts' },
  providers: { label: 'Providers', path: '/providers' },
  settlement: { label: 'Settlement', path: '/settlement' },
  webhooks: { label: 'Webhooks', path: '/webhooks' },
  audit: { label: 'Audit log', path: '/audit' },
} as const satisfies Record<string, { label: string; path: string }>;

export type Section = keyof typeof sections;
