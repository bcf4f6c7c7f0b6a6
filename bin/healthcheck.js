/** Health check of the container image (`HEALTHCHECK`). Exits 0 if the service in this container is live. */
import { request as send } from 'node:http';

const timeoutMs = 4_000;
// Uses the admin port, which every role serves over plain HTTP.
const { ADMIN_HOST = '', ADMIN_PORT, PORT } = process.env;
const isAnyAddress = ['', '0.0.0.0', '::', '[::]'].includes(ADMIN_HOST.trim());

const options = {
  host: isAnyAddress ? '127.0.0.1' : ADMIN_HOST.trim().replace(/^\[|\]$/g, ''),
  port: ADMIN_PORT || Number(PORT || 3000) + 1,
  path: '/health/live',
  timeout: timeoutMs,
};
const request = send(options, (response) => {
  response.resume();
  process.exit(response.statusCode === 200 ? 0 : 1);
});
request.on('timeout', () => request.destroy(new Error(`no answer within ${timeoutMs} ms`)));
request.on('error', (error) => {
  console.error(error.message);
  process.exit(1);
});
request.end();
