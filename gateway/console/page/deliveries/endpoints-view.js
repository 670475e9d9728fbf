import { useState } from 'preact/hooks';
import { listEndpoints, setEndpoint } from '../api.js';
import { Confirm } from '../shell/dialog.js';
import { Field, Select } from '../shell/field.js';
import { html } from '../shell/html.js';
import { notify } from '../shell/notice.js';
import { Pages } from '../shell/pages.js';
import { Table } from '../shell/table.js';
import { View } from '../shell/view.js';
import { Time } from '../words/time.js';
import { choicesOf, ENDPOINTS, PAUSES } from '../words/words.js';

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
    <p><button type="button" onClick=${() => setAsked({ act: 'pause' })}>Pause an endpoint…</button></p>
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
    { name: 'Merchant', cell: ({ merchantId }) => merchantId },
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

function PauseDialog({ asked, onDone, onClose }) {
  const run = async (form) => {
    const { merchantId, endpointKind } = Object.fromEntries(form);
    await setEndpoint(merchantId.trim(), endpointKind, 'pause');
    return `Nothing is sent to the ${ENDPOINTS[endpointKind]} endpoint of ${merchantId.trim()} until it is resumed.`;
  };
  return html`<${Confirm} title="Pause an endpoint" action="Pause" isDangerous run=${run} onDone=${onDone} onClose=${onClose}>
    <p>Nothing is sent to it until it is resumed. Nothing is lost.</p>
    <${Field} name="merchantId" label="Merchant" required defaultValue=${asked.merchantId ?? ''} autofocus />
    <${Select} name="endpointKind" label="Endpoint" value=${asked.endpointKind} options=${choicesOf(ENDPOINTS)} />
  <//>`;
}

function ResumeDialog({ asked: { merchantId, endpointKind }, onDone, onClose }) {
  const name = `the ${ENDPOINTS[endpointKind]} endpoint of ${merchantId}`;
  const run = async () => {
    await setEndpoint(merchantId, endpointKind, 'resume');
    return `Deliveries to ${name} go on.`;
  };
  return html`<${Confirm} title="Resume ${name}?" action="Resume" run=${run} onDone=${onDone} onClose=${onClose}>
    <p>What waited is sent now.</p>
  <//>`;
}
