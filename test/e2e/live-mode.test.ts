import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { privateKeyToAddress } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePorts } from '../support/free-ports.ts';
import { type LiveWorld, type Machine, startLiveWorld } from '../support/live-service.ts';
import {
  createShop,
  runCommand,
  runJson,
  type ServiceEnvironment,
  startServiceProcess,
} from '../support/service-process.ts';
import { startTransactionSigner } from '../support/transaction-signer.ts';
import { waitFor } from '../support/wait-for.ts';

describe('live mode against a second local chain, with the simulators as providers', () => {
  let world: LiveWorld;
  let service: Machine;

  beforeAll(async () => {
    world = await startLiveWorld();
    const secretFile = join(world.folder, 'secret');
    writeFileSync(secretFile, `${randomBytes(32).toString('hex')}\n`);
    service = await world.startMachine({ SECRET_KEY_FILE: secretFile });
  });
  afterAll(() => world?.stop());

  it('makes a relayer key, and shows the balance of each key and how many payments it releases', async () => {
    const made = await runJson<{ relayer_private_key: string; address: string }>(
      service.environment,
      'relayer create',
    );
    expect(made.relayer_private_key).toMatch(/^0x[0-9a-f]{64}$/);
    const keys = `${world.sandbox.relayerPrivateKey},${made.relayer_private_key}`;
    const [funded, empty] = await runJson<{ address: string; balance_pol: number; payments: number }[]>(
      { ...service.environment, RELAYER_PRIVATE_KEY: keys },
      'relayer show',
    );
    expect(funded?.balance_pol).toBeGreaterThan(1);
    expect(funded?.payments).toBeGreaterThan(100);
    expect(empty).toEqual({ address: made.address, balance_pol: 0, payments: 0 });
  });

  it('refuses to start with a factory that is none, and says so', async () => {
    const [PORT, ADMIN_PORT] = (await freePorts(2)).map(String) as [string, string];
    const places = { DATA_DIR: join(world.folder, 'other'), PORT, ADMIN_PORT };
    const wrong = {
      ...service.environment,
      ...places,
      DEPOSIT_FACTORY_ADDRESS: world.sandbox.merchantWallet,
    };
    const start = startServiceProcess(wrong, { args: ['--live'] });
    await expect(start).rejects.toThrow(/no contract at the factory/i);
  });

  it('starts while no RPC endpoint answers, takes payments, and says what is not verified', async () => {
    await service.process.end('SIGTERM');
    const outage: ServiceEnvironment = { ...service.environment, POLYGON_RPC_URL: 'http://127.0.0.1:1' };
    const machine = await world.startMachine(outage);
    const adminUrl = `http://127.0.0.1:${outage['ADMIN_PORT']}`;
    for (const url of [`http://127.0.0.1:${outage['PORT']}`, adminUrl]) {
      expect(await (await fetch(`${url}/health/ready`)).json()).toMatchObject({
        status: 'ready',
        degraded: expect.arrayContaining(['factory_unverified']),
      });
    }
    const metrics = await (await fetch(`${adminUrl}/metrics`)).text();
    expect(metrics).toContain('card_checkout_deployment_verified 0');
    const { apiKey } = await createShop(outage, 'During an outage');
    const address = world.sandbox.merchantWallet;
    expect(await machine.create(apiKey, { address, provider: 'multi' })).toHaveProperty('payment_id');
    const report = await runCommand(outage, 'doctor --json').catch((error) => error.stdout as string);
    const { checks } = JSON.parse(report) as { checks: { name: string; level: string; detail: string }[] };
    expect(checks.find(({ name }) => name === 'contract')).toMatchObject({
      level: 'warn',
      detail: expect.stringContaining('an earlier one verified'),
    });
    await machine.process.end('SIGTERM');
  });

  it('starts while its signer is down, says so, and releases once the signer signs', async () => {
    const { relayerPrivateKey: key, merchantWallet, chainId } = world.sandbox;
    const signer = await startTransactionSigner('clef', chainId, [key]);
    await signer.stop();
    const machine = await world.startMachine({
      SECRET_KEY: randomBytes(32).toString('hex'),
      RELAYER_PRIVATE_KEY: '',
      RELAYER_SIGNER_URL: signer.url,
      RELAYER_ADDRESS: privateKeyToAddress(key),
    });
    const { environment } = machine;
    const { apiKey } = await createShop(environment, 'With a signer');
    const { payment_id: id } = await machine.create(apiKey, { address: merchantWallet });
    await machine.pay(id);
    const adminUrl = `http://127.0.0.1:${environment['ADMIN_PORT']}`;
    await waitFor('the failure of the signer', 30_000, async () =>
      /signer_failing\{[^}]*\} 1/.test(await (await fetch(`${adminUrl}/metrics`)).text()),
    );
    const report = await runCommand(environment, 'doctor --json').catch((error) => error.stdout as string);
    expect(report).toMatch(/the signer does not answer: start it.*ECONNREFUSED/);
    await signer.start();
    await waitFor('the payment', 60_000, async () => {
      const { body } = await machine.readStatus(apiKey, `payment_id=${id}`);
      return body['status'] === 'paid';
    });
    await signer.stop();
    expect(machine.process.output()).toMatch(/releases wait: the signer.*the signer signs again/s);
  });
});
