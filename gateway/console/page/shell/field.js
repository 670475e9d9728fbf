import { useId } from 'preact/hooks';
import { html } from './html.js';

/** A labelled input, with its hint and what is wrong with it. Everything else goes to the input. */
export function Field({ label, hint, error, ...rest }) {
  const control = (own) => html`<input type="text" autocomplete="off" spellcheck=${false} ...${rest} ...${own} />`;
  return html`<${Labelled} label=${label} hint=${hint} error=${error} control=${control} />`;
}

/** A labelled text of several lines. */
export function TextArea({ label, hint, ...rest }) {
  const control = (own) => html`<textarea rows="3" ...${rest} ...${own}></textarea>`;
  return html`<${Labelled} label=${label} hint=${hint} control=${control} />`;
}

/** A labelled choice; `options` are pairs of value and text. */
export function Select({ label, options, value, ...rest }) {
  const control = (own) => html`<select ...${rest} ...${own}>
    ${options.map(([key, text]) => html`<option value=${key} selected=${key === value}>${text}</option>`)}
  </select>`;
  return html`<${Labelled} label=${label} control=${control} />`;
}

export function CheckBox({ label, ...rest }) {
  return html`<label class="check"><input type="checkbox" ...${rest} /> <span>${label}</span></label>`;
}

function Labelled({ label, hint, error, control }) {
  const id = useId();
  const describedBy = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ') || null;
  return html`<div class="field">
    <label for=${id}>${label}</label>
    ${hint && html`<span class="quiet" id="${id}-hint">${hint}</span>`}
    ${control({ id, 'aria-describedby': describedBy, 'aria-invalid': error ? 'true' : null })}
    ${error && html`<span class="error" id="${id}-error">${error}</span>`}
  </div>`;
}
