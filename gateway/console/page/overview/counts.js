import { html } from '../shell/html.js';
import { linkTo } from '../shell/route.js';
import { Table } from '../shell/table.js';
import { agoOf } from '../words/time.js';

/** What is counted, how bad any of it is, since when, and where it is looked after. */
const COUNTS = [
  ['Holds ending within 24 hours', 'expiringHoldCount', 'wait', undefined, ['holds'], { expiring: '24h' }],
  ['Outcome unknown', 'unknownCount', 'wait', 'oldestUnknownAt', ['reviews'], { reason: 'UNKNOWN' }],
  ['Needs review', 'needsReviewCount', 'bad', undefined, ['reviews'], { reason: 'NEEDS_REVIEW' }],
  ['Frozen holds', 'frozenHoldCount', 'bad', undefined, ['reviews'], { reason: 'FROZEN' }],
  ['Quarantined notifications', 'quarantinedCount', 'bad', undefined, ['quarantine'], { state: 'HELD' }],
  ['Dead deliveries', 'deadDeliveryCount', 'bad', undefined, ['deliveries'], { state: 'DEAD' }],
  ['Deliveries due', 'dueDeliveryCount', 'wait', 'oldestDueAt', ['deliveries'], { state: 'PENDING' }],
  ['Paused endpoints', 'pausedEndpointCount', 'wait', undefined, ['endpoints'], {}],
];

/** Core stops counting there. */
const MOST = 10_000;

/** The counts, each a link to what it counts. */
export function Counts({ of: counts }) {
  return html`<ul class="counts">
    ${COUNTS.map(([text, name, tone, since, path, query]) => {
      const count = counts[name] ?? 0;
      return html`<li class=${count > 0 ? tone : 'none'}>
        <a href=${linkTo(path, query)}>
          <strong>${count >= MOST ? `${MOST}+` : count}</strong>
          <span>${text}</span>
          ${count > 0 && counts[since] && html`<span class="quiet">oldest ${agoOf(counts[since])}</span>`}
        </a>
      </li>`;
    })}
  </ul>`;
}

/** How things stand with each card processor. */
export function Processors({ of: processors = [] }) {
  if (processors.length === 0) return null;
  return html`<${Table} caption="Card processors" columns=${COLUMNS} rows=${processors}
    keyOf=${({ processor }) => processor} />`;
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
