import type { Transporter } from 'nodemailer';
import { type Mailer, MailNotSentError } from '../domain/ports/mail.ts';
import { isLoopbackHost } from '../platform/public-address.ts';

/** Where mails go out, and as whom. */
interface SmtpSettings {
  /** `smtp://` (encrypted by STARTTLS) or `smtps://`, with user and password where the server asks for them. */
  readonly url: string;
  readonly from: string;
}

interface SmtpTimeouts {
  /** For the connection, the server's greeting and each of its answers. */
  readonly answerMs: number;
  /** For one mail from its first to its last byte. */
  readonly sendMs: number;
}

const usualTimeouts: SmtpTimeouts = { answerMs: 10_000, sendMs: 20_000 };
/** Each holds a connection; who comes after that is told to try again. */
const MAXIMUM_OPEN = 8;
/** Of those, for mails that nobody waits for: the rest is for links by which people get in. */
const MAXIMUM_IN_BACKGROUND = 5;

/** Two short connections for each mail. What leaves this machine is encrypted, or is not sent. */
export function createSmtpMailer(settings: SmtpSettings, timeouts = usualTimeouts): Mailer {
  let open = 0;
  let inBackground = 0;

  return {
    async send({ to, subject, text }, { isBackground = false } = {}) {
      if (open >= MAXIMUM_OPEN || (isBackground && inBackground >= MAXIMUM_IN_BACKGROUND))
        throw new MailNotSentError('too many mails are being sent');
      open++;
      if (isBackground) inBackground++;
      try {
        const transport = await reachServer(settings, timeouts);
        const signal = AbortSignal.timeout(timeouts.sendMs);
        // As an address and not as text, which could name several.
        await transport.sendMail({
          from: settings.from,
          to: { name: '', address: to },
          subject,
          text,
          signal,
        });
      } finally {
        open--;
        if (isBackground) inBackground--;
      }
    },
  };
}

/**
 * Opens a connection of its own, with login: whatever goes wrong until then, no mail was given to anybody. Of one that
 * broke in the middle of sending the library does not say how far it had come.
 */
async function reachServer(settings: SmtpSettings, timeouts: SmtpTimeouts): Promise<Transporter> {
  try {
    const transport = await openTransport(settings, timeouts);
    await transport.verify();
    return transport;
  } catch (cause) {
    throw new MailNotSentError('the mail server cannot be reached', { cause });
  }
}

async function openTransport(settings: SmtpSettings, timeouts: SmtpTimeouts): Promise<Transporter> {
  // Loaded with the first mail: many a service never sends one, and a start is a tenth quicker without.
  const { createTransport } = await import('nodemailer');
  const url = new URL(settings.url);
  const secure = url.protocol === 'smtps:';
  return createTransport({
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (secure ? 465 : 587) : Number(url.port),
    secure,
    requireTLS: !secure && !isLoopbackHost(url.hostname),
    ...(url.username === ''
      ? {}
      : { auth: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) } }),
    connectionTimeout: timeouts.answerMs,
    greetingTimeout: timeouts.answerMs,
    socketTimeout: timeouts.answerMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

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
