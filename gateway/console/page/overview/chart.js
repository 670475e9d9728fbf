import { number, Table } from '../shell/table.js';
import { html } from '../shell/view.js';
import { momentOf } from '../words/time.js';

/**
 * Two counts by minute, one on top of the other, as bars. `good` and `bad` are pairs of field and name. A table has the
 * same numbers for readers who cannot see bars.
 */
export function Chart({ title, minutes, good: [goodField, goodName], bad: [badField, badName] }) {
  const top = Math.max(1, ...minutes.map((minute) => minute[goodField] + minute[badField]));
  const [goods, bads] = [goodField, badField].map((field) => minutes.reduce((sum, minute) => sum + minute[field], 0));
  const busy = minutes.filter((minute) => minute[goodField] + minute[badField] > 0);
  const summary = `${title}: ${goods} ${goodName}, ${bads} ${badName} in ${minutes.length} minutes`;
  const columns = [
    ['Minute', ({ start }) => momentOf(start).slice(0, -3)],
    [goodName, number(goodField)],
    [badName, number(badField)],
  ];
  return html`<figure class="card chart">
    <figcaption><h3>${title}</h3></figcaption>
    <p class="row">
      <span><span class="key good"></span> ${goodName} <strong>${goods}</strong></span>
      <span><span class="key bad"></span> ${badName} <strong>${bads}</strong></span>
    </p>
    <div class="plot">
      <span class="top quiet">${top}</span>
      <svg viewBox="0 0 ${minutes.length} ${top}" preserveAspectRatio="none" role="img" aria-label=${summary}>
        ${minutes.map(({ [goodField]: good, [badField]: bad }, index) => [
          bar('good', index, top - good, good),
          bar('bad', index, top - good - bad, bad),
        ])}
      </svg>
    </div>
    <p class="axis quiet"><span>${minutes.length} minutes ago</span><span>now</span></p>
    <details>
      <summary>As a table</summary>
      ${
        busy.length === 0
          ? html`<p class="empty">Nothing happened.</p>`
          : html`<${Table} caption=${title} columns=${columns} rows=${busy} keyOf="start" />`
      }
    </details>
  </figure>`;
}

function bar(tone, index, y, height) {
  return height > 0 && html`<rect class=${tone} x=${index + 0.1} y=${y} width="0.8" height=${height} />`;
}
