import { get, pathOf, put } from '../api.js';
import { useDialog } from '../shell/dialog.js';
import { Field, Form } from '../shell/form.js';
import { html } from '../shell/html.js';
import { Loaded, useLoad } from '../shell/load.js';
import { notify } from '../shell/notice.js';
import { linkTo } from '../shell/route.js';
import { Section, View } from '../shell/view.js';
import { ContractFields, readContract } from './contract-fields.js';
import { API_KEYS, Credentials, SECRETS } from './credentials.js';

/** One merchant: its contract, and its keys and secrets. */
export function MerchantView({ id }) {
  const merchant = useLoad(() => get(pathOf`/merchants/${id}`), id);
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
          <${Warnings} warnings=${value.warnings} />
          <${Contract} merchant=${value} reload=${merchant.reload} />
        <//>
      `}
    <//>
    ${dialog}
  <//>`;
}

function Contract({ merchant: { merchantId, name, contract, etag }, reload }) {
  const save = (form) =>
    put(pathOf`/merchants/${merchantId}`, { name: form.get('name').trim(), contract: readContract(form), etag });
  const done = ({ warnings = [] }) => {
    notify(warnings.length > 0 ? 'The contract is saved, with a warning.' : 'The contract is saved.');
    reload();
  };
  return html`<${Form} class="card" action="Save the contract" working="Saving…" run=${save} onDone=${done}>
    <p class="quiet">Holds placed before keep the terms they were placed under.</p>
    <${Field} name="name" label="Name" required maxlength="100" defaultValue=${name} />
    <${ContractFields} contract=${contract} />
  <//>`;
}

/** Accepted, and maybe not working: only the workers know the networks that they may deliver to. */
function Warnings({ warnings = [] }) {
  if (warnings.length === 0) return null;
  return html`<div class="hint" role="note">
    ${warnings.map(({ field, message }) => html`<p><strong>${LABELS[field] ?? field}:</strong> ${message}.</p>`)}
  </div>`;
}

const LABELS = { 'contract.webhookUrl': 'Webhook URL', 'contract.internalUrl': 'Internal URL' };
