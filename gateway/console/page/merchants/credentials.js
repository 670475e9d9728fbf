import { pathOf, post, remove } from '../api.js';
import { CheckBox } from '../shell/form.js';
import { html } from '../shell/html.js';
import { decide, Table, time } from '../shell/table.js';
import { Section } from '../shell/view.js';
import { Time } from '../words/time.js';
import { showOnce } from './shown-once.js';

/** What a key may do besides payments. */
export const WEBHOOK = 'manages the webhook: address, deliveries, signing secrets';

/** The two sorts of credentials: how one is added and ended, and what that means. */
export const API_KEYS = {
  title: 'API keys',
  name: 'API key',
  path: 'api-keys',
  idOf: ({ apiKeyId }) => apiKeyId,
  secretOf: ({ apiKey }) => apiKey,
  endedAt: ({ revokedAt }) => revokedAt,
  ending: 'Revoke',
  ended: 'revoked',
  adding: 'The merchant can use it at once, beside those it has.',
  warning: 'Whoever still uses it is refused from now on.',
  question: html`<${CheckBox} name="managesWebhook" label="It ${WEBHOOK}" />`,
  orderOf: (form) => ({ managesWebhook: form.has('managesWebhook') }),
};

export const SECRETS = {
  title: 'Signing secrets',
  name: 'signing secret',
  path: 'signing-secrets',
  idOf: ({ signingSecretId }) => signingSecretId,
  secretOf: ({ signingSecret }) => signingSecret,
  endedAt: ({ retiredAt }) => retiredAt,
  ending: 'Retire',
  ended: 'retired',
  adding: 'Notifications are signed with the older one until that is retired; the relay accepts both. Two may be live.',
  warning: 'Notifications signed with it are refused from now on.',
  orderOf: () => ({}),
};

/** A merchant's credentials of a sort, and their rotation. */
export function Credentials({ sort, merchantId, items, ask }) {
  const { title, name, idOf, endedAt, ending, ended } = sort;
  const columns = [
    [
      title.slice(0, -1),
      (item) => html`<code class="id" title=${idOf(item)}>${shownOf(item, sort)}</code>${markOf(item)}`,
    ],
    ['Since', time('createdAt')],
    [
      'State',
      (item) =>
        endedAt(item)
          ? html`<span class="badge calm">${ended}</span> <${Time} at=${endedAt(item)} />`
          : html`<span class="badge good">live</span>`,
    ],
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

/** How a credential is told from the others: the end of the key, or of the secret's id. */
function shownOf(item, { idOf }) {
  return `…${item.last4 ?? idOf(item).slice(-12)}`;
}

function markOf({ managesWebhook }) {
  return managesWebhook && html` <span class="badge calm" title=${WEBHOOK}>webhook</span>`;
}

function addDialog({ name, path, adding, question, orderOf, secretOf }, merchantId) {
  return {
    title: `New ${name}`,
    action: 'Create',
    body: html`<p>${adding}</p>${question}`,
    run: async (form) => {
      const secret = secretOf(await post(pathOf`/merchants/${merchantId}/${path}`, orderOf(form)));
      return () => showOnce(`New ${name}`, [[name, secret]]);
    },
  };
}

function endDialog(sort, merchantId, item) {
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
    run: async () => {
      await remove(pathOf`/merchants/${merchantId}/${path}/${idOf(item)}`);
      return `The ${name} ${shown} is ${ended}.`;
    },
  };
}
