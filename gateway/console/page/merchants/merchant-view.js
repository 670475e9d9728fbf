import { get, pathOf, put } from '../api.js';
import { nameOfEndpoint, pauseDialog, resumeDialog } from '../deliveries/dialogs.js';
import { notify, useDialog } from '../shell/dialog.js';
import { Field, Form } from '../shell/form.js';
import { Loaded, useLoad } from '../shell/load.js';
import { linkTo } from '../shell/route.js';
import { decide, number, Table, Time, time } from '../shell/table.js';
import { html, Section, View } from '../shell/view.js';
import { PAUSES } from '../words/words.js';
import { ContractFields, readContract } from './contract-fields.js';
import { API_KEYS, addDialog, endDialog, SECRETS, shownOf, WEBHOOK } from './dialogs.js';

export function MerchantView({ id }) {
  const merchant = useLoad(() => get(pathOf`/merchants/${id}`));
  const { ask, dialog } = useDialog(merchant.reload);
  return html`<${View} title="Merchant ${id}">
    <p>
      <a href=${linkTo(['holds'], { merchantId: id })}>Holds</a> ·${' '}
      <a href=${linkTo(['deliveries'], { merchantId: id })}>Deliveries</a>
      ${' · '}<a href=${linkTo(['audit'], { target: id })}>Audit log</a>
    </p>
    <${Loaded} of=${merchant} what="the merchant">
      ${(value) => html`
        <${Credentials} sort=${API_KEYS} merchantId=${id} items=${value.apiKeys} ask=${ask} />
        <${Credentials} sort=${SECRETS} merchantId=${id} items=${value.signingSecrets} ask=${ask} />
        <${Section} title="Contract">
          ${value.warnings?.map(warning)}
          <${Contract} of=${value} reading=${merchant.busy} reload=${merchant.reload} />
        <//>
      `}
    <//>
    <${Endpoints} merchantId=${id} />
    ${dialog}
  <//>`;
}

/** All endpoints of the merchant, those that fare worst first. */
function Endpoints({ merchantId }) {
  const endpoints = useLoad(async () => {
    const { items } = await get(pathOf`/merchants/${merchantId}/webhook-endpoints`);
    return items.map((item) => ({ ...item, merchantId })).sort(worstFirst);
  });
  const { ask, dialog } = useDialog(endpoints.reload);
  return html`<${Section} title="Endpoints">
    <${Loaded} of=${endpoints} what="the endpoints">
      ${(items) =>
        items.length === 0
          ? html`<p class="empty">Notifications go nowhere.</p>`
          : html`<${Table} caption="Endpoints" columns=${ENDPOINT_COLUMNS} rows=${items}
              keyOf=${({ endpointId }) => endpointId} ask=${ask} />`}
    <//>
    ${dialog}
  <//>`;
}

const worstFirst = (a, b) => Number(Boolean(b.pause)) - Number(Boolean(a.pause)) || b.failureCount - a.failureCount;

const ENDPOINT_COLUMNS = [
  ['Endpoint', ({ endpointId, description }) => html`<code class="id">${endpointId}</code> ${description}`],
  ['Address', 'url'],
  ['Types', ({ types }) => types.join(', ') || 'all'],
  ['Paused', ({ pause }) => (pause ? (PAUSES[pause] ?? pause) : 'No')],
  ['Failures in a row', number('failureCount')],
  ['Since', time('failingSince')],
  decide(nameOfEndpoint, ({ pause }) => [pause ? ['Resume', resumeDialog] : ['Pause', pauseDialog]]),
];

function Credentials({ sort, merchantId, items, ask }) {
  const { title, name, idOf, endedAt, ending, columns: own } = sort;
  const columns = [
    [title.slice(0, -1), (item) => nameOf(item, sort)],
    ['Since', time('createdAt')],
    ...own,
    ['State', (item) => stateOf(endedAt(item), sort)],
    decide(
      (item) => `the ${name} ${shownOf(item, sort)}`,
      (item) => (endedAt(item) ? undefined : [[ending, () => endDialog(sort, merchantId, item)]]),
    ),
  ];
  const add = html`<button type="button" onClick=${() => ask(addDialog(sort, merchantId))}>New ${name}…</button>`;
  return html`<${Section} title=${title} beside=${add}>
    ${
      items.length === 0
        ? html`<p class="empty">There is none.</p>`
        : html`<${Table} caption=${title} columns=${columns} rows=${items} keyOf=${idOf} ask=${ask} />`
    }
  <//>`;
}

function nameOf(item, sort) {
  return html`<code class="id" title=${sort.idOf(item)}>${shownOf(item, sort)}</code>
    ${item.managesWebhook && html` <span class="badge calm" title=${WEBHOOK}>webhook</span>`}`;
}

function stateOf(endedAt, { ended }) {
  if (!endedAt) return html`<span class="badge good">live</span>`;
  return html`<span class="badge calm">${ended}</span> <${Time} at=${endedAt} />`;
}

const LABELS = { 'contract.webhookUrl': 'Webhook URL', 'contract.internalUrl': 'Internal URL', apiKeys: 'API keys' };

/** Accepted, and maybe not working: only the workers know the networks that they may deliver to. */
function warning({ field, message }) {
  const label = LABELS[field] ?? field;
  return html`<p class="hint" role="note"><strong>${label}:</strong> ${message}.</p>`;
}

/** Cannot be saved while the merchant is being read: its old `etag` would be refused. */
function Contract({ of: { merchantId, name, contract, etag }, reading, reload }) {
  const save = (form) =>
    put(pathOf`/merchants/${merchantId}`, { name: form.get('name').trim(), contract: readContract(form), etag });
  const done = ({ warnings = [] }) => {
    notify(warnings.length > 0 ? 'The contract is saved, with a warning.' : 'The contract is saved.');
    reload();
  };
  return html`<${Form} class="card" action="Save the contract" working="Saving…" disabled=${reading} run=${save}
    onDone=${done}>
    <p class="quiet">Holds placed before keep the terms they were placed under.</p>
    <${Field} name="name" label="Name" required maxlength="100" defaultValue=${name} />
    <${ContractFields} contract=${contract} />
  <//>`;
}
