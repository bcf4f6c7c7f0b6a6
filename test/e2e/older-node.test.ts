import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { freePorts } from '../support/free-ports.ts';
import { startServiceProcess } from '../support/service-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { waitFor } from '../support/wait-for.ts';

/** Node 24 that says it is Node 20: the command hands over to the Node of the clone, in a second process. */
const olderNode =
  "data:text/javascript,Object.defineProperty(process,'versions',{value:{...process.versions,node:'20.20.2'}})";

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
});

describe('a service that an older Node has handed over', () => {
  it.each(['SIGKILL', 'SIGTERM'] as const)('stops when its first process ends by %s', async (signal) => {
    const [port, adminPort] = (await freePorts(2)) as [number, number];
    const environment = { DATA_DIR: join(folder, 'data'), PORT: String(port), ADMIN_PORT: String(adminPort) };
    const service = await startServiceProcess(environment, { nodeArgs: ['--import', olderNode] });
    const isListening = () => fetch(`http://127.0.0.1:${port}/health`).then(Boolean, () => false);
    expect(await isListening()).toBe(true);
    await service.end(signal);
    await waitFor('the service to stop', 20_000, async () => !(await isListening()));
  });
});
