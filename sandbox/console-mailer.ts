import type { Mailer } from '../src/mail/mail.ts';

/** Passes emails to `write` instead of sending them. Shortens the email address, as in all logs. */
export function createConsoleMailer(
  write: (mail: { readonly to: string; readonly subject: string; readonly text: string }) => void,
): Mailer {
  return {
    async send({ to, subject, text }) {
      write({ to: to.replace(/^(.).*@.*(\.[^.]*)$/s, '$1…@…$2'), subject, text });
    },
  };
}
