import { pathOf, post, remove } from '../api.js';
import { CheckBox, Field } from '../shell/form.js';
import { Time, time } from '../shell/table.js';
import { html } from '../shell/view.js';
import { ContractFields, readContract } from './contract-fields.js';
import { showOnce } from './shown-once.js';

/** What a key may do besides payments. */
export const WEBHOOK = 'manages the webhook: address, deliveries, signing secrets';

export const newMerchantDialog = () => ({
  title: 'New merchant',
  action: 'Create',
  body: html`
    <${Field} name="merchantId" label="Merchant ID" required maxlength="32" autofocus
      hint="A letter, then letters, digits, _ or -" />
    <${Field} name="name" label="Name" required maxlength="100" />
    <${ContractFields} />
    <${CheckBox} name="apiKeyManagesWebhook" label="Its first API key ${WEBHOOK}" />
  `,
  run: (form) =>
    post('/merchants', {
      merchantId: form.get('merchantId').trim(),
      name: form.get('name').trim(),
      contract: readContract(form),
      apiKeyManagesWebhook: form.has('apiKeyManagesWebhook'),
    }),
  done: ({ merchant, apiKey, signingSecret }) => {
    const secrets = { 'API key': apiKey, 'Signing secret': signingSecret };
    showOnce(`${merchant.name} is created`, secrets);
  },
});

/** The words of a text; undefined when there are none. */
function listOf(text) {
  const words = text.split(/[\s,]+/).filter(Boolean);
  return words.length > 0 ? words : undefined;
}

/** The two sorts of credentials: how they are called, added and ended, and what that means. */
export const API_KEYS = {
  title: 'API keys',
  name: 'API key',
  path: 'api-keys',
  idOf: ({ apiKeyId }) => apiKeyId,
  secretOf: ({ apiKey }) => apiKey,
  endedAt: ({ revokedAt }) => revokedAt,
  columns: [
    ['May', ({ scopes }) => scopes.join(', ')],
    ['From', ({ allowedCidrs }) => allowedCidrs.join(', ') || 'anywhere'],
    ['Expires', time('expiresAt')],
    ['Last used', time('lastUsedAt')],
  ],
  ending: 'Revoke',
  ended: 'revoked',
  adding: 'The merchant can use it at once, beside those it has.',
  warning: 'Whoever still uses it is refused from now on.',
  question: html`
    <${Field} name="scopes" label="Scopes"
      hint="Of read, hold, capture, release, refund, oct, webhook; empty for all but webhook" />
    <${CheckBox} name="managesWebhook" label="It ${WEBHOOK}" />
    <${Field} name="expiresAt" label="Expires" hint="Like 2027-06-30T00:00:00Z; empty for never" />
    <${Field} name="allowedCidrs" label="Networks" hint="Like 192.0.2.0/24; empty for anywhere" />`,
  orderOf: (form) => ({
    managesWebhook: form.has('managesWebhook'),
    scopes: listOf(form.get('scopes')),
    expiresAt: form.get('expiresAt').trim() || undefined,
    allowedCidrs: listOf(form.get('allowedCidrs')),
  }),
};

export const SECRETS = {
  title: 'Signing secrets',
  name: 'signing secret',
  path: 'signing-secrets',
  idOf: ({ signingSecretId }) => signingSecretId,
  secretOf: ({ signingSecret }) => signingSecret,
  endedAt: ({ retiredAt }) => retiredAt,
  columns: [],
  ending: 'Retire',
  ended: 'retired',
  adding: 'Notifications are signed with the older one until that is retired; the relay accepts both. Two may be live.',
  warning: 'Notifications signed with it are refused from now on.',
  orderOf: () => ({}),
};

/** How a credential is told from the others: the end of the key, or of the secret's id. */
export function shownOf(item, { idOf }) {
  return `…${item.last4 ?? idOf(item).slice(-12)}`;
}

export const addDialog = ({ name, path, adding, question, orderOf, secretOf }, merchantId) => ({
  title: `New ${name}`,
  action: 'Create',
  body: html`<p>${adding}</p>${question}`,
  run: (form) => post(pathOf`/merchants/${merchantId}/${path}`, orderOf(form)),
  done: (answer) => showOnce(`New ${name}`, { [name]: secretOf(answer) }),
});

export function endDialog(sort, merchantId, item) {
  const { name, path, ending, ended, warning, idOf } = sort;
  const shown = shownOf(item, sort);
  return {
    title: `${ending} the ${name} ${shown}?`,
    action: ending,
    tone: 'danger',
    body: html`
      <p>${merchantId}, ${name} <code>${shown}</code>, since <${Time} at=${item.createdAt} />.</p>
      <p>${warning} This cannot be undone.</p>
    `,
    run: () => remove(pathOf`/merchants/${merchantId}/${path}/${idOf(item)}`),
    done: () => `The ${name} ${shown} is ${ended}.`,
  };
}
