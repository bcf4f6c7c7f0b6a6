import { createServer } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { createConsoleMailer } from '../../sandbox/console-mailer.ts';
import { MailNotSentError } from '../../src/mail/mail.ts';
import { createSmtpMailer } from '../../src/mail/mailers.ts';
import { freePorts } from '../support/free-ports.ts';
import { startSmtpServer } from '../support/smtp-server.ts';
import { waitFor } from '../support/wait-for.ts';

const FROM = 'Card checkout <pay@service.example>';
const mail = { to: 'c@customer.example', subject: 'Receipt — ₹', text: 'Grüße\n.\nend\n' };
const quick = { answerMs: 300, sendMs: 600 };

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function start(...args: Parameters<typeof startSmtpServer>) {
  const server = await startSmtpServer(...args);
  closing.push(server.close);
  return server;
}

it('hands a mail to the server, in any language', async () => {
  const server = await start();
  await createSmtpMailer({ url: server.url, from: FROM }).send(mail);
  expect(server.mails).toHaveLength(1);
  const [{ from, to, raw }] = server.mails as [(typeof server.mails)[number]];
  expect([from, to]).toEqual(['pay@service.example', ['c@customer.example']]);
  expect(raw).toContain('From: Card checkout <pay@service.example>');
  expect(raw).toMatch(/^Subject: =\?UTF-8\?/m);
});

it('greets the server with the host of the service, which a container does not know', async () => {
  const greetings: string[] = [];
  const server = await start({
    onMailFrom(_address, session, done) {
      greetings.push(session.hostNameAppearsAs);
      done();
    },
  });
  await createSmtpMailer({ url: server.url, from: FROM, helloName: 'pay.example.com' }).send(mail);
  expect(greetings).toEqual(['pay.example.com']);
});

it('lets no text become a header, another address or a file', async () => {
  const server = await start();
  const mailer = createSmtpMailer({ url: server.url, from: FROM });
  await mailer.send({ ...mail, subject: 'a\r\nBcc: thief@evil.example\r\n\r\nbody' });
  expect(server.mails[0]?.to).toEqual(['c@customer.example']);
  expect(server.mails[0]?.raw).not.toMatch(/^Bcc:/m);
  await mailer.send({ ...mail, to: 'c@customer.example, thief@evil.example' }).catch(() => {});
  await mailer.send({ ...mail, to: 'c@customer.example\r\nRCPT TO:<thief@evil.example>' }).catch(() => {});
  expect(server.mails.flatMap(({ to }) => to)).not.toContain('thief@evil.example');
});

it('logs in, and says that nothing was sent where it cannot', async () => {
  const server = await start({
    authOptional: false,
    onAuth({ username, password }, _session, done) {
      if (username === 'user@x' && password === 'p:w') done(null, { user: 'x' });
      else done(new Error('wrong'));
    },
  });
  const at = (user: string) => `smtp://${user}@127.0.0.1:${server.port}`;
  await createSmtpMailer({ url: at('user%40x:p%3Aw'), from: FROM }).send(mail);
  const refused = createSmtpMailer({ url: at('user%40x:wrong'), from: FROM }).send(mail);
  await expect(refused).rejects.toThrow(MailNotSentError);
  expect(server.mails).toHaveLength(1);
});

it('says that nothing was sent when nobody listens, or nobody answers', async () => {
  const [port] = await freePorts(1);
  const nobody = createSmtpMailer({ url: `smtp://127.0.0.1:${port}`, from: FROM }, quick);
  await expect(nobody.send(mail)).rejects.toThrow(MailNotSentError);
  const [silentPort] = await freePorts(1);
  const silent = createServer().listen(silentPort, '127.0.0.1');
  closing.push(async () => silent.close());
  const mailer = createSmtpMailer({ url: `smtp://127.0.0.1:${silentPort}`, from: FROM }, quick);
  await expect(mailer.send(mail)).rejects.toThrow(MailNotSentError);
});

it('says that nothing was sent when it could not even begin', async () => {
  // A password that cannot be decoded.
  const mailer = createSmtpMailer({ url: 'smtp://user:%ff@127.0.0.1', from: FROM });
  await expect(mailer.send(mail)).rejects.toThrow(MailNotSentError);
});

it('does not say that nothing was sent when the server had the mail and fell silent', async () => {
  const server = await start({ onData: (stream) => void stream.resume() });
  const sending = createSmtpMailer({ url: server.url, from: FROM }, { answerMs: 4_000, sendMs: 5_000 }).send(
    mail,
  );
  const failure = await sending.catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(Error);
  expect(failure).not.toBeInstanceOf(MailNotSentError);
});

it('keeps room for mails that somebody waits for, and opens no more connections than it may', async () => {
  const held: (() => void)[] = [];
  const server = await start({
    onData(stream, _session, done) {
      stream.on('end', () => held.push(() => done()));
      stream.resume();
    },
  });
  const patient = { answerMs: 60_000, sendMs: 120_000 };
  const mailer = createSmtpMailer({ url: server.url, from: FROM }, patient);
  const alerts = Array.from({ length: 5 }, () => mailer.send(mail, { isBackground: true }));
  await expect(mailer.send(mail, { isBackground: true })).rejects.toThrow(MailNotSentError);
  const links = Array.from({ length: 3 }, () => mailer.send(mail));
  await expect(mailer.send(mail)).rejects.toThrow(MailNotSentError);
  await waitFor('eight mails', 60_000, () => held.length === 8);
  for (const release of held) release();
  await Promise.all([...alerts, ...links]);
  const later = mailer.send(mail, { isBackground: true });
  await waitFor('another mail', 60_000, () => held.length === 9);
  held[8]?.();
  await later;
}, 180_000);

it('shows the sandbox its mails without the whole address', async () => {
  const shown: unknown[] = [];
  await createConsoleMailer((written) => shown.push(written)).send(mail);
  expect(shown).toEqual([{ ...mail, to: 'c…@….example' }]);
});
