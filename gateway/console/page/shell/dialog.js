import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { html } from './html.js';
import { notify } from './notice.js';
import { Problem } from './problem.js';

/**
 * The dialog of a view: `ask` opens it, and `asked` is what it is about, undefined while none is open. `done` closes it,
 * tells the reader what was done, and calls `reload`.
 */
export function useDialog(reload) {
  const [asked, ask] = useState();
  const close = () => ask(undefined);
  const done = (text) => {
    close();
    notify(text);
    reload();
  };
  return { asked, ask, done, close };
}

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
 * Asks before something is done, does it, and tells why when it cannot be done. `run` may look at the form around the
 * question; what it answers goes to `onDone`.
 */
export function Confirm({ title, action, isDangerous, run, onDone, onClose, children }) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState();
  const submit = async (event) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      onDone(await run(new FormData(event.target)));
    } catch (refusal) {
      setError(refusal);
      setBusy(false);
    }
  };
  return html`<${Dialog} title=${title} onClose=${onClose}>
    <form onSubmit=${submit}>
      ${children}
      ${error && html`<${Problem} error=${error} />`}
      <div class="buttons">
        <button type="button" onClick=${onClose}>Back</button>
        <button type="submit" class=${isDangerous ? 'danger' : 'main'} disabled=${busy}>
          ${busy ? 'Working…' : action}
        </button>
      </div>
    </form>
  <//>`;
}
