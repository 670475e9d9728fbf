import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { newKey } from '../api.js';
import { Form } from './form.js';
import { html } from './view.js';

/** A dialog on top of the page. The browser keeps the focus inside it; when it closes, the focus goes back. */
export function Dialog({ title, onClose, children }) {
  const dialog = useRef();
  const id = useId();
  useLayoutEffect(() => {
    const opened = dialog.current;
    const opener = document.activeElement;
    opened.showModal();
    // A second Escape closes a dialog whatever its cancel event says; only what shows a dialog takes it away.
    const reopen = () => opened.isConnected && opened.showModal();
    opened.addEventListener('close', reopen);
    return () => {
      opened.removeEventListener('close', reopen);
      opened.close();
      (opener.isConnected ? opener : document.querySelector('main h1'))?.focus();
    };
  }, []);
  const cancel = (event) => {
    event.preventDefault();
    onClose();
  };
  return html`<dialog ref=${dialog} aria-labelledby=${id} onCancel=${cancel}>
    <h2 id=${id}>${title}</h2>
    ${children}
  </dialog>`;
}

/**
 * Asks before something is done, and does it. `body` is the question, as text or with the fields that `run` reads;
 * `run` is also given a key that makes a repetition safe.
 */
export function Confirm({ title, body, run, ...form }) {
  const key = useRef(newKey());
  return html`<${Dialog} title=${title} onClose=${form.onClose}>
    <${Form} ...${form} run=${(data) => run(data, key.current)}>
      ${typeof body === 'string' ? html`<p>${body}</p>` : body}
    <//>
  <//>`;
}

/**
 * The dialog of a view: `ask` opens one, described by the properties of Confirm, or of its own `Dialog`. `done` makes
 * of what `run` answers the text of a notice; without it that is the text. After that `reload` is called.
 */
export function useDialog(reload) {
  const [asked, ask] = useState();
  const { Dialog = Confirm, done = (text) => text, ...props } = asked ?? {};
  const onClose = () => ask(undefined);
  const onDone = (answer) => {
    onClose();
    reload();
    notify(done(answer));
  };
  const dialog = asked && html`<${Dialog} ...${props} onDone=${onDone} onClose=${onClose} />`;
  return { ask, dialog };
}

const SHOWN_MS = 10_000;
let show = () => {};

/** Says what was done, for a while. */
export function notify(text) {
  show({ text });
}

export function Notices() {
  const [notice, setNotice] = useState({ text: '' });
  useEffect(() => {
    show = setNotice;
  }, []);
  useEffect(() => {
    if (!notice.text) return undefined;
    const timer = setTimeout(() => setNotice({ text: '' }), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [notice]);
  return html`<div class="notices" role="status">${notice.text && html`<p>${notice.text}</p>`}</div>`;
}
