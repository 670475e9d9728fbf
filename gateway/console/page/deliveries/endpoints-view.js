import { listEndpoints } from '../api.js';
import { html } from '../shell/html.js';
import { listView } from '../shell/list-view.js';
import { linkTo } from '../shell/route.js';
import { Time } from '../words/time.js';
import { ENDPOINTS, PAUSES } from '../words/words.js';
import { PauseDialog, ResumeDialog } from './pause.js';

const COLUMNS = [
  { name: 'Merchant', cell: ({ merchantId }) => html`<a href=${linkTo(['merchants', merchantId])}>${merchantId}</a>` },
  { name: 'Endpoint', cell: ({ endpointKind }) => ENDPOINTS[endpointKind] ?? endpointKind },
  { name: 'Paused', cell: ({ pause }) => (pause ? (PAUSES[pause] ?? pause) : 'No') },
  { name: 'Until', cell: ({ pausedUntil }) => html`<${Time} at=${pausedUntil} />` },
  { name: 'Failures in a row', isNumber: true, cell: ({ failureCount }) => failureCount },
  { name: 'Changed', cell: ({ changedAt }) => html`<${Time} at=${changedAt} />` },
  {
    name: 'Decide',
    cell: ({ merchantId, endpointKind, pause }, act) => {
      const label = `${pause ? 'Resume' : 'Pause'} the ${ENDPOINTS[endpointKind]} endpoint of ${merchantId}`;
      return html`<button type="button" aria-label=${label}
        onClick=${() => act({ merchantId, endpointKind, isPaused: Boolean(pause) })}>
          ${pause ? 'Resume…' : 'Pause…'}
        </button>`;
    },
  },
];

/** Endpoints that fail or are paused; any endpoint can be paused here. */
export const EndpointsView = listView({
  title: 'Endpoints',
  lead: 'Endpoints that fail or are paused. One that always worked is not listed.',
  button: { text: 'Pause endpoint…' },
  Dialog: (props) => html`<${props.asked.isPaused ? ResumeDialog : PauseDialog} ...${props} />`,
  list: { read: listEndpoints, what: 'endpoints', empty: 'Every endpoint works.' },
  table: {
    caption: 'Endpoints',
    columns: COLUMNS,
    keyOf: ({ merchantId, endpointKind }) => `${merchantId} ${endpointKind}`,
  },
});
