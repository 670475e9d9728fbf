import { html } from '../shell/html.js';
import { linkTo } from '../shell/route.js';
import { Table } from '../shell/table.js';
import { agoOf } from '../words/time.js';

/** How things stand with each card processor. */
export function Processors({ of: processors = [] }) {
  if (processors.length === 0) return null;
  return html`<${Table} caption="Card processors" columns=${COLUMNS} rows=${processors} keyOf=${({ processor }) => processor} />`;
}

const COLUMNS = [
  { name: 'Card processor', cell: ({ processor }) => processor },
  {
    name: 'State',
    cell: ({ configured, available }) =>
      available ? 'answers' : configured ? 'does not answer: new holds and OCTs are refused' : 'not configured',
  },
  {
    name: 'Outcome unknown',
    isNumber: true,
    cell: ({ unknownCount, oldestUnknownAt }) =>
      html`<a href=${linkTo(['reviews'], { reason: 'UNKNOWN' })}>${unknownCount}</a>
        ${oldestUnknownAt && html` <span class="quiet">oldest ${agoOf(oldestUnknownAt)}</span>`}`,
  },
  {
    name: 'Needs review',
    isNumber: true,
    cell: ({ needsReviewCount }) =>
      html`<a href=${linkTo(['reviews'], { reason: 'NEEDS_REVIEW' })}>${needsReviewCount}</a>`,
  },
];
