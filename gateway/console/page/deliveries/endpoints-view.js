import { useState } from 'preact/hooks';
import { listEndpoints } from '../api.js';
import { html } from '../shell/html.js';
import { notify } from '../shell/notice.js';
import { Pages } from '../shell/pages.js';
import { linkTo } from '../shell/route.js';
import { Table } from '../shell/table.js';
import { View } from '../shell/view.js';
import { Time } from '../words/time.js';
import { ENDPOINTS, PAUSES } from '../words/words.js';
import { PauseDialog, ResumeDialog } from './endpoint-dialogs.js';

/** Endpoints that fail or are paused; any endpoint can be paused here. */
export function EndpointsView() {
  const [asked, setAsked] = useState();
  const [round, setRound] = useState(0);
  const close = () => setAsked(undefined);
  const done = (text) => {
    close();
    setRound(round + 1);
    notify(text);
  };
  return html`<${View} title="Endpoints" lead="Endpoints that fail or are paused. One that always worked is not listed.">
    <p><button type="button" onClick=${() => setAsked({ act: 'pause' })}>Pause endpoint…</button></p>
    <${Pages} ask=${(pageToken) => listEndpoints({ pageToken })} loadKey=${String(round)} what="endpoints" empty="Every endpoint works.">
      ${(items) => html`<${Table} caption="Endpoints" columns=${columnsOf(setAsked)} rows=${items}
        keyOf=${({ merchantId, endpointKind }) => `${merchantId} ${endpointKind}`} />`}
    <//>
    ${asked?.act === 'pause' && html`<${PauseDialog} asked=${asked} onDone=${done} onClose=${close} />`}
    ${asked?.act === 'resume' && html`<${ResumeDialog} asked=${asked} onDone=${done} onClose=${close} />`}
  <//>`;
}

function columnsOf(ask) {
  return [
    {
      name: 'Merchant',
      cell: ({ merchantId }) => html`<a href=${linkTo(['merchants', merchantId])}>${merchantId}</a>`,
    },
    { name: 'Endpoint', cell: ({ endpointKind }) => ENDPOINTS[endpointKind] ?? endpointKind },
    { name: 'Paused', cell: ({ pause }) => (pause ? (PAUSES[pause] ?? pause) : 'No') },
    { name: 'Until', cell: ({ pausedUntil }) => html`<${Time} at=${pausedUntil} />` },
    { name: 'Failures in a row', isNumber: true, cell: ({ failureCount }) => failureCount },
    { name: 'Changed', cell: ({ changedAt }) => html`<${Time} at=${changedAt} />` },
    {
      name: 'Decide',
      cell: ({ merchantId, endpointKind, pause }) => {
        const act = pause ? 'resume' : 'pause';
        const label = `${pause ? 'Resume' : 'Pause'} the ${ENDPOINTS[endpointKind]} endpoint of ${merchantId}`;
        return html`<button type="button" aria-label=${label} onClick=${() => ask({ act, merchantId, endpointKind })}>
          ${pause ? 'Resume…' : 'Pause…'}
        </button>`;
      },
    },
  ];
}
