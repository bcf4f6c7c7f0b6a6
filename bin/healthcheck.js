/** Asks the service in this container whether it is alive; exits 0 if so. For the image's HEALTHCHECK. */
import { request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';

const timeoutMs = 4_000;
const isSecure = Boolean(process.env.TLS_CERT_FILE);

const options = {
  host: '127.0.0.1',
  port: process.env.PORT || 3000,
  path: '/health/live',
  timeout: timeoutMs,
  // The certificate is made out to the public name, and nothing secret is asked or answered.
  rejectUnauthorized: false,
};
const request = (isSecure ? requestSecure : requestPlain)(options, (response) => {
  response.resume();
  process.exit(response.statusCode === 200 ? 0 : 1);
});
request.on('timeout', () => request.destroy(new Error(`no answer within ${timeoutMs} ms`)));
request.on('error', (error) => {
  console.error(error.message);
  process.exit(1);
});
request.end();
