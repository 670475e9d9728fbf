import { useState } from 'preact/hooks';
import { addApiKey, addSecret, retireSecret, revokeApiKey } from '../api.js';
import { Confirm } from '../shell/dialog.js';
import { CheckBox } from '../shell/field.js';
import { html } from '../shell/html.js';
import { notify } from '../shell/notice.js';
import { Table } from '../shell/table.js';
import { Time } from '../words/time.js';
import { showOnce } from './shown-once.js';

/** What a key may do besides payments. */
export const WEBHOOK = 'manages the webhook: address, deliveries, signing secrets';

/** The two sorts of credentials: how one is added and ended, and what that means. */
const SORTS = {
  key: {
    title: 'API keys',
    name: 'API key',
    add: addApiKey,
    end: revokeApiKey,
    ending: 'Revoke',
    ended: 'revoked',
    adding: 'The merchant can use it at once, beside those it has.',
    warning: 'Whoever still uses it is refused from now on.',
    mayBeFor: WEBHOOK,
    idOf: ({ apiKeyId }) => apiKeyId,
    endedAt: ({ revokedAt }) => revokedAt,
  },
  secret: {
    title: 'Signing secrets',
    name: 'signing secret',
    add: addSecret,
    end: retireSecret,
    ending: 'Retire',
    ended: 'retired',
    adding:
      'Notifications are signed with the older one until that is retired; the relay accepts both. Two may be live.',
    warning: 'Notifications signed with it are refused from now on.',
    idOf: ({ signingSecretId }) => signingSecretId,
    endedAt: ({ retiredAt }) => retiredAt,
  },
};

/** A merchant's API keys and signing secrets, and their rotation. */
export function Credentials({ merchant, reload }) {
  const [asked, setAsked] = useState();
  const close = () => setAsked(undefined);
  const done = (outcome) => {
    close();
    reload();
    if (outcome.secret) showOnce(`New ${outcome.name}`, [[outcome.name, outcome.secret]]);
    else notify(outcome.text);
  };
  return html`
    <${List} sort=${SORTS.key} items=${merchant.apiKeys} ask=${setAsked} />
    <${List} sort=${SORTS.secret} items=${merchant.signingSecrets} ask=${setAsked} />
    ${asked && html`<${Ask} asked=${asked} merchantId=${merchant.merchantId} onDone=${done} onClose=${close} />`}
  `;
}

function List({ sort, items, ask }) {
  const { title, name, idOf, endedAt, ending, ended } = sort;
  const columns = [
    {
      name: title.slice(0, -1),
      cell: (item) => html`<code class="id" title=${idOf(item)}>${shownOf(item, idOf)}</code>
        ${item.managesWebhook && html` <span class="badge calm" title=${WEBHOOK}>webhook</span>`}`,
    },
    { name: 'Since', cell: ({ createdAt }) => html`<${Time} at=${createdAt} />` },
    {
      name: 'State',
      cell: (item) =>
        endedAt(item)
          ? html`<span class="badge calm">${ended}</span> <${Time} at=${endedAt(item)} />`
          : html`<span class="badge good">live</span>`,
    },
    {
      name: 'Decide',
      cell: (item) =>
        endedAt(item)
          ? undefined
          : html`<button type="button" aria-label="${ending} the ${name} ${shownOf(item, idOf)}"
              onClick=${() => ask({ sort, item })}>${ending}…</button>`,
    },
  ];
  return html`<section aria-label=${title}>
    <div class="heading">
      <h2>${title}</h2>
      <button type="button" onClick=${() => ask({ sort })}>New ${name}…</button>
    </div>
    ${
      items.length === 0
        ? html`<p class="empty">There is none.</p>`
        : html`<${Table} caption=${title} columns=${columns} rows=${items} keyOf=${idOf} />`
    }
  </section>`;
}

/** How a credential is told from the others: the end of the key, or of the secret's id. */
function shownOf(item, idOf) {
  return `…${item.last4 ?? idOf(item).slice(-12)}`;
}

function Ask({ asked: { sort, item }, merchantId, onDone, onClose }) {
  const { name, adding, ending, ended, warning, idOf, mayBeFor } = sort;
  if (item === undefined) {
    const run = async (form) => ({ name, secret: await sort.add(merchantId, form.has('managesWebhook')) });
    return html`<${Confirm} title="New ${name}" action="Create" run=${run} onDone=${onDone}
      onClose=${onClose}><p>${adding}</p>
      ${mayBeFor && html`<${CheckBox} name="managesWebhook" label="It ${mayBeFor}" />`}<//>`;
  }
  const shown = shownOf(item, idOf);
  const run = async () => {
    await sort.end(merchantId, idOf(item));
    return { text: `The ${name} ${shown} is ${ended}.` };
  };
  return html`<${Confirm} title="${ending} the ${name} ${shown}?" action=${ending} isDangerous run=${run}
    onDone=${onDone} onClose=${onClose}>
    <p>${merchantId}, ${name} <code>${shown}</code>, since <${Time} at=${item.createdAt} />.</p>
    <p>${warning} This cannot be undone.</p>
  <//>`;
}
