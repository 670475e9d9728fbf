import { useLayoutEffect, useRef } from 'preact/hooks';
import { parseAmount } from '../words/money.js';
import { momentIn } from '../words/time.js';
import { Field } from './form.js';
import { here, linkTo } from './route.js';
import { html } from './view.js';

/**
 * A search form whose fields stand in the address, so that a search can be kept and shared. `fields` are properties of
 * Field; `read` makes of what was typed, and the rest of the query, what the service takes.
 */
export function Filters({ query, fields, label }) {
  const form = useRef();
  const text = query.toString();
  // Before the fields are shown: after that, what somebody has typed meanwhile would be lost.
  useLayoutEffect(() => {
    for (const { name } of fields) form.current.elements[name].value = query.get(name) ?? '';
    // Where there is room it is open, and the style hides what would close it.
    const roomy = matchMedia('(min-width: 52rem)');
    const open = () => {
      if (roomy.matches || text !== '') form.current.parentElement.open = true;
    };
    open();
    roomy.addEventListener('change', open);
    return () => roomy.removeEventListener('change', open);
  }, [text]);
  const search = (event) => {
    event.preventDefault();
    const entries = [...new FormData(form.current)].map(([name, value]) => [name, value.trim()]);
    location.hash = linkTo(here(), Object.fromEntries(entries));
  };
  return html`<search aria-label=${label}>
    <details class="filters">
    <summary>Search</summary>
    <form ref=${form} onSubmit=${search}>
      ${fields.map(({ read, options, ...field }) => html`<${Field} ...${field} options=${options && { '': 'Any', ...options }} />`)}
      <div class="buttons">
        <button type="submit" class="main">Search</button>
        <a class="button" href=${linkTo(here())}>Clear</a>
      </div>
    </form>
    </details>
  </search>`;
}

/** The two ends of a period, `createdFrom` and `createdTo` of `created`; they are local times in the form. */
export function dateFields(name, about) {
  const time = { type: 'datetime-local', step: 1, read: momentIn };
  return [
    { name: `${name}From`, label: `${about} since`, ...time },
    { name: `${name}To`, label: `${about} before`, ...time },
  ];
}

/** Bounds of an amount in major units, its currency, and the two ends of a period. */
export function moneyAndDateFields(name, about) {
  const amount = { pattern: '\\s*[0-9]+([.][0-9]+)?\\s*', title: 'Like 10.50', inputmode: 'decimal', read: toMinor };
  return [
    { name: 'amountFrom', label: 'Amount at least', ...amount },
    { name: 'amountTo', label: 'Amount at most', ...amount },
    { name: 'currency', label: 'Currency', read: (code) => code.toUpperCase() },
    ...dateFields(name, about),
  ];
}

/** An amount in minor units; without a currency it has two digits. NaN, which the service refuses, when it is none. */
function toMinor(text, { currency }) {
  return parseAmount(text, currency?.toUpperCase(), Number.POSITIVE_INFINITY).amount ?? Number.NaN;
}

/** What the form says, as the service takes it. A field may be sent `as` another name. */
export function filterOf(fields, query) {
  const typed = Object.fromEntries(query);
  const filter = { ...typed };
  for (const { name, as = name, read } of fields.filter(({ name, read }) => read && typed[name])) {
    delete filter[name];
    filter[as] = read(typed[name], typed);
  }
  return filter;
}
