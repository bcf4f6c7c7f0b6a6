import type { en } from './en.ts';

/** A complete catalog, because a missing text is a compile error. */
export type Words = typeof en;
