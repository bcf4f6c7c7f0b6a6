/** One e-mail in plain text, to one address. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

export interface MailOptions {
  /** Nobody waits for it: it leaves room for mails that somebody does wait for, such as a link to get in. */
  readonly isBackground?: boolean;
}

/** Sends e-mail. Where none is configured there is no mailer at all. */
export interface Mailer {
  /**
   * Resolves once the mail server has taken the mail over, within a bounded time. Never sends twice by itself. Throws
   * `MailNotSentError` where it certainly was not sent, and any other error where nobody knows.
   */
  send(mail: Mail, options?: MailOptions): Promise<void>;
}

/** The mail server was never given the mail: it may be tried again. */
export class MailNotSentError extends Error {
  override readonly name = 'MailNotSentError';
}
