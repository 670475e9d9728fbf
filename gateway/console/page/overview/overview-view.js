import { readMinutes, readOverview } from '../api.js';
import { html } from '../shell/html.js';
import { Loaded, useLoad } from '../shell/load.js';
import { View } from '../shell/view.js';
import { Chart } from './chart.js';
import { Counts } from './counts.js';
import { Freshness, useFreshness } from './freshness.js';
import { LiveOperations } from './live-operations.js';
import { Processors } from './processors.js';

const REFRESH_MS = 10_000;
const MINUTES = 60;

/** How things stand, at a glance. */
export function OverviewView() {
  const counts = useLoad(readOverview, 'overview', REFRESH_MS);
  const minutes = useLoad(() => readMinutes(MINUTES), 'minutes', REFRESH_MS);
  const isFresh = useFreshness(counts.at, 2 * REFRESH_MS);
  return html`<${View} title="Overview">
    <${Freshness} at=${counts.at} isFresh=${isFresh} />
    <section aria-labelledby="attention">
      <h2 id="attention">Needs attention</h2>
      <${Loaded} of=${counts} what="the counts">
        ${(value) => html`<${Counts} of=${value} /><${Processors} of=${value.processors} />`}
      <//>
    </section>
    <section aria-labelledby="hour">
      <h2 id="hour">The last ${MINUTES} minutes</h2>
      <${Loaded} of=${minutes} what="the last hour">
        ${(items) => html`<div class="charts">
          <${Chart} title="Operations" minutes=${items} good=${['okCount', 'OK']} bad=${['koCount', 'KO']} />
          <${Chart} title="Notifications at the relay" minutes=${items}
            good=${['verifiedCount', 'Verified']} bad=${['refusedCount', 'Refused']} />
          <${Chart} title="Deliveries" minutes=${items.map(withWaiting)}
            good=${['deliveredCount', 'Delivered']} bad=${['waitingCount', 'Not delivered yet']} />
        </div>`}
      <//>
    </section>
    <${LiveOperations} isFresh=${isFresh} />
  <//>`;
}

function withWaiting(minute) {
  return { ...minute, waitingCount: Math.max(0, minute.deliveryCount - minute.deliveredCount) };
}
