import { html } from '../shell/html.js';
import { linkTo } from '../shell/route.js';
import { number, Table } from '../shell/table.js';
import { agoOf } from '../words/time.js';

/** What is counted, how bad any of it is, where it is looked after, and since when. */
const COUNTS = [
  ['Holds ending within 24 hours', 'expiringHoldCount', 'wait', linkTo(['holds'], { expiring: '24h' })],
  ['Outcome unknown', 'unknownCount', 'wait', reviews('UNKNOWN'), 'oldestUnknownAt'],
  ['Needs review', 'needsReviewCount', 'bad', reviews('NEEDS_REVIEW')],
  ['Frozen holds', 'frozenHoldCount', 'bad', reviews('FROZEN')],
  ['Quarantined notifications', 'quarantinedCount', 'bad', linkTo(['quarantine'], { state: 'HELD' })],
  ['Dead deliveries', 'deadDeliveryCount', 'bad', linkTo(['deliveries'], { state: 'DEAD' })],
  ['Deliveries due', 'dueDeliveryCount', 'wait', linkTo(['deliveries'], { state: 'PENDING' }), 'oldestDueAt'],
  ['Paused endpoints', 'pausedEndpointCount', 'wait', linkTo(['endpoints'])],
];

function reviews(reason) {
  return linkTo(['reviews'], { reason });
}

/** Core stops counting there. */
const MOST = 10_000;

/** The counts, each a link to what it counts. */
export function Counts({ of: counts }) {
  return html`<ul class="counts">
    ${COUNTS.map(([text, name, tone, link, since]) => {
      const count = counts[name] ?? 0;
      return html`<li class=${count > 0 ? tone : 'none'}>
        <a href=${link}>
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
  return html`<${Table} caption="Card processors" columns=${COLUMNS} rows=${processors} keyOf="processor" />`;
}

const COLUMNS = [
  ['Card processor', 'processor'],
  ['State', stateOf],
  [
    'Outcome unknown',
    number(
      ({ unknownCount, oldestUnknownAt }) => html`<a href=${reviews('UNKNOWN')}>${unknownCount}</a>
        ${oldestUnknownAt && html` <span class="quiet">oldest ${agoOf(oldestUnknownAt)}</span>`}`,
    ),
  ],
  ['Needs review', number(({ needsReviewCount }) => html`<a href=${reviews('NEEDS_REVIEW')}>${needsReviewCount}</a>`)],
];

function stateOf({ configured, available }) {
  if (available) return 'answers';
  return configured ? 'does not answer: new holds and OCTs are refused' : 'not configured';
}
