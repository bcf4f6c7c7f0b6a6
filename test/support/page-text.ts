/** A page's text as a reader sees it. */
export function textOf(markup: string): string {
  return markup
    .replaceAll(
      /<style[\s\S]*?<\/style>|<script[\s\S]*?<\/script>|<template[\s\S]*?<\/template>|<\/?bdi>/g,
      '',
    )
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/&#(\d+);/g, (_entity, code) => String.fromCharCode(Number(code)))
    .replaceAll(/\s+/g, ' ');
}
