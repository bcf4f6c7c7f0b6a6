import { expect, it } from 'vitest';
import { actions, dataTable, headings, numbers } from './data-table.ts';
import { html } from './html.ts';

it('names each value by its column, except actions, and escapes text', () => {
  const table = dataTable(
    'Keys & more',
    [
      { name: '<b>', uses: 3, action: html`<a href="/1">Revoke</a>` },
      { name: 'Shop', uses: null, action: 'none' },
    ],
    {
      Name: headings(({ name }) => name),
      Uses: numbers(({ uses }) => uses),
      Action: actions(({ action }) => action),
    },
  );
  expect(`${table}`).toBe(
    `<div class="table stacks" role="region" aria-label="Keys &#38; more" tabindex="0"><table role="table">
<thead role="rowgroup"><tr role="row"><th scope="col" role="columnheader">Name</th><th scope="col" role="columnheader" class="number">Uses</th><th scope="col" role="columnheader"><span class="quiet">Action</span></th></tr></thead>
<tbody role="rowgroup"><tr role="row"><th scope="row" role="rowheader" data-label="Name">&#60;b&#62;</th><td role="cell" class="number" data-label="Uses">3</td><td role="cell"><a href="/1">Revoke</a></td></tr>
<tr role="row"><th scope="row" role="rowheader" data-label="Name">Shop</th><td role="cell" class="number" data-label="Uses"></td><td role="cell">none</td></tr>
</tbody></table></div>`,
  );
});

it('has two columns beside each other on every screen', () => {
  const table = `${dataTable('Days', ['Monday'], { Day: (day) => day, Paid: () => 2 })}`;
  expect(table).toContain('<div class="table" ');
});
