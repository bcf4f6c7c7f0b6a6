import { readFileSync } from 'node:fs';
import { ConfigError } from './config.ts';
import { codeOf } from './reader.ts';

const ASSIGNMENT = /^[ \t]*(?<name>\w+)=[ \t]*(?<value>.*?)[ \t]*$/s;
/** Values that Node, systemd and docker compose read alike: bare, or in one pair of quotes, without line separators. */
const UNAMBIGUOUS = /^(?:[^'"`#$\\]*|'[^'\\]*'|"[^"`$\\]*")$/;
const SEPARATOR = /[\r\u2028\u2029]/;

/**
 * Adds the variables of `.env` in the current folder to the environment, without overriding existing ones, even empty
 * ones. A missing file is not an error; an unreadable or ambiguous one is. Returns the environment.
 */
export function loadEnvironmentFile(): NodeJS.ProcessEnv {
  try {
    // Reads the file first, because `loadEnvFile` also reports ENOENT for a file that this user may not read.
    const problems = findAmbiguous(readFileSync('.env', 'utf8'));
    if (problems.length > 0) throw new ConfigError(problems);
    process.loadEnvFile('.env');
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT')
      throw new ConfigError([`.env cannot be read (${codeOf(error)}): give the user of the service access.`]);
  }
  return process.env;
}

/**
 * Finds lines that Node, systemd and docker read differently: `A=x#y` is `x` for Node and `x#y` for systemd. Does not
 * quote values, because they may be secrets.
 */
export function findAmbiguous(text: string): readonly string[] {
  if (text.startsWith('\ufeff')) return ['.env begins with a byte order mark: save it as UTF-8 without one.'];
  return text.split(/\r?\n/).flatMap((line, index) => {
    if (/^[ \t]*(#.*)?$/.test(line)) return [];
    const { name, value = '' } = ASSIGNMENT.exec(line)?.groups ?? {};
    const place = `.env, line ${index + 1}`;
    if (name === undefined)
      return [
        `${place}: write name=value, without export and without spaces before =, or # before a comment.`,
      ];
    if (UNAMBIGUOUS.test(value) && !SEPARATOR.test(value)) return [];
    return [
      `${place} (${name}): Node, systemd and docker read this value differently. Put it in single quotes, without a comment behind ` +
        'it; a value with a quote or a backslash belongs in a file that NAME_FILE names.',
    ];
  });
}
