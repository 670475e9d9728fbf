import { html } from './html.js';

/**
 * A table that becomes a list of cards where there is no room. Roles are spelled out, because browsers forget them once
 * the style makes rows into blocks. `columns` are `{ name, cell(row, act), isNumber? }`; a cell without a value is a
 * dash.
 */
export function Table({ caption, columns, rows, keyOf, act }) {
  return html`<table role="table">
    <caption class="hidden">${caption}</caption>
    <thead role="rowgroup">
      <tr role="row">
        ${columns.map(
          ({ name, isNumber }) =>
            html`<th role="columnheader" scope="col" class=${isNumber ? 'number' : ''}>${name}</th>`,
        )}
      </tr>
    </thead>
    <tbody role="rowgroup">
      ${rows.map(
        (row) => html`<tr role="row" key=${keyOf(row)}>
          ${columns.map(
            ({ name, cell, isNumber }) =>
              html`<td role="cell" data-name=${name} class=${isNumber ? 'number' : ''}>
                <span>${cell(row, act) ?? html`<span class="quiet">–</span>`}</span>
              </td>`,
          )}
        </tr>`,
      )}
    </tbody>
  </table>`;
}

/** Pairs of a name and a value; those without a value are left out. */
export function Facts({ of: facts }) {
  return html`<dl class="facts">
    ${facts.filter(([, value]) => value).map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}
  </dl>`;
}
