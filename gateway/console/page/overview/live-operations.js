import { useEffect, useRef, useState } from 'preact/hooks';
import { followOperations, get } from '../api.js';
import { html } from '../shell/html.js';
import { Problem, Section } from '../shell/view.js';
import { holdOf, nameOfKind } from '../words/kinds.js';
import { formatAmount } from '../words/money.js';
import { Time } from '../words/time.js';
import { Badge, Id } from '../words/words.js';

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
    ${shown.current.length === 0 && isListed && !error && html`<p class="empty">No operation has had a result yet.</p>`}
    <ol class="lines live">
      ${shown.current
        .slice(0, SHOWN)
        .map((operation) => html`<${Line} key=${operation.requestId} operation=${operation} />`)}
    </ol>
  <//>`;
}

function standingOf(isOpen, isFresh) {
  if (isFresh === false) return 'no answer';
  return isOpen && isFresh ? html`<span class="pulse"></span> live` : 'connecting…';
}

function Line({ operation }) {
  const { requestId, operation: kind, status, statusInfo, merchantId, amount, currency } = operation;
  const hold = holdOf(operation);
  return html`<li>
    <${Time} at=${operation.finalStateDate} />
    <${Badge} word=${status} />
    <span>${nameOfKind(kind)} ${statusInfo}</span>
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

/** The newest results: those there are, and those that come. */
function useOperations() {
  const [state, setState] = useState({ operations: [], isOpen: false });
  useEffect(() => {
    const set = (change) => setState((before) => ({ ...before, ...change }));
    const add = (found) =>
      setState((before) => {
        const known = new Map([...found, ...before.operations].map((operation) => [operation.requestId, operation]));
        const operations = [...known.values()].sort((a, b) => b.finalStateDate.localeCompare(a.finalStateDate));
        return { ...before, operations: operations.slice(0, SHOWN * 5) };
      });
    const list = async () => {
      try {
        add((await get('/operations', { pageSize: SHOWN })).items);
        set({ isListed: true });
      } catch (error) {
        set({ error });
      }
    };
    const stop = followOperations(
      (operation) => add([operation]),
      (isOpen) => {
        set(isOpen ? { isOpen, error: undefined } : { isOpen });
        // A new stream begins now: what came while there was none is in the list.
        if (isOpen) list();
      },
    );
    list();
    return stop;
  }, []);
  return state;
}
