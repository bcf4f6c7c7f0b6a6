import { defineConfig } from 'vitest/config';

/** Only what `npm run mutation` asks for, run by Node itself as in the project's own configuration. */
export default defineConfig({
  test: {
    experimental: { viteModuleRunner: false },
    environment: 'node',
    include: (process.env['MUTATION_TESTS'] ?? '').split(','),
    testTimeout: 20_000,
  },
});
