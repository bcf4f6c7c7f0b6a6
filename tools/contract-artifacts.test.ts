import { expect, it } from 'vitest';
import { artifactText, compileArtifacts, readArtifactText } from './contract-artifacts.ts';

it('the committed contract artifacts match the sources, byte by byte', () => {
  const compiled = compileArtifacts();
  expect(compiled.map((artifact) => artifact.contractName)).toEqual([
    'DepositFactory',
    'Deposit',
    'TestUsdc',
  ]);
  for (const artifact of compiled) {
    expect(readArtifactText(artifact.contractName), 'run: npm run contracts build').toBe(
      artifactText(artifact),
    );
  }
});
