/** Sandbox as a process with its own ports, for the tools. */
import { freePorts } from '../test/support/free-ports.ts';
import { runCommand, type ServiceEnvironment, startServiceProcess } from '../test/support/service-process.ts';

const ORDER = {
  address: '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65',
  callback: 'https://shop.example.com/webhook',
  amount: '25.00',
};

export async function startSandboxProcess(
  dataDir: string,
  changes: ServiceEnvironment = {},
  options: Parameters<typeof startServiceProcess>[1] = {},
) {
  const [port = 0, adminPort = 0] = await freePorts(2);
  const ports = { PORT: String(port), ADMIN_PORT: String(adminPort) };
  const environment = { DATA_DIR: dataDir, ...ports, ...changes };
  const service = await startServiceProcess(environment, options);
  const url = `http://127.0.0.1:${port}`;
  const headers = { 'x-api-key': service.demoKey(), 'content-type': 'application/json' };
  const ask = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`${url}/api/v1/${path}`, { headers, ...init });
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as { readonly payment_id: string; readonly status: string };
  };
  return {
    ...service,
    port,
    adminPort,
    url,
    environment,
    /** Creates a payment and returns its id. */
    create: async () => (await ask('wallet', { method: 'POST', body: JSON.stringify(ORDER) })).payment_id,
    pay: (id: string) => runCommand(environment, 'sandbox', 'pay', id),
    isPaid: async (id: string) => (await ask(`payment-status?payment_id=${id}`)).status === 'paid',
  };
}
