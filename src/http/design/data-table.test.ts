import { expect, it } from 'vitest';
import { dataTable } from './data-table.ts';
import { html } from './html.ts';

it('names each value by its column, except actions, and escapes text', () => {
  const table = dataTable({
    label: 'Keys & more',
    columns: ['Name', { name: 'Uses', holds: 'numbers' }, { name: 'Action', holds: 'actions' }],
    hasRowHeadings: true,
    rows: [
      ['<b>', 3, html`<a href="/1">Revoke</a>`],
      ['Shop', null, 'none'],
    ],
  });
  expect(`${table}`).toBe(
    `<div class="table stacks" role="region" aria-label="Keys &#38; more" tabindex="0"><table role="table">
<thead role="rowgroup"><tr role="row"><th scope="col" role="columnheader">Name</th><th scope="col" role="columnheader" class="number">Uses</th><th scope="col" role="columnheader"><span class="quiet">Action</span></th></tr></thead>
<tbody role="rowgroup"><tr role="row"><th scope="row" role="rowheader" data-label="Name">&#60;b&#62;</th><td role="cell" class="number" data-label="Uses">3</td><td role="cell"><a href="/1">Revoke</a></td></tr>
<tr role="row"><th scope="row" role="rowheader" data-label="Name">Shop</th><td role="cell" class="number" data-label="Uses"></td><td role="cell">none</td></tr>
</tbody></table></div>`,
  );
});

it('has two columns beside each other on every screen, and a caption where there is one', () => {
  const table = `${dataTable({ label: 'Days', caption: 'This week', columns: ['Day', 'Paid'], rows: [['Monday', 2]] })}`;
  expect(table).toContain('<div class="table" ');
  expect(table).toContain('<caption>This week</caption>');
});
