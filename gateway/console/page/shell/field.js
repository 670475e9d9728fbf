import { useId } from 'preact/hooks';
import { html } from './html.js';

/** A labelled input, with its hint and what is wrong with it. Everything else goes to the input. */
export function Field({ label, hint, error, ...rest }) {
  const { id, describedBy } = useDescription(hint, error);
  return html`<div class="field">
    <label for=${id}>${label}</label>
    ${hint && html`<span class="quiet" id="${id}-hint">${hint}</span>`}
    <input id=${id} type="text" autocomplete="off" spellcheck=${false} ...${rest}
      aria-describedby=${describedBy} aria-invalid=${error ? 'true' : null} />
    ${error && html`<span class="error" id="${id}-error">${error}</span>`}
  </div>`;
}

/** A labelled text of several lines. */
export function TextArea({ label, hint, error, ...rest }) {
  const { id, describedBy } = useDescription(hint, error);
  return html`<div class="field">
    <label for=${id}>${label}</label>
    ${hint && html`<span class="quiet" id="${id}-hint">${hint}</span>`}
    <textarea id=${id} rows="3" ...${rest} aria-describedby=${describedBy} aria-invalid=${error ? 'true' : null}></textarea>
    ${error && html`<span class="error" id="${id}-error">${error}</span>`}
  </div>`;
}

/** A labelled choice; `options` are pairs of value and text. */
export function Select({ label, options, value, ...rest }) {
  const id = useId();
  return html`<div class="field">
    <label for=${id}>${label}</label>
    <select id=${id} ...${rest}>
      ${options.map(([key, text]) => html`<option value=${key} selected=${key === value}>${text}</option>`)}
    </select>
  </div>`;
}

/** A box to tick. */
export function CheckBox({ label, ...rest }) {
  return html`<label class="check"><input type="checkbox" ...${rest} /> <span>${label}</span></label>`;
}

function useDescription(hint, error) {
  const id = useId();
  return { id, describedBy: [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ') || null };
}
