import { postOnce as postOriginally } from '../../../../src/webhooks/post-once.ts';
import { reach } from '../reach.ts';

export const postOnce: typeof postOriginally = async (socket, post, signal) => {
  reach('webhook connected … sent');
  return postOriginally(socket, post, signal);
};
