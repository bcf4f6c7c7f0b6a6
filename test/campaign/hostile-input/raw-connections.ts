import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { validRequest } from '../../support/api-service.ts';
import { type Answer, faultOfError, parseObject } from './answer-shape.ts';
import { BrokenPromiseError, requireKept } from './broken-promise.ts';
import type { HostileService } from './hostile-service.ts';
import { exchange, parseAnswers } from './raw-answers.ts';
import { rawBytes } from './raw-requests.ts';

/** One connection; the server listens afterwards. */
export async function rawConnectionCase({ service, takeStored }: HostileService) {
  const created = (await service.post({ ...validRequest })).json() as { payment_id: string };
  await takeStored();
  await service.server.listen({ host: '127.0.0.1', port: 0 });
  const { port } = service.server.server.address() as AddressInfo;
  const bytes = rawBytes({
    apiKey: service.apiKey,
    paymentId: created.payment_id,
    createBody: JSON.stringify(validRequest),
    createQuery: new URLSearchParams(validRequest).toString(),
  });
  return fc.asyncProperty(bytes, async (sent) => {
    const text = sent.toString('latin1');
    const received = await exchange(port, sent).catch((error: Error) => {
      throw new BrokenPromiseError('rawBytes', `${error.message}, to ${text}`);
    });
    const answers = readAnswers(received, text);
    for (const answer of answers) {
      const fault = answer.status === 200 || answer.body === '' ? null : faultOfError(answer);
      requireKept('rawBytes', fault === null, () => `${fault}: ${answer.body} to ${text}`);
    }
    const given = answers.map(
      ({ body }) => parseObject(body)?.['ipn_token'] && parseObject(body)?.['payment_id'],
    );
    const stored = await takeStored();
    const isTold = stored.every((id) => given.includes(id)) && given.filter(Boolean).length === stored.length;
    const statuses = () => answers.map(({ status }) => status).join();
    requireKept('rawBytes', isTold, () => `stored ${stored.length}, answered ${statuses()} to ${text}`);
    requireKept(
      'rawBytes',
      answers.length > 0 || stored.length === 0,
      () => `stored and not answered: ${text}`,
    );
  });
}

function readAnswers(received: Buffer, sent: string): readonly Answer[] {
  try {
    return parseAnswers(received, /HEAD/.test(sent));
  } catch (error) {
    requireKept(
      'rawBytes',
      false,
      () => `${(error as Error).message}\n${received.toString('latin1')}\nto ${sent}`,
    );
    return [];
  }
}
