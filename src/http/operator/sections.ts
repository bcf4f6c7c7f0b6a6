/** The places of the console, in the order of its navigation. */
export const sections = {
  accounts: { label: 'Accounts', path: '/accounts' },
  audit: { label: 'Audit log', path: '/audit' },
} as const satisfies Record<string, { label: string; path: string }>;

export type Section = keyof typeof sections;
