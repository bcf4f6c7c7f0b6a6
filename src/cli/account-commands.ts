import { closeSync, openSync, readSync } from 'node:fs';
import type { Command } from 'commander';
import { MAXIMUM_LOGO_BYTES } from '../domain/shop-profile.ts';
import { leaf, type OperationRunner, operation } from './command.ts';

/** Accounts and their API keys. */
export function addAccountCommands(program: Command, services: OperationRunner): void {
  const account = program.command('account').description('merchant accounts');
  operation(leaf(account, 'create', 'create an account'), services, 'account create')
    .requiredOption('--name <name>', 'the shop as customers see it')
    .option('--email <address>', 'the merchant’s e-mail address')
    .option('--fee-percent <percent>', 'the card fee of the account (2.5)')
    .option('--wallet <address>', 'the merchant’s own wallet');
  operation(leaf(account, 'list', 'list all accounts'), services, 'account list');
  operation(leaf(account, 'update', 'change an account').argument('<account>'), services, 'account update')
    .option('--name <name>', 'the shop as customers see it')
    .option('--support-link <link>', 'where customers get help: an https or e-mail address')
    .option('--return-link <address>', 'the way back to the shop after a payment')
    .option(
      '--logo <file>',
      `the shop’s picture: PNG, JPEG or WebP, at most ${MAXIMUM_LOGO_BYTES / 1024} KiB`,
      readAsBase64,
    )
    .option('--time-zone <name>', 'where the merchant reads dates, such as Europe/Berlin')
    .option('--default-callback <address>', 'the callback of checkouts made by hand')
    .option('--trouble-mails <switch>', 'on or off: whether owners are told of trouble by e-mail')
    .option(
      '--email-retention <days>',
      'erase customers’ e-mail addresses after so many days; an empty text keeps them',
    )
    .option('--wallet <address>', 'the merchant’s own wallet')
    .option('--lock-wallet', 'refuse any other payout wallet')
    .option('--unlock-wallet', 'accept any payout wallet again')
    .option('--fee-percent <percent>', 'the card fee for new payments')
    .option(
      '--tolerance-percent <percent>',
      'how much less than expected counts as paid in full, for new payments; an empty text takes the default',
    )
    .option(
      '--max-provider-fee-percent <percent>',
      'offer no provider that keeps more of a new payment, up to the default; an empty text takes the default',
    )
    .option('--enable <feature>', 'switch a feature on')
    .option('--disable <feature>', 'switch a feature off')
    .option('--providers <list>', 'comma-separated provider ids, or all')
    .option('--suspend', 'refuse new checkouts')
    .option('--resume', 'accept new checkouts again');

  operation(
    leaf(account, 'erase-emails', 'erase customers’ e-mail addresses of old payments').argument('<account>'),
    services,
    'account erase-emails',
  ).requiredOption('--older-than-days <days>', 'of payments that were made before so many days');

  const key = program.command('key').description('API keys of an account');
  operation(leaf(key, 'create', 'create a key and show it once'), services, 'key create')
    .requiredOption('--account <account>', 'the account')
    .option('--name <name>', 'what the key is for');
  operation(leaf(key, 'list', 'list the keys of an account'), services, 'key list').requiredOption(
    '--account <account>',
    'the account',
  );
  operation(leaf(key, 'revoke', 'revoke a key at once').argument('<key>'), services, 'key revoke');
}

/** The content of a file, cut at a length that is refused anyway; an empty name stays empty and removes the logo. */
function readAsBase64(file: string): string {
  if (file === '') return '';
  const descriptor = openSync(file, 'r');
  try {
    const buffer = Buffer.alloc(MAXIMUM_LOGO_BYTES + 1);
    const bytes = readSync(descriptor, buffer);
    return buffer.subarray(0, bytes).toString('base64');
  } finally {
    closeSync(descriptor);
  }
}

/** The commands for users. */
export function addUserCommands(program: Command, services: OperationRunner): void {
  const user = program.command('user').description('people who sign in to the dashboard');
  operation(
    leaf(user, 'create', 'make somebody a member of an account and print a link to set a password').argument(
      '<email>',
    ),
    services,
    'user create',
  )
    .option('--account <account>', 'the account')
    .option('--role <role>', 'owner, developer or viewer (owner)')
    .option('--operator', 'may sign in to the operator’s console')
    .option('--existing', 'give the right to a user who has a password already, once you know who that is');
  operation(
    leaf(user, 'update', 'give or take the right to the operator’s console').argument('<email>'),
    services,
    'user update',
  )
    .option(
      '--operator',
      'may sign in to the operator’s console, with a new password by the link that is printed',
    )
    .option(
      '--existing',
      'give the right to a user who has a password, which it takes together with second factors and sessions',
    )
    .option('--no-operator', 'may not any more, and is signed out everywhere');
  operation(leaf(user, 'list', 'list all users'), services, 'user list');
  operation(
    leaf(user, 'reset-link', 'print a link to set a new password').argument('<email>'),
    services,
    'user reset-link',
  );
  operation(
    leaf(user, 'reset-second-factor', 'switch the second factor of somebody off').argument('<email>'),
    services,
    'user reset-second-factor',
  );
}
