import { createMerchant, listMerchants } from '../api.js';
import { Confirm } from '../shell/dialog.js';
import { CheckBox, Field } from '../shell/field.js';
import { html } from '../shell/html.js';
import { listView } from '../shell/list-view.js';
import { linkTo } from '../shell/route.js';
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

export const MerchantsView = listView({
  title: 'Merchants',
  button: { text: 'New merchant…', isMain: true },
  Dialog: NewMerchant,
  list: { read: listMerchants, what: 'merchants', empty: 'There is no merchant yet.' },
  table: { caption: 'Merchants', columns: COLUMNS, keyOf: ({ merchantId }) => merchantId },
});

function NewMerchant({ onDone, onClose }) {
  const run = (form) =>
    createMerchant({
      merchantId: form.get('merchantId').trim(),
      name: form.get('name').trim(),
      contract: readContract(form),
      apiKeyManagesWebhook: form.has('apiKeyManagesWebhook'),
    });
  const done = ({ merchant, apiKey, signingSecret }) => {
    onDone();
    const secrets = [
      ['API key', apiKey],
      ['Signing secret', signingSecret],
    ];
    showOnce(`${merchant.name} is created`, secrets);
  };
  return html`<${Confirm} title="New merchant" action="Create" run=${run} onDone=${done} onClose=${onClose}>
    <${Field} name="merchantId" label="Merchant ID" required maxlength="32" autofocus
      hint="A letter, then letters, digits, _ or -" />
    <${Field} name="name" label="Name" required maxlength="100" />
    <${ContractFields} contract=${NEW_CONTRACT} />
    <${CheckBox} name="apiKeyManagesWebhook" label="Its first API key ${WEBHOOK}" />
  <//>`;
}
