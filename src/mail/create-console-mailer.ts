import type { Mailer } from '../domain/ports/mailer.ts';

/**
 * For the sandbox, which sends nothing to anybody: mails go where `write` puts them. The address is cut short, as
 * everywhere in logs.
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
