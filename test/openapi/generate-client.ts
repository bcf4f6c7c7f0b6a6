/**
 * Runs openapi-typescript: `node generate-client.ts <openapi.json> <schema.d.ts>`. The generator is written for
 * TypeScript's interface of version 5, which the compiler here no longer has, so it is given that one in its place.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier === 'typescript' ? '@tsd/typescript' : specifier, context),
});

const [documentFile, typesFile] = process.argv.slice(2);
if (documentFile === undefined || typesFile === undefined) throw new Error('name two files');
const { default: generateTypes, astToString } = await import('openapi-typescript');
writeFileSync(typesFile, astToString(await generateTypes(JSON.parse(readFileSync(documentFile, 'utf8')))));
