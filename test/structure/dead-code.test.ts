import { describe, expect, it } from 'vitest';
import { unreachedFiles, unusedExports } from './dead-code.ts';
import { projectModules, readModule } from './modules.ts';

const modules = projectModules(['src', 'sandbox', 'test', 'tools', 'sdk', 'contracts']);

describe('the code', () => {
  it('exports nothing that nobody uses', () => {
    expect(unusedExports(modules)).toEqual([]);
  });

  it('has no file that the command and the benches never reach', () => {
    expect(unreachedFiles(modules)).toEqual([]);
  });
});

function planted(sources: Record<string, string>) {
  return Object.entries(sources).map(([path, text]) => readModule({ path, text }));
}

describe('the check itself', () => {
  it('catches an export that nobody takes', () => {
    const found = unusedExports(
      planted({
        'src/domain/a.ts': 'export const used = 1;\nexport function unused() {}\nexport interface Loose {}',
        'src/domain/b.ts': "import { used } from './a.ts';",
      }),
    );
    expect(found).toEqual(['src/domain/a.ts:2 unused', 'src/domain/a.ts:3 Loose']);
  });

  it('catches a file that only a test reaches, and sees workers and files that are started by their path', () => {
    const found = unreachedFiles(
      planted({
        'src/main.ts': "import './app.ts';",
        'src/app.ts':
          "await import('./sandbox/start.ts'); new Worker(new URL('./worker.ts', import.meta.url));",
        'src/sandbox/start.ts': '',
        'src/worker.ts': '',
        'src/domain/forgotten.ts': '',
        'src/domain/forgotten.test.ts': "import './forgotten.ts';",
      }),
    );
    expect(found).toEqual(['src/domain/forgotten.ts']);
  });
});
