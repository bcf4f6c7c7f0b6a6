import type { Transporter } from 'nodemailer';
import { isLoopbackHost } from '../platform/public-address.ts';
import { type Mailer, MailNotSentError } from './mail.ts';

interface SmtpSettings {
  readonly url: string;
  readonly from: string;
  /** Name in EHLO. Null for the machine's name, which is `[127.0.0.1]` in a container. */
  readonly helloName?: string | null;
}

const usualTimeouts = {
  /** Timeout for the connection, the server's greeting and each answer. */
  answerMs: 10_000,
  sendMs: 20_000,
};
type AnswerTimeout = Pick<typeof usualTimeouts, 'answerMs'>;

/** Maximum emails in progress, each with two successive connections. More are refused. */
const MAXIMUM_OPEN = 8;
/** Maximum background emails in progress, so that they do not block emails with sign-in links. */
const MAXIMUM_IN_BACKGROUND = 5;

/** Creates a mailer with two short connections per mail. Mail that leaves this machine is encrypted or not sent. */
export function createSmtpMailer(settings: SmtpSettings, timeouts = usualTimeouts): Mailer {
  let open = 0;
  let inBackground = 0;

  return {
    async send({ to, subject, text, html, inline = [] }, { isBackground = false } = {}) {
      if (open >= MAXIMUM_OPEN || (isBackground && inBackground >= MAXIMUM_IN_BACKGROUND))
        throw new MailNotSentError('too many emails are being sent');
      open++;
      if (isBackground) inBackground++;
      try {
        const transport = await reachServer(settings, timeouts);
        const signal = AbortSignal.timeout(timeouts.sendMs);
        // Passes an object, because a string could contain several addresses.
        await transport.sendMail({
          from: settings.from,
          to: { name: '', address: to },
          subject,
          text,
          html,
          attachments: inline.map(({ cid, png }) => ({
            cid,
            content: Buffer.from(png),
            contentType: 'image/png',
            contentDisposition: 'inline',
          })),
          signal,
        });
      } finally {
        open--;
        if (isBackground) inBackground--;
      }
    },
  };
}

/** Connects and signs in. An error here proves that no mail was handed over, unlike an error during sending. */
export async function reachServer(settings: SmtpSettings, timeouts: AnswerTimeout): Promise<Transporter> {
  try {
    const transport = await openTransport(settings, timeouts);
    await transport.verify();
    return transport;
  } catch (cause) {
    throw new MailNotSentError('the mail server cannot be reached', { cause });
  }
}

async function openTransport(settings: SmtpSettings, timeouts: AnswerTimeout): Promise<Transporter> {
  // Loads the library with the first mail, because many services send none and loading makes startup a tenth longer.
  const { createTransport } = await import('nodemailer');
  const url = new URL(settings.url);
  const secure = url.protocol === 'smtps:';
  return createTransport({
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (secure ? 465 : 587) : Number(url.port),
    secure,
    ...(settings.helloName == null ? {} : { name: settings.helloName }),
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
