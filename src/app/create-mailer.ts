import type { Config } from '../config.ts';
import type { Mailer } from '../domain/ports/mailer.ts';
import { createConsoleMailer } from '../mail/create-console-mailer.ts';
import { createSmtpMailer } from '../mail/create-smtp-mailer.ts';
import type { Log } from './log.ts';

/** Who sends e-mail: in live mode the configured server, or null without one; in the sandbox nobody, and the log shows it. */
export function createMailer(config: Config, isSandbox: boolean, log: Log): Mailer | null {
  if (isSandbox)
    return createConsoleMailer((mail) => log.info({ mail }, 'an e-mail, which the sandbox does not send'));
  return config.mail === null ? null : createSmtpMailer(config.mail);
}
