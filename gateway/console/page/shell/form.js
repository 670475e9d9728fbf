import { useId, useState } from 'preact/hooks';
import { html, Problem } from './view.js';

/**
 * A form that does something, and shows why when that fails. `run` is called with the data and the form, and `onDone`
 * with its answer. While it is `disabled` it cannot be sent.
 */
export function Form({ action, working = 'Working…', tone = 'main', run, onDone = () => {}, onClose, ...rest }) {
  const [{ busy, error }, setStanding] = useState({});
  const submit = async (event) => {
    event.preventDefault();
    setStanding({ busy: true });
    try {
      onDone(await run(new FormData(event.target), event.target));
      setStanding({});
    } catch (refusal) {
      setStanding({ error: refusal });
    }
  };
  const { disabled, children, ...own } = rest;
  return html`<form onSubmit=${submit} ...${own}>
    ${children}
    ${error && html`<${Problem} error=${error} />`}
    <div class="buttons">
      ${onClose && html`<button type="button" onClick=${onClose}>Back</button>`}
      <button type="submit" class=${tone} disabled=${busy || disabled}>${busy ? working : action}</button>
    </div>
  </form>`;
}

/**
 * A control with its label, its hint and what is wrong with it: an input, a choice from `options` (texts by value),
 * or with `rows` a text of several lines. Everything else goes to the control.
 */
export function Field({ label, hint, error, ...rest }) {
  const id = useId();
  const describedBy = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ') || null;
  return html`<div class="field">
    <label for=${id}>${label}</label>
    ${hint && html`<span class="quiet" id="${id}-hint">${hint}</span>`}
    <${Control} ...${rest} id=${id} aria-describedby=${describedBy} aria-invalid=${error ? 'true' : null} />
    ${error && html`<span class="error" id="${id}-error">${error}</span>`}
  </div>`;
}

function Control({ options, value, ...rest }) {
  if (rest.rows) return html`<textarea ...${rest}></textarea>`;
  if (!options) return html`<input type="text" autocomplete="off" spellcheck=${false} ...${rest} />`;
  return html`<select ...${rest}>
    ${Object.entries(options).map(([key, text]) => html`<option value=${key} selected=${key === value}>${text}</option>`)}
  </select>`;
}

export function CheckBox({ label, ...rest }) {
  return html`<label class="check"><input type="checkbox" ...${rest} /> <span>${label}</span></label>`;
}
