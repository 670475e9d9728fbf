import { useEffect, useState } from 'preact/hooks';
import { html } from '../shell/html.js';
import { agoOf, Time } from '../words/time.js';

const TICK_MS = 1_000;

/** Whether something was answered within the last `mostMs`; `at` is when it was, undefined = not yet, which counts as fresh. */
export function useFreshness(at, mostMs) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return at === undefined || now - at < mostMs;
}

/** Says from when the numbers are, and warns when nothing newer comes. */
export function Freshness({ at, isFresh }) {
  if (at === undefined) return null;
  const moment = new Date(at).toISOString();
  if (isFresh) return html`<p class="quiet">As of <${Time} at=${moment} /></p>`;
  return html`<div class="hint">
    <p role="alert"><strong>No answer since <${Time} at=${moment} />.</strong> What you see is from then.</p>
    <p class="quiet">${agoOf(moment)}</p>
  </div>`;
}
