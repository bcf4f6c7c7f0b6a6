import type { en } from './en.ts';

/** Type of a complete catalog. A missing text is a compile error. */
export type Words = typeof en;
