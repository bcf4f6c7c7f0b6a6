import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { keyScopes } from '../accounts/api-key.ts';
import { MAXIMUM_LOGO_BYTES } from '../accounts/shop-profile.ts';
import { invalidField } from '../payment/errors.ts';
import { leaf, type OperationRunner, operationsOf } from './command.ts';
import { printResult } from './present.ts';
import { runLong } from './run-long.ts';

export function addAccountCommands(program: Command, services: OperationRunner): void {
  const group = program.command('account').description('merchant accounts');
  const account = operationsOf(group, services);
  account('create', 'create an account')
    .requiredOption('--name <name>', 'the shop name that customers see')
    .option('--email <address>', 'the merchant’s email address')
    .option('--fee-percent <percent>', 'the account’s card fee (2.5)')
    .option('--wallet <address>', 'the merchant’s own wallet')
    .option('--confirm-wallet', 'accept a wallet that looks like a mistake');
  leaf(group, 'import', 'create an account for each row of a CSV or JSON Lines file that has none')
    .argument('<file>')
    .option('--keys <file>', 'write an API key for each account without one to this new file')
    .action(async (file: string, options: { readonly keys?: string; readonly json?: boolean }) => {
      // Loaded on demand, because other commands do not need the parser.
      const { createAccounts, readNewAccounts } = await import('./import-accounts.ts');
      const rows = await readNewAccounts(file);
      const { accounts, ...counts } = await runLong('account import', options.json === true, (onProgress) =>
        createAccounts(rows, options.keys, services, onProgress),
      );
      printResult(options.json === true ? { ...counts, accounts } : counts, options);
    });
  account('list', 'list all accounts');
  account('update <account>', 'change an account')
    .option('--name <name>', 'the shop name that customers see')
    .option('--brand-color <color>', 'the color of buttons and accents on the checkout, such as #0c5a49')
    .option('--terms-link <address>', 'the shop’s terms, linked from the checkout')
    .option('--support-link <link>', 'customer support: an https URL or an email address')
    .option(
      '--return-link <address>',
      'the URL to which customers return after a payment; may contain {payment_id}',
    )
    .option('--failure-link <address>', 'the same after a canceled or expired checkout')
    .option(
      '--return-hosts <hosts>',
      'hosts that return URLs may name and that may frame checkouts; "" removes them',
    )
    .option(
      '--logo <file>',
      `the shop’s logo: PNG, JPEG or WebP, at most ${MAXIMUM_LOGO_BYTES / 1024} KiB`,
      readAsBase64,
    )
    .option('--time-zone <name>', 'the merchant’s time zone, such as Europe/Berlin')
    .option('--base-currency <code>', 'the currency of the merchant’s books, for exports and statements')
    .option('--default-callback <address>', 'the default webhook URL of checkouts created by hand')
    .option('--trouble-mails <switch>', 'on or off: alert emails to the owners')
    .option(
      '--email-retention <days>',
      'erase customers’ email addresses after this many days; "" keeps them',
    )
    .option('--wallet <address>', 'the merchant’s own wallet')
    .option('--confirm-wallet', 'accept a wallet that looks like a mistake')
    .option('--lock-wallet', 'refuse any other payout wallet')
    .option('--unlock-wallet', 'accept any payout wallet again')
    .option('--fee-percent <percent>', 'the card fee for new payments')
    .option(
      '--tolerance-percent <percent>',
      'the underpayment tolerance for new payments; "" restores the default',
    )
    .option(
      '--max-provider-fee-percent <percent>',
      'the maximum provider fee for new payments; above the default it has no effect, and "" restores the default',
    )
    .option(
      '--direct-cent-tolerance <switch>',
      'on or off: new direct payments that are at most one cent short count as paid',
    )
    .option('--enable <feature>', 'enable a feature')
    .option('--disable <feature>', 'disable a feature')
    .option('--providers <list>', 'comma-separated provider ids, or all')
    .option('--suspend', 'refuse new checkouts')
    .option('--resume', 'accept new checkouts again');

  account('erase-emails <account>', 'erase customers’ email addresses of old payments').requiredOption(
    '--older-than-days <days>',
    'the minimum age of the payments',
  );

  const key = operationsOf(program.command('key').description('API keys of an account'), services);
  key('create', 'create a key and show it once')
    .requiredOption('--account <account>', 'the account')
    .option('--name <name>', 'what the key is for')
    .option(
      '--scopes <scopes>',
      `what the key may do, from ${keyScopes.join(', ')}; all but audit by default`,
    );
  key('list', 'list the keys of an account').requiredOption('--account <account>', 'the account');
  key('revoke <key>', 'revoke a key immediately');
}

/** Returns a file's contents in base64, truncated just above the maximum size. An empty name removes the logo. */
function readAsBase64(file: string): string {
  if (file === '') return '';
  try {
    return readFileSync(file)
      .subarray(0, MAXIMUM_LOGO_BYTES + 1)
      .toString('base64');
  } catch (cause) {
    throw invalidField('logo', `cannot be read: ${(cause as Error).message}`);
  }
}

export function addUserCommands(program: Command, services: OperationRunner): void {
  const user = operationsOf(
    program.command('user').description('users of the dashboard and the console'),
    services,
  );
  user('create <email>', 'create a user or member of an account, and print a link to set a password')
    .option('--account <account>', 'the account')
    .option('--role <role>', 'owner, developer or viewer (owner)')
    .option('--operator', 'allow the operator’s console')
    .option('--existing', 'grant it to a user with a password, after you verified who that is');
  user('update <email>', 'grant or revoke access to the operator’s console')
    .option('--operator', 'allow the operator’s console, with a new password set by the printed link')
    .option(
      '--existing',
      'grant it to a user with a password; removes the password, second factors and sessions',
    )
    .option('--no-operator', 'revoke the operator’s console and end all sessions');
  user('list', 'list all users');
  user('reset-link <email>', 'print a link to set a new password');
  user('reset-second-factor <email>', 'remove all second factors of a user');
}
