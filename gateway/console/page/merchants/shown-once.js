import { useEffect, useState } from 'preact/hooks';
import { CopyButton } from '../shell/copy-button.js';
import { Dialog } from '../shell/dialog.js';
import { CheckBox, Form } from '../shell/form.js';
import { html } from '../shell/view.js';

let show = () => {};

/** Shows what the service answers only once, by name, until the reader says that it is stored. */
export function showOnce(title, secrets) {
  show({ title, secrets });
}

/**
 * Where that is shown: beside every view, so that neither another view nor the end of the session takes a secret away
 * that nobody has stored yet.
 */
export function ShownOnce() {
  const [shown, setShown] = useState();
  useEffect(() => {
    show = setShown;
  }, []);
  useEffect(() => {
    if (!shown) return undefined;
    const ask = (event) => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [shown]);
  if (!shown) return null;
  const { title, secrets, isReminded } = shown;
  return html`<${Dialog} title=${title} onClose=${() => setShown({ ...shown, isReminded: true })}>
    <p class="hint">Copy it now and keep it safe: it is shown only this once.</p>
    ${Object.entries(secrets).map(
      ([name, secret]) => html`<div class="field">
        <strong>${name}</strong>
        <code class="secret">${secret}</code>
        <p class="buttons"><${CopyButton} text=${secret} what="the ${name}" /></p>
      </div>`,
    )}
    ${isReminded && html`<p class="error" role="alert">It cannot be shown again. Store it first, then tick the box.</p>`}
    <${Form} action="Close" run=${() => {}} onDone=${() => setShown(undefined)}>
      <${CheckBox} name="stored" required label="I have stored it" />
    <//>
  <//>`;
}
