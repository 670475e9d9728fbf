import { useState } from 'preact/hooks';
import { addApiKey, addSecret, retireSecret, revokeApiKey } from '../api.js';
import { Confirm } from '../shell/dialog.js';
import { html } from '../shell/html.js';
import { notify } from '../shell/notice.js';
import { Table } from '../shell/table.js';
import { Time } from '../words/time.js';
import { Id } from '../words/words.js';
import { ShownOnce } from './shown-once.js';

/** The two sorts of credentials: how one is added and ended, and what that means. */
const SORTS = {
  key: {
    ...{ title: 'API keys', name: 'API key', add: addApiKey, end: revokeApiKey, ending: 'Revoke', ended: 'revoked' },
    adding: 'The merchant can use it at once, beside those it has.',
    warning: 'Whoever still uses it is refused from now on.',
    idOf: ({ apiKeyId }) => apiKeyId,
    endedAt: ({ revokedAt }) => revokedAt,
  },
  secret: {
    ...{
      title: 'Signing secrets',
      name: 'signing secret',
      add: addSecret,
      end: retireSecret,
      ending: 'Retire',
      ended: 'retired',
    },
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
  const [shown, setShown] = useState();
  const close = () => setAsked(undefined);
  const done = (outcome) => {
    close();
    reload();
    if (outcome.secret) setShown(outcome);
    else notify(outcome.text);
  };
  return html`
    <${List} sort=${SORTS.key} items=${merchant.apiKeys} ask=${setAsked} />
    <${List} sort=${SORTS.secret} items=${merchant.signingSecrets} ask=${setAsked} />
    ${asked && html`<${Ask} asked=${asked} merchantId=${merchant.merchantId} onDone=${done} onClose=${close} />`}
    ${shown && html`<${ShownOnce} title="New ${shown.name}" secrets=${[[shown.name, shown.secret]]} onClose=${() => setShown(undefined)} />`}
  `;
}

function List({ sort, items, ask }) {
  const { title, name, idOf, endedAt, ending, ended } = sort;
  const columns = [
    {
      name: title.slice(0, -1),
      cell: (item) => (item.last4 ? html`<code>…${item.last4}</code>` : html`<${Id} id=${idOf(item)} />`),
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
          ? html`<span class="quiet">–</span>`
          : html`<button type="button" aria-label="${ending} the ${name} ${item.last4 ?? idOf(item)}"
              onClick=${() => ask({ sort, id: idOf(item) })}>${ending}…</button>`,
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

function Ask({ asked: { sort, id }, merchantId, onDone, onClose }) {
  const { name, adding, ending, ended, warning } = sort;
  if (id === undefined) {
    const run = async () => ({ name, secret: await sort.add(merchantId) });
    return html`<${Confirm} title="New ${name}" action="Create" run=${run} onDone=${onDone} onClose=${onClose}><p>${adding}</p><//>`;
  }
  const run = async () => {
    await sort.end(merchantId, id);
    return { text: `The ${name} is ${ended}.` };
  };
  return html`<${Confirm} title="${ending} this ${name}?" action=${ending} isDangerous run=${run} onDone=${onDone} onClose=${onClose}>
    <p>${warning} This cannot be undone.</p>
  <//>`;
}
