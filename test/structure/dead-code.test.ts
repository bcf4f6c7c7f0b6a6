import { describe, expect, it } from 'vitest';
import { unreachedFiles, unusedExports } from './dead-code.ts';
import { projectModules } from './modules.ts';

const modules = projectModules(['src', 'sandbox', 'test', 'tools', 'sdk', 'contracts']);

describe('the code', () => {
  it('exports nothing that nobody uses', () => {
    expect(unusedExports(modules)).toEqual([]);
  });

  it('has no file that the command and the benches never reach', () => {
    expect(unreachedFiles(modules)).toEqual([]);
  });
});
