import { useEffect, useState } from 'preact/hooks';
import { html } from './view.js';

const SAID_MS = 4_000;
const TICK = 'M3 8.5l3.5 3.5L13 4.5';
const SHEETS = 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3';

/** Copies a text that it stands beside; `what` names it for a reader who does not see where that is. */
export function CopyButton({ text, what }) {
  const [said, setSaid] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setSaid(''), SAID_MS);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = async () => {
    try {
      // The clipboard is there only on HTTPS and on this very machine.
      await navigator.clipboard.writeText(text);
      setSaid('Copied.');
    } catch {
      setSaid('The browser does not let it be copied. Select it and copy it yourself.');
    }
  };
  return html`<button type="button" class="copy" onClick=${copy} aria-label="Copy ${what}" title="Copy">
      <svg width="16" height="16" fill="none" stroke="currentcolor" stroke-width="1.5" aria-hidden="true">
        <path d=${said === 'Copied.' ? TICK : SHEETS} />
      </svg>
    </button>
    <span role="status" class="quiet">${said}</span>`;
}
