import { expect } from 'vitest';

/** A page's text as a reader sees it. */
export function textOf(markup: string): string {
  return markup
    .replaceAll(
      /<style[\s\S]*?<\/style>|<script[\s\S]*?<\/script>|<template[\s\S]*?<\/template>|<\/?bdi>/g,
      '',
    )
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/&#(\d+);/g, (_entity, code) => String.fromCodePoint(Number(code)))
    .replaceAll(/\s+/g, ' ');
}

/** What an answer is, and what its text says among other things. */
export function expectSays(
  answer: { readonly statusCode: number; readonly payload: string },
  status: number,
  words: string | RegExp,
): void {
  const said = typeof words === 'string' ? expect.stringContaining(words) : expect.stringMatching(words);
  expect([answer.statusCode, textOf(answer.payload)]).toEqual([status, said]);
}
