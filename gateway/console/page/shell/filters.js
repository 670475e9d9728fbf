import { useLayoutEffect, useRef } from 'preact/hooks';
import { digitsOf } from '../words/money.js';
import { momentIn } from '../words/time.js';
import { Field, Select } from './field.js';
import { html } from './html.js';
import { goTo } from './route.js';

/**
 * A search form whose fields stand in the address, so that a search can be kept and shared. `fields` are `{ name, label
 * }`, or with `options` for a choice, or with the `type` of an input.
 */
export function Filters({ path, query, fields, label }) {
  const form = useRef();
  const text = query.toString();
  // Where there is room it is open, and the style hides what would close it.
  useLayoutEffect(() => {
    const roomy = matchMedia('(min-width: 52rem)');
    const open = () => {
      if (roomy.matches || text !== '') form.current.parentElement.open = true;
    };
    open();
    roomy.addEventListener('change', open);
    return () => roomy.removeEventListener('change', open);
  }, [text]);
  // Before the fields are shown: after that, what somebody has typed meanwhile would be lost.
  useLayoutEffect(() => {
    const asked = new URLSearchParams(text);
    for (const { name } of fields) form.current.elements[name].value = asked.get(name) ?? '';
  }, [text]);
  const search = (event) => {
    event.preventDefault();
    const entries = [...new FormData(form.current)].map(([name, value]) => [name, value.trim()]);
    goTo(path, Object.fromEntries(entries));
  };
  return html`<search aria-label=${label}>
    <details class="filters">
    <summary>Search</summary>
    <form ref=${form} onSubmit=${search}>
      ${fields.map(({ name, label: text, options, type }) =>
        options
          ? html`<${Select} name=${name} label=${text} options=${[['', 'Any'], ...options]} />`
          : html`<${Field} name=${name} label=${text} type=${type} step=${type ? 1 : undefined} />`,
      )}
      <div class="buttons">
        <button type="submit" class="main">Search</button>
        <a class="button" href=${`#/${path.join('/')}`}>Clear</a>
      </div>
    </form>
    </details>
  </search>`;
}

/** Fields of a filter by date; `[from, to]` are their names. */
export function dateFields([from, to], about) {
  return [
    { name: from, label: `${about} since`, type: 'datetime-local' },
    { name: to, label: `${about} before`, type: 'datetime-local' },
  ];
}

/** Such a filter as the service takes it: times in UTC. */
export function dateFilter(filter, [from, to]) {
  return { ...filter, [from]: momentIn(filter[from]), [to]: momentIn(filter[to]) };
}

/** Fields of a filter by amount and by date; `dates` are the names of the dates. */
export function moneyAndDateFields(dates, about) {
  return [
    { name: 'amountFrom', label: 'Amount at least' },
    { name: 'amountTo', label: 'Amount at most' },
    { name: 'currency', label: 'Currency' },
    ...dateFields(dates, about),
  ];
}

/**
 * Such a filter as the service takes it: amounts in minor units, times in UTC. Amounts without a currency have two
 * digits.
 */
export function moneyAndDateFilter(filter, dates) {
  const currency = filter.currency?.toUpperCase();
  const minor = (text) => text && Math.round(Number(text.replace(',', '.')) * 10 ** digitsOf(currency));
  return {
    ...dateFilter(filter, dates),
    currency,
    amountFrom: minor(filter.amountFrom),
    amountTo: minor(filter.amountTo),
  };
}
