/** Restarts two instances on PostgreSQL one by one under load, behind a proxy with its file of deploy/. */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { missing, startLoad } from '../../test/support/checkout-load.ts';
import { freePorts } from '../../test/support/free-ports.ts';
import { openLiveInstances } from '../../test/support/live-instances.ts';
import { createShop } from '../../test/support/service-process.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import type { Outcome } from './check-proxy.ts';
import { certificateIn, type Neighbor, proxies } from './neighbors.ts';

/** Restarts each instance as in docs/going-live.md: SIGTERM, start, wait until it is ready. */
export async function checkRollingRestart(
  name: 'nginx' | 'haproxy',
  parent: string,
): Promise<readonly Outcome[]> {
  const folder = join(parent, `${name}-rolling`);
  mkdirSync(folder);
  const live = await openLiveInstances();
  let proxy: Neighbor | null = null;
  try {
    const [httpPort = 0, httpsPort = 0] = await freePorts(2);
    const changes = {
      DATABASE_URL: await live.postgres.createDatabase(),
      RATE_LIMIT_CREATE_PER_MINUTE: '1000000',
      BASE_URL: 'https://pay.example.com',
      TRUST_PROXY: '127.0.0.1',
    };
    const instances = await Promise.all([1, 2].map(() => live.start('all', changes)));
    const [port = 0, secondPort = 0] = instances.map(({ environment }) => Number(environment['PORT']));
    proxy = await proxies[name]({ folder, port, secondPort, httpPort, httpsPort });
    const { apiKey } = await createShop(instances[0]?.environment ?? {});
    const tls = { ca: readFileSync(certificateIn(folder).cert, 'utf8'), servername: 'pay.example.com' };
    const url = `https://127.0.0.1:${httpsPort}`;
    const load = startLoad(url, apiKey, tls);
    for (const instance of instances) {
      await load.untilMoreAnswers(200);
      await instance.process.end('SIGTERM');
      await live.startAgain('all', instance);
      await waitFor('the instance', 60_000, async () => (await fetch(`${instance.url}/health/ready`)).ok);
    }
    await load.untilMoreAnswers(200);
    await load.stop();
    const lost = await missing(url, apiKey, load.created, tls);
    const figures = `${load.created.length} creates, ${load.failures.length} failed requests, ${lost.length} lost`;
    const problem = load.failures.length + lost.length === 0 ? null : `${figures}: ${load.failures[0]}`;
    return [{ name: `restarts two instances in turn under load (${figures})`, problem }];
  } finally {
    await proxy?.stop();
    await live.stop();
  }
}
