/** The parts of the documentation that follow from the list of environment variables, and `.env.example`. */
import { ConfigError, readConfig } from '../src/config.ts';
import { type Variable, variables } from '../src/config-variables.ts';
import { providerIds } from '../src/domain/provider-catalogue.ts';
import { code, table } from './markdown.ts';

const providerVariable = new RegExp(`^(${providerIds.join('|').toUpperCase()})_`);

/** The variables that live mode refuses to start without: what it complains about when nothing is set. */
function requiredInLiveMode(): ReadonlySet<string> {
  try {
    readConfig('live', {});
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const names = error.problems.map((problem) => problem.split(/[\s:]/)[0]);
    return new Set(names.filter((name) => name !== undefined));
  }
  throw new Error('live mode starts without any configuration');
}

/** Everything but the providers. */
export function variableTable(): string {
  return tableOf(variables.filter(({ name }) => !providerVariable.test(name)));
}

/** What each provider is configured with. */
export function providerVariableTable(): string {
  return tableOf(variables.filter(({ name }) => providerVariable.test(name)));
}

function tableOf(rows: readonly Variable[]): string {
  const required = requiredInLiveMode();
  return table(
    ['variable', 'live mode', 'secret', 'what it is (default)'],
    rows.map(({ name, isSecret, help }) => [
      code(name),
      required.has(name) ? 'required' : 'optional',
      isSecret ? `or ${code(`${name}_FILE`)}` : '',
      help,
    ]),
  );
}

/** The whole `.env.example`: what live mode needs is there to be filled in, the rest is commented out. */
export function environmentExample(): string {
  const required = requiredInLiveMode();
  const isRequired = ({ name }: Variable) => required.has(name);
  const optional = variables.filter((variable) => !isRequired(variable));
  return [
    '# Made by `npm run docs` from src/config-variables.ts; docs/configuration.md explains each variable.',
    '# Copy to .env and fill in. card-checkout reads .env in the folder where it is started, and compose.yaml reads it too.',
    '# What the environment sets already takes precedence. The sandbox (npm start) needs none of this.',
    '',
    '# ---- Live mode does not start without these ----',
    '',
    ...variables.filter(isRequired).flatMap((variable) => entryLines(variable, '')),
    '# ---- The rest, with the default in parentheses ----',
    '',
    ...optional.filter(({ name }) => !providerVariable.test(name)).flatMap((each) => entryLines(each, '#')),
    '# ---- Providers: what docs/providers.md says each of them needs, or nothing ----',
    '',
    ...optional.filter(({ name }) => providerVariable.test(name)).map(({ name }) => `#${name}=`),
    '',
  ].join('\n');
}

function entryLines({ name, isSecret, help }: Variable, prefix: string): string[] {
  return [`# ${help}${isSecret ? ` Or a file: ${name}_FILE.` : ''}`, `${prefix}${name}=`, ''];
}
