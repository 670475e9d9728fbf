import { useEffect, useState } from 'preact/hooks';
import { get } from '../api.js';
import { Loaded, useLoad } from '../shell/load.js';
import { linkTo } from '../shell/route.js';
import { number, Table, Time } from '../shell/table.js';
import { html, Section, View } from '../shell/view.js';
import { agoOf } from '../words/time.js';
import { Chart } from './chart.js';
import { LiveOperations } from './live-operations.js';

const REFRESH_MS = 10_000;
const TICK_MS = 1_000;
const MINUTES = 60;

export function OverviewView() {
  const counts = useLoad(() => get('/overview'), REFRESH_MS);
  const minutes = useLoad(() => get('/overview/series', { minutes: MINUTES }), REFRESH_MS);
  const isFresh = useFreshness(counts, 2 * REFRESH_MS);
  return html`<${View} title="Overview">
    <${Freshness} at=${counts.at} isFresh=${isFresh} />
    <${Section} title="Needs attention">
      <${Loaded} of=${counts} what="the counts">
        ${(value) => html`<${Reconciling} since=${value.reconcilingSince} />
          <${Counts} of=${value} /><${Processors} of=${value.processors} />`}
      <//>
    <//>
    <${Section} title="The last ${MINUTES} minutes">
      <${Loaded} of=${minutes} what="the last hour">
        ${({ items }) => html`<div class="charts">
          <${Chart} title="Operations" minutes=${items} good=${['okCount', 'OK']} bad=${['koCount', 'KO']} />
          <${Chart} title="Notifications at the relay" minutes=${items}
            good=${['verifiedCount', 'Verified']} bad=${['refusedCount', 'Refused']} />
          <${Chart} title="Deliveries" minutes=${items.map(withWaiting)}
            good=${['deliveredCount', 'Delivered']} bad=${['waitingCount', 'Not delivered yet']} />
        </div>`}
      <//>
    <//>
    <${LiveOperations} isFresh=${isFresh} />
  <//>`;
}

/** Nobody counted what waited while no worker ran: then at least what was made in that minute. */
function withWaiting(minute) {
  const { waitingCount = Math.max(0, minute.deliveryCount - minute.deliveredCount) } = minute;
  return { ...minute, waitingCount };
}

/** Whether the latest question was answered, within the last `mostMs`; undefined while nothing is known yet. */
function useFreshness({ at, error }, mostMs) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  if (at === undefined && error === undefined) return undefined;
  return error === undefined && now - at < mostMs;
}

/** Says from when the numbers are, and warns when nothing newer comes. */
function Freshness({ at, isFresh }) {
  if (at === undefined) return null;
  const moment = new Date(at).toISOString();
  if (isFresh) return html`<p class="quiet">As of <${Time} at=${moment} /></p>`;
  return html`<div class="hint">
    <p role="alert"><strong>No answer since <${Time} at=${moment} />.</strong> What you see is from then.</p>
    <p class="quiet">${agoOf(moment)}</p>
  </div>`;
}

/** After a restore or a fail-over. */
function Reconciling({ since }) {
  if (since === undefined) return null;
  return html`<div class="hint">
    <p role="alert"><strong>Reconciling since <${Time} at=${since} />:</strong> the service is recovering from a restore. Operations
      that it may have lost are answered 503 <code>RECONCILING</code>, and no hold ends, until
      ${' '}<code>npm run reconcile</code> finds nothing unknown and an operator ends it.</p>
    <p class="quiet">${agoOf(since)}</p>
  </div>`;
}

/** What is counted, how bad any of it is, where it is looked after, and since when. */
const COUNTS = [
  ['Holds ending within 24 hours', 'expiringHoldCount', 'wait', linkTo(['holds'], { expiring: '24h' })],
  ['Outcome unknown', 'unknownCount', 'wait', reviews('UNKNOWN'), 'oldestUnknownAt'],
  ['Needs review', 'needsReviewCount', 'bad', reviews('NEEDS_REVIEW')],
  ['Frozen holds', 'frozenHoldCount', 'bad', reviews('FROZEN')],
  ['Contradictions', 'openContradictionCount', 'bad', linkTo(['reviews'])],
  ['Quarantined notifications', 'quarantinedCount', 'bad', linkTo(['quarantine'], { state: 'HELD' })],
  ['Dead deliveries', 'deadDeliveryCount', 'bad', linkTo(['deliveries'], { state: 'DEAD' })],
  ['Deliveries due', 'dueDeliveryCount', 'wait', linkTo(['deliveries'], { state: 'PENDING' }), 'oldestDueAt'],
  ['Failing endpoints', 'failingEndpointCount', 'bad', linkTo(['endpoints'])],
  ['Paused endpoints', 'pausedEndpointCount', 'wait', linkTo(['endpoints'])],
];

function reviews(reason) {
  return linkTo(['reviews'], { reason });
}

/** Core stops counting there. */
const MOST = 10_000;

function Counts({ of: counts }) {
  return html`<ul class="counts">
    ${COUNTS.map(([text, name, tone, link, since]) => {
      const count = counts[name] ?? 0;
      return html`<li class=${count > 0 ? tone : 'none'}>
        <a href=${link}>
          <strong>${count >= MOST ? `${MOST}+` : count}</strong>
          <span>${text}</span>
          ${count > 0 && oldest(counts[since])}
        </a>
      </li>`;
    })}
  </ul>`;
}

function oldest(at) {
  return at && html`<span class="quiet">oldest ${agoOf(at)}</span>`;
}

function Processors({ of: processors = [] }) {
  return (
    processors.length > 0 &&
    html`<${Table} caption="Card processors" columns=${COLUMNS} rows=${processors} keyOf="processor" />`
  );
}

const COLUMNS = [
  ['Card processor', 'processor'],
  ['State', stateOf],
  ['Outcome unknown', number(unknownOf)],
  ['Needs review', number(({ needsReviewCount: count }) => html`<a href=${reviews('NEEDS_REVIEW')}>${count}</a>`)],
];

function stateOf({ configured, available }) {
  if (available) return 'answers';
  return configured ? 'does not answer: new holds and OCTs are refused' : 'not configured';
}

function unknownOf({ unknownCount, oldestUnknownAt }) {
  return html`<a href=${reviews('UNKNOWN')}>${unknownCount}</a> ${oldest(oldestUnknownAt)}`;
}
