import { type Html, html } from '../design/html.ts';

const formats = new Map<string, Intl.DateTimeFormat>();

/** A moment in a time zone, for people and for machines. */
export function moment(atMs: number, timeZone: string): Html {
  const at = new Date(atMs);
  return html`<time datetime="${at.toISOString()}">${formatOf(timeZone).format(at)}</time>`;
}

/** There are some 400 zones, and a format takes longer to make than to use. */
function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat('en', {
    timeZone,
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZoneName: 'short',
  });
  formats.set(timeZone, format);
  return format;
}
