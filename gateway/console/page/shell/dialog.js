import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Form } from './form.js';
import { html } from './html.js';
import { notify } from './notice.js';

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

/** Asks before something is done, and does it. The `body` is the question, with the fields that `run` reads. */
export function Confirm({ title, body, ...form }) {
  return html`<${Dialog} title=${title} onClose=${form.onClose}><${Form} ...${form}>${body}<//><//>`;
}

/**
 * The dialog of a view: `ask` opens one, described by the properties of Confirm, or of its own `Dialog`. Its `run`
 * answers the text of a notice, or a function that tells it. After that `reload` is called.
 */
export function useDialog(reload) {
  const [asked, ask] = useState();
  const close = () => ask(undefined);
  const done = (outcome) => {
    close();
    reload();
    if (typeof outcome === 'function') outcome();
    else notify(outcome);
  };
  const dialog = asked && html`<${asked.Dialog ?? Confirm} ...${asked} onDone=${done} onClose=${close} />`;
  return { ask, dialog };
}
