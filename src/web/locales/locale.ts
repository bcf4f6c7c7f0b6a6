import type { en } from './en.ts';

/** A whole catalog: every language says everything, or it does not compile. */
export type Words = typeof en;
