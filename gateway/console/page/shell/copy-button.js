import { useEffect, useState } from 'preact/hooks';
import { html } from './html.js';

/**
 * Copies a text; `what` names it for a reader who does not see where the button stands. `isSmall` stands beside the
 * text it copies.
 */
export function CopyButton({ text, what, isSmall }) {
  const [said, setSaid] = useState('');
  useEffect(() => {
    if (!said) return undefined;
    const timer = setTimeout(() => setSaid(''), SAID_MS);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = () =>
    copyText(text).then(
      () => setSaid('Copied.'),
      () => setSaid('The browser does not let it be copied. Select it and copy it yourself.'),
    );
  return html`<button type="button" class=${isSmall ? 'copy' : ''} onClick=${copy} aria-label="Copy ${what}"
    title="Copy">
      ${
        isSmall
          ? html`<svg viewBox="0 0 16 16" aria-hidden="true"><path d=${said === 'Copied.' ? TICK : SHEETS} /></svg>`
          : 'Copy'
      }
    </button>
    <span role="status" class=${isSmall ? 'hidden' : 'quiet'}>${said}</span>`;
}

const SAID_MS = 4_000;
const TICK = 'M3 8.5l3.5 3.5L13 4.5';
const SHEETS = 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3';

/** The clipboard is there only on HTTPS and on this very machine. */
async function copyText(text) {
  if (!navigator.clipboard) throw new Error('no clipboard');
  await navigator.clipboard.writeText(text);
}
