import { useState } from 'preact/hooks';
import { createMerchant, listMerchants } from '../api.js';
import { Confirm } from '../shell/dialog.js';
import { CheckBox, Field } from '../shell/field.js';
import { html } from '../shell/html.js';
import { Pages } from '../shell/pages.js';
import { linkTo } from '../shell/route.js';
import { Table } from '../shell/table.js';
import { View } from '../shell/view.js';
import { Time } from '../words/time.js';
import { ContractFields, NEW_CONTRACT, readContract } from './contract-fields.js';
import { WEBHOOK } from './credentials.js';
import { showOnce } from './shown-once.js';

const COLUMNS = [
  { name: 'Merchant', cell: ({ merchantId }) => html`<a href=${linkTo(['merchants', merchantId])}>${merchantId}</a>` },
  { name: 'Name', cell: ({ name }) => name },
  { name: 'Captures per hold', cell: ({ contract }) => (contract.allowMultipleCaptures ? 'Several' : 'One') },
  { name: 'Currencies', cell: ({ contract }) => contract.currencies.join(', ') },
  { name: 'Since', cell: ({ createdAt }) => html`<${Time} at=${createdAt} />` },
];

/** Merchants, and a new one. */
export function MerchantsView() {
  const [isAsking, setAsking] = useState(false);
  const [round, setRound] = useState(0);
  const done = ({ merchant, apiKey, signingSecret }) => {
    setAsking(false);
    setRound(round + 1);
    const secrets = [
      ['API key', apiKey],
      ['Signing secret', signingSecret],
    ];
    showOnce(`${merchant.name} is created`, secrets);
  };
  return html`<${View} title="Merchants">
    <p><button type="button" class="main" onClick=${() => setAsking(true)}>New merchant…</button></p>
    <${Pages} ask=${(pageToken) => listMerchants({ pageToken })} loadKey=${String(round)} what="merchants"
      empty="There is no merchant yet.">
      ${(items) => html`<${Table} caption="Merchants" columns=${COLUMNS} rows=${items} keyOf=${({ merchantId }) => merchantId} />`}
    <//>
    ${isAsking && html`<${NewMerchant} onDone=${done} onClose=${() => setAsking(false)} />`}
  <//>`;
}

function NewMerchant({ onDone, onClose }) {
  const run = (form) =>
    createMerchant({
      merchantId: form.get('merchantId').trim(),
      name: form.get('name').trim(),
      contract: readContract(form),
      apiKeyManagesWebhook: form.has('apiKeyManagesWebhook'),
    });
  return html`<${Confirm} title="New merchant" action="Create" run=${run} onDone=${onDone} onClose=${onClose}>
    <${Field} name="merchantId" label="Merchant ID" required maxlength="32" autofocus hint="A letter, then letters, digits, _ or -" />
    <${Field} name="name" label="Name" required maxlength="100" />
    <${ContractFields} contract=${NEW_CONTRACT} />
    <${CheckBox} name="apiKeyManagesWebhook" label="Its first API key ${WEBHOOK}" />
  <//>`;
}
