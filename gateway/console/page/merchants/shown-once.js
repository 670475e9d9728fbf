import { useState } from 'preact/hooks';
import { Dialog } from '../shell/dialog.js';
import { html } from '../shell/html.js';

/** Shows what the service shows only once. `secrets` are pairs of name and secret. */
export function ShownOnce({ title, secrets, onClose }) {
  return html`<${Dialog} title=${title} onClose=${onClose}>
    <p class="hint">Copy it now and keep it safe: it is shown only this once.</p>
    ${secrets.map(([name, secret]) => html`<${Secret} name=${name} secret=${secret} />`)}
    <div class="buttons"><button type="button" class="main" onClick=${onClose}>I have kept it</button></div>
  <//>`;
}

function Secret({ name, secret }) {
  const [told, setTold] = useState('');
  const copy = () =>
    copyText(secret).then(
      () => setTold('Copied.'),
      () => setTold('The browser does not let it be copied. Select it and copy it yourself.'),
    );
  return html`<div class="field">
    <span class="label">${name}</span>
    <code class="secret">${secret}</code>
    <p class="buttons">
      <button type="button" onClick=${copy} aria-label="Copy the ${name}">Copy</button>
      <span role="status" class="quiet">${told}</span>
    </p>
  </div>`;
}

/** The clipboard is there only on HTTPS and on this very machine. */
async function copyText(text) {
  if (!navigator.clipboard) throw new Error('no clipboard');
  await navigator.clipboard.writeText(text);
}
