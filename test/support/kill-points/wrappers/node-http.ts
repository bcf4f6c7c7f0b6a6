import { request as requestOriginally } from 'node:http';
import { reach } from '../reach.ts';

/** A webhook is requested on the connection that stands. */
export const request = (...options: Parameters<typeof requestOriginally>) => {
  reach('webhook connected … sent');
  return requestOriginally(...options);
};
