import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { post } from '../api.js';
import { dateFields, Filters, filterOf } from '../shell/filters.js';
import { MoreButton } from '../shell/list.js';
import { Loaded, usePages } from '../shell/load.js';
import { here, linkTo, place } from '../shell/route.js';
import { badge, Id, money, Table, Time, time, word } from '../shell/table.js';
import { html, View } from '../shell/view.js';
import { textOf } from '../words/words.js';

/**
 * What was asked for last. In memory only: an address would put it into the browser's history, and it may be a handle.
 */
let asked = { text: '', nth: 0 };
let show = () => {};

export function SearchBox() {
  const input = useRef();
  const submit = (event) => {
    event.preventDefault();
    const text = input.current.value.trim();
    if (text === '') return;
    input.current.value = '';
    asked = { text, nth: asked.nth + 1 };
    if (here()[0] === 'search') {
      place.pages = 1;
      show(asked);
    } else location.hash = '#/search';
  };
  return html`<search aria-label="Everything"><form class="search" onSubmit=${submit}>
    <input ref=${input} type="search" aria-label="Find anything"
      placeholder="ID or its end, reference, last four digits"
      autocomplete="off" spellcheck=${false} minlength="4" maxlength="128" />
    <button type="submit">Find</button>
  </form></search>`;
}

const FIELDS = [{ name: 'merchantId', label: 'Merchant' }, ...dateFields('created', 'Asked for')];

/** What was found for the text in the search box, within the filter. A single thing is opened at once. */
export function SearchView({ query }) {
  const [{ text, nth }, setAsked] = useState(asked);
  // Before the view is shown: a search made right after that would be lost.
  useLayoutEffect(() => {
    show = setAsked;
  }, []);
  if (text === '') return html`<${View} title="Search"><p class="empty">${HINT}</p><//>`;
  return html`<${View} title="Search">
    <${Filters} query=${query} fields=${FIELDS} label="What is searched" />
    <${Found} key=${`${nth} ${query}`} asked=${{ text, ...filterOf(FIELDS, query) }} />
  <//>`;
}

const HINT =
  "Search for a request ID or its last characters, a part of the merchant's reference, a preauthorizationId, the " +
  "processor's reference, or the last four digits of a card.";

function Found({ asked }) {
  const found = usePages((pageToken) => post('/search', { ...asked, pageToken }));
  useEffect(() => {
    const { items: [only, another] = [], nextPageToken } = found.value ?? {};
    if (only && !another && only.matchedBy !== 'LAST4' && !nextPageToken)
      location.replace(linkTo([viewOf(only), idOf(only)]));
  }, [found.value]);
  return html`<${Loaded} of=${found} what="what matches">
    ${({ items, searchedFrom, nextPageToken }) => html`
      <p class="quiet" role="status">
        ${items.length} found${searchedFrom && html`, searched back to <${Time} at=${searchedFrom} />`}
      </p>
      ${
        items.length === 0
          ? html`<p class="empty">Nothing matches. ${HINT}</p>`
          : html`<${Table} caption="What matches" columns=${COLUMNS} rows=${items} keyOf=${idOf} />`
      }
      ${nextPageToken && html`<${MoreButton} of=${found} text="Search further back" />`}
    `}
  <//>`;
}

function idOf({ deliveryId, requestId }) {
  return deliveryId ?? requestId;
}

function viewOf({ deliveryId, operation }) {
  if (deliveryId) return 'deliveries';
  return operation === 'HOLD' ? 'holds' : 'operations';
}

const MATCHES = {
  ID: 'ID',
  MERCHANT_REFERENCE: "Merchant's reference",
  PREAUTHORIZATION_ID: 'preauthorizationId',
  PROCESSOR_REFERENCE: "Processor's or bank's reference",
  LAST4: 'Last four digits',
};

const COLUMNS = [
  ['Found', (match) => html`<${Id} id=${idOf(match)} of=${viewOf(match)} />`],
  ['What', ({ operation, deliveryId }) => (deliveryId ? 'Delivery' : textOf(operation))],
  ['State', badge('status')],
  ['Amount', money('amount')],
  ['Merchant', 'merchantId'],
  ['Reference', 'merchantReference'],
  ['Found by', word('matchedBy', MATCHES)],
  ['Asked for', time('createdAt')],
];
