import { useEffect, useRef, useState } from 'preact/hooks';
import { followOperations, get } from '../api.js';
import { useLoad } from '../shell/load.js';
import { Badge, Id, Time } from '../shell/table.js';
import { html, Problem, Section } from '../shell/view.js';
import { formatAmount } from '../words/money.js';
import { holdOf, textOf } from '../words/words.js';

const SHOWN = 20;
const READ_OUT_MS = 5_000;

/** Operations as they get their results. Can be held still; then it counts what comes. */
export function LiveOperations({ isFresh }) {
  const [still, setStill] = useState(false);
  const { operations, isOpen, isListed, error } = useOperations();
  const shown = useRef([]);
  if (!still) shown.current = operations;
  const waiting = still ? operations.findIndex(({ requestId }) => requestId === shown.current[0]?.requestId) : 0;
  const beside = html`
    <span class="quiet">${standingOf(isOpen, isFresh)}</span>
    <button type="button" aria-pressed=${still} onClick=${() => setStill(!still)}>
      ${still ? `Go on${waiting > 0 ? ` (${waiting} new)` : ''}` : 'Hold still'}
    </button>
  `;
  return html`<${Section} title="Operations as they happen" beside=${beside}>
    ${error && html`<${Problem} error=${error} />`}
    <${Spoken} operations=${operations} />
    ${operations.length === 0 && isListed && !error && html`<p class="empty">No operation has had a result yet.</p>`}
    <ol class="lines live">${shown.current.slice(0, SHOWN).map(lineOf)}</ol>
  <//>`;
}

/** The newest results: those there are, and those that come. */
function useOperations() {
  const [isOpen, setOpen] = useState(false);
  const [came, setCame] = useState([]);
  const list = useLoad(() => get('/operations', { pageSize: SHOWN }));
  const add = (operation) => setCame((before) => [operation, ...before].slice(0, SHOWN * 5));
  const follow = (isOpen) => {
    setOpen(isOpen);
    // A new stream begins now: what came while there was none is in the list.
    if (isOpen) list.reload();
  };
  useEffect(() => followOperations(add, follow), []);
  const all = [...came, ...(list.value?.items ?? [])].map((operation) => [operation.requestId, operation]);
  const operations = [...new Map(all).values()].sort((a, b) => b.finalStateDate.localeCompare(a.finalStateDate));
  return { operations, isOpen, isListed: list.value !== undefined, error: list.error };
}

function standingOf(isOpen, isFresh) {
  if (isFresh === false) return 'no answer';
  return isOpen && isFresh ? html`<span class="key good pulse"></span> live` : 'connecting…';
}

function lineOf(operation) {
  const { requestId, operation: kind, status, statusInfo, merchantId, amount, currency } = operation;
  const hold = holdOf(operation);
  return html`<li key=${requestId}>
    <${Time} at=${operation.finalStateDate} />
    <${Badge} word=${status} />
    <span>${textOf(kind)} ${statusInfo}</span>
    <strong>${formatAmount(amount, currency)}</strong>
    <span class="quiet">${merchantId}</span>
    <${Id} id=${hold ?? requestId} of=${hold ? 'holds' : 'operations'} />
  </li>`;
}

/** What is read out: not every line, but now and then how many there were. */
function Spoken({ operations }) {
  const [text, setText] = useState('');
  const latest = useRef(operations);
  latest.current = operations;
  useEffect(() => {
    let heard = latest.current[0]?.requestId;
    const timer = setInterval(() => {
      const count = latest.current.findIndex(({ requestId }) => requestId === heard);
      if (heard !== undefined && count > 0) setText(`${count} new ${count === 1 ? 'operation' : 'operations'}`);
      heard = latest.current[0]?.requestId;
    }, READ_OUT_MS);
    return () => clearInterval(timer);
  }, []);
  return html`<p class="hidden" role="status" aria-live="polite">${text}</p>`;
}
