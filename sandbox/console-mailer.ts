import type { Mailer } from '../src/mail/mail.ts';

/**
 * The sandbox's mailer, which sends nothing: `write` receives the mails. The address is truncated, as everywhere in
 * logs.
 */
export function createConsoleMailer(
  write: (mail: { readonly to: string; readonly subject: string; readonly text: string }) => void,
): Mailer {
  return {
    async send({ to, subject, text }) {
      write({ to: to.replace(/^(.).*@.*(\.[^.]*)$/s, '$1…@…$2'), subject, text });
    },
  };
}
