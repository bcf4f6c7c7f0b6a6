/**
 * Folders below `test/` of the project `processes`: tests that start, stop or kill processes, look at how much memory one
 * takes, or last for long. Each of their files has a process of its own.
 */
export const processFolders: readonly string[] = [
  'campaign',
  'contracts',
  'examples',
  'release',
  'sandbox',
  'sdk',
  'store',
  'support',
  'verify',
  'webhooks',
];
