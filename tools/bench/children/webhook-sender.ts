/** `node tools/bench/children/webhook-sender.ts bare|service FOLDER PORT`: sends as many posts as it is asked for. */
import { answerParent } from '../answer-parent.ts';
import type { SentPosts } from '../measurements/webhooks.ts';
import { createBarePosts } from './bare-posts.ts';
import { createServicePosts } from './service-posts.ts';

/** Something that sends posts. */
export interface Posts {
  /** What is not measured: so many will be asked for next. */
  prepare(posts: number): Promise<void>;
  /** Resolves when all of them were answered with success; throws when one was not. */
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
