import {
  DeliveryStopped as OriginalDeliveryStopped,
  postOnce as postOriginally,
} from '../../../../src/webhooks/socket-request.ts';
import { reach } from '../reach.ts';

export const postOnce: typeof postOriginally = async (socket, post, signal) => {
  reach('webhook connected … sent');
  return postOriginally(socket, post, signal);
};

/** The same class: what is thrown here is recognized there. */
export const DeliveryStopped = OriginalDeliveryStopped;
