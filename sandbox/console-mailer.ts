import type { Mailer } from '../src/mail/mail.ts';

/** Creates a mailer that passes emails to `write` instead of sending them, with a shortened address, as in logs. */
export function createConsoleMailer(
  write: (mail: { readonly to: string; readonly subject: string; readonly text: string }) => void,
): Mailer {
  return {
    async send({ to, subject, text }) {
      write({ to: to.replace(/^(.).*@.*(\.[^.]*)$/s, '$1…@…$2'), subject, text });
    },
  };
}
