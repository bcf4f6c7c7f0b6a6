/** `node tools/bench/children/webhook-sender.ts bare|service FOLDER PORT`: sends the requested number of posts. */
import { answerParent } from '../answer-parent.ts';
import type { SentPosts } from '../measurements/webhooks.ts';
import { createBarePosts } from './bare-posts.ts';
import { createServicePosts } from './service-posts.ts';

export interface Posts {
  /** Prepares this number of posts for the next `send`, outside the measurement. */
  prepare(posts: number): Promise<void>;
  /** Resolves when all have succeeded; throws if one has failed. */
  send(posts: number, atATime: number): Promise<void>;
  stop(): Promise<void>;
}

const AT_A_TIME = 64;

const [name, folder = '', port = ''] = process.argv.slice(2);
const posts =
  name === 'bare' ? createBarePosts(Number(port)) : await createServicePosts(folder, Number(port));

async function send(count: number): Promise<SentPosts> {
  await posts.prepare(count);
  const [startMs, before] = [performance.now(), process.cpuUsage()];
  await posts.send(count, AT_A_TIME);
  const { user, system } = process.cpuUsage(before);
  return { posts: count, durationMs: performance.now() - startMs, cpuMicroseconds: user + system };
}

answerParent(
  {},
  (count) => send(count as number),
  () => posts.stop(),
);
