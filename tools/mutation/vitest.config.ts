import { defineConfig } from 'vitest/config';

/** Runs the tests that `npm run mutation` selects, without Vite's transforms, like the project's own configuration. */
export default defineConfig({
  test: {
    experimental: { viteModuleRunner: false },
    environment: 'node',
    include: (process.env['MUTATION_TESTS'] ?? '').split(','),
    testTimeout: 20_000,
  },
});
