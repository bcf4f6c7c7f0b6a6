/** Asks the service in this container whether it is alive; exits 0 if so. For the image's HEALTHCHECK. */
import { request as send } from 'node:http';

const timeoutMs = 4_000;
// Every role has the admin port, and it speaks plain HTTP.
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
