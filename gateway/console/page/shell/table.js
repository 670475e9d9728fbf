import { formatAmount } from '../words/money.js';
import { momentOf } from '../words/time.js';
import { textOf, toneOf } from '../words/words.js';
import { linkTo } from './route.js';
import { html } from './view.js';

/**
 * A table that becomes a list of cards where there is no room. Roles are spelled out, because browsers forget them once
 * the style makes rows into blocks. `columns` are pairs of a name and a cell: a field of the row, or a function of the
 * row and of `ask`, which opens a dialog. A cell without a value is a dash.
 */
export function Table({ caption, columns, rows, keyOf, ask }) {
  const classOf = (cell) => (cell.isNumber ? 'number' : '');
  return html`<table role="table">
    <caption class="hidden">${caption}</caption>
    <thead role="rowgroup">
      <tr role="row">
        ${columns.map(([name, cell]) => html`<th role="columnheader" scope="col" class=${classOf(cell)}>${name}</th>`)}
      </tr>
    </thead>
    <tbody role="rowgroup">
      ${rows.map(
        (row) => html`<tr role="row" key=${shown(keyOf, row)}>
          ${columns.map(
            ([name, cell]) => html`<td role="cell" data-name=${name} class=${classOf(cell)}>
              <span>${shown(cell, row, ask) ?? html`<span class="quiet">–</span>`}</span>
            </td>`,
          )}
        </tr>`,
      )}
    </tbody>
  </table>`;
}

/** What is known of a record, as pairs of a name and a cell; those without a value are left out. */
export function Facts({ of: record, facts }) {
  const known = facts.map(([name, cell]) => [name, shown(cell, record)]).filter(([, value]) => value);
  return html`<dl class="facts">
    ${known.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}
  </dl>`;
}

function shown(cell, row, ask) {
  return typeof cell === 'string' ? row[cell] : cell(row, ask);
}

/** A cell that stands to the right. */
export const number = (cell) => Object.assign((row) => shown(cell, row), { isNumber: true });
export const money = (field) => number((row) => row.currency && formatAmount(row[field], row.currency));
export const time = (field) => (row) => row[field] && html`<${Time} at=${row[field]} />`;
export const badge = (field) => (row) => row[field] && html`<${Badge} word=${row[field]} />`;
/** A field that is one of the `words`. */
export const word = (field, words) => (row) => words[row[field]] ?? row[field];
/** An id, with a link to the view of what it names. */
export const id = (field, view) => (row) => row[field] && html`<${Id} id=${row[field]} of=${view} />`;
export const merchantLink = ({ merchantId }) => html`<a href=${linkTo(['merchants', merchantId])}>${merchantId}</a>`;

export function processorSaid({ processorCode, processorMessage }) {
  return [processorCode, processorMessage].filter(Boolean).join(': ');
}

/** The merchant's own data, as facts of their names. */
export function metadataOf({ metadata = {} }) {
  return Object.entries(metadata).map(([name, value]) => [name, () => value]);
}

/**
 * A column of buttons that open dialogs. `actionsOf` answers pairs of a verb and what describes the dialog, or else
 * what is shown instead. `about` names the row in its buttons, for a reader who does not see where they stand.
 */
export function decide(about, actionsOf) {
  const cell = (row, ask) => {
    const actions = actionsOf(row);
    if (!Array.isArray(actions)) return actions;
    const button = ([verb, dialogOf]) =>
      html`<button type="button" aria-label="${verb} ${shown(about, row)}" onClick=${() => ask(dialogOf(row))}>
        ${verb}…
      </button>`;
    return html`<span class="buttons">${actions.map(button)}</span>`;
  };
  return ['Decide', cell];
}

/** A moment in the reader's own time; in UTC, as the logs have it, on hover. */
export function Time({ at }) {
  const utc = new Date(at).toISOString().replace('T', ' ').replace('Z', ' UTC');
  return html`<time datetime=${at} title=${utc}>${momentOf(at)}</time>`;
}

/** A state, coloured; the colour says nothing that the word does not. */
export function Badge({ word }) {
  return html`<span class="badge ${toneOf(word)}">${textOf(word)}</span>`;
}

/** The end of an id, which tells ids apart; the whole of it is read out and copied. `of` names the view to link to. */
export function Id({ id, of }) {
  const short = id.length > 20 ? `…${id.slice(-12)}` : id;
  return of
    ? html`<a class="id" href=${linkTo([of, id])} title=${id}>${short}</a>`
    : html`<code class="id" title=${id}>${short}</code>`;
}
