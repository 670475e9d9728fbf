import { useEffect, useState } from 'preact/hooks';
import { get } from '../api.js';
import { html } from '../shell/html.js';
import { Loaded, useLoad } from '../shell/load.js';
import { Section, View } from '../shell/view.js';
import { agoOf, Time } from '../words/time.js';
import { Chart } from './chart.js';
import { Counts, Processors } from './counts.js';
import { LiveOperations } from './live-operations.js';

const REFRESH_MS = 10_000;
const MINUTES = 60;

/** How things stand, at a glance. */
export function OverviewView() {
  const counts = useLoad(() => get('/overview'), 'overview', REFRESH_MS);
  const minutes = useLoad(() => get('/overview/series', { minutes: MINUTES }), 'minutes', REFRESH_MS);
  const isFresh = useFreshness(counts, 2 * REFRESH_MS);
  return html`<${View} title="Overview">
    <${Freshness} at=${counts.at} isFresh=${isFresh} />
    <${Section} title="Needs attention">
      <${Loaded} of=${counts} what="the counts">
        ${(value) => html`<${Counts} of=${value} /><${Processors} of=${value.processors} />`}
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

function withWaiting(minute) {
  return { ...minute, waitingCount: Math.max(0, minute.deliveryCount - minute.deliveredCount) };
}

const TICK_MS = 1_000;

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
