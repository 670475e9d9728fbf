import { post } from '../api.js';
import { CheckBox, Field } from '../shell/form.js';
import { html } from '../shell/html.js';
import { ContractFields, readContract } from './contract-fields.js';
import { WEBHOOK } from './credentials.js';
import { showOnce } from './shown-once.js';

export function newMerchantDialog() {
  return {
    title: 'New merchant',
    action: 'Create',
    body: html`
      <${Field} name="merchantId" label="Merchant ID" required maxlength="32" autofocus
        hint="A letter, then letters, digits, _ or -" />
      <${Field} name="name" label="Name" required maxlength="100" />
      <${ContractFields} />
      <${CheckBox} name="apiKeyManagesWebhook" label="Its first API key ${WEBHOOK}" />
    `,
    run: async (form) => {
      const { merchant, apiKey, signingSecret } = await post('/merchants', {
        merchantId: form.get('merchantId').trim(),
        name: form.get('name').trim(),
        contract: readContract(form),
        apiKeyManagesWebhook: form.has('apiKeyManagesWebhook'),
      });
      const secrets = [
        ['API key', apiKey],
        ['Signing secret', signingSecret],
      ];
      return () => showOnce(`${merchant.name} is created`, secrets);
    },
  };
}
