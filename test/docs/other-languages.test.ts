/** The verifications in docs/webhooks.md, run as they stand where their runtime is. */
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { expect, it } from 'vitest';
import { codeBlocks, read } from './markdown.ts';

interface Language {
  readonly command: string;
  /** Ends with 0 where the runtime is good for it. */
  readonly check: readonly string[];
  readonly arguments: readonly string[];
  /** The program: the snippet, then a question that is read from standard input and answered on standard output. */
  program(snippet: string): string;
}

const languages: Readonly<Record<string, Language>> = {
  js: {
    command: process.execPath,
    check: ['--version'],
    arguments: ['--input-type=module', '--eval'],
    program: (snippet) => `${snippet}
import { text } from 'node:stream/consumers';
const questions = JSON.parse(await text(process.stdin));
console.log(JSON.stringify(questions.map(([body, ...rest]) => isGenuine(Buffer.from(body, 'base64'), ...rest))));`,
  },
  php: {
    command: 'php',
    check: ['-r', 'exit(0);'],
    arguments: ['-d', 'display_errors=1', '-d', 'error_reporting=-1'],
    program: (snippet) => `<?php
declare(strict_types=1);
${snippet}
if ($signature !== '') exit('the header is not read as PHP names it');
$question = json_decode(file_get_contents('php://stdin'), true);
foreach ($question as [$body, $signature, $token]) {
    $answers[] = is_genuine(base64_decode($body), $signature, $token);
}
echo json_encode($answers);`,
  },
  python: {
    command: 'python3',
    check: ['-c', 'import hmac'],
    arguments: ['-W', 'error', '-c'],
    program: (snippet) => `${snippet}
import base64, json, sys
print(json.dumps([is_genuine(base64.b64decode(body), signature, token)
                  for body, signature, token in json.load(sys.stdin)]))`,
  },
};

const token = 'ipn_test';
const body = Buffer.from('{ "event":"payment.paid",\t"note":"Grüße 👋\\u00fc", "amount": 1.0e0 }\n');
const signature = createHmac('sha256', token).update(body).digest('hex');

/** What is asked, and what is right. */
const questions: readonly (readonly [Buffer, string, string, boolean])[] = [
  [body, signature, token, true],
  [Buffer.from('{"event":"payment.paid"}'), exampleSignature(), token, true],
  [Buffer.concat([body, Buffer.from(' ')]), signature, token, false],
  [body, signature, `${token}x`, false],
  [body, signature.toUpperCase(), token, false],
  [body, signature.slice(1), token, false],
  [body, `${signature}00`, token, false],
  [body, '', token, false],
  [body, 'ünïcode', token, false],
];

function exampleSignature(): string {
  return /^[0-9a-f]{64}$/m.exec(read('docs/webhooks.md'))?.[0] ?? '';
}

function runProgram({ command, arguments: words }: Language, program: string): SpawnSyncReturns<string> {
  const input = JSON.stringify(
    questions.map(([bytes, given, secret]) => [bytes.toString('base64'), given, secret]),
  );
  // PHP takes a program as an argument only without its opening tag.
  const code = command === 'php' ? ['-r', program.replace('<?php\n', '')] : [program];
  return spawnSync(command, [...words, ...code], { input, encoding: 'utf8', timeout: 30_000 });
}

it.each(Object.keys(languages))(
  'the verification in %s is right about genuine and forged webhooks',
  (name) => {
    const language = languages[name] as Language;
    const snippet = codeBlocks(read('docs/webhooks.md'), name).find((block) => /is_?genuine\(/i.test(block));
    expect(snippet).toBeDefined();
    if (spawnSync(language.command, language.check).status !== 0) {
      // Said in the output of every run: whoever reads it knows what was not looked at.
      console.warn(
        `not checked: the ${name} in docs/webhooks.md, because ${language.command} is not installed here`,
      );
      return;
    }
    const { stdout, stderr } = runProgram(language, language.program(snippet ?? ''));
    expect(stdout, stderr).toMatch(/^\[/);
    expect(JSON.parse(stdout)).toEqual(questions.map(([, , , isRight]) => isRight));
  },
);
