import { useLayoutEffect, useRef } from 'preact/hooks';
import { digitsOf } from '../words/money.js';
import { momentIn } from '../words/time.js';
import { Field, Select } from './field.js';
import { html } from './html.js';
import { goTo } from './route.js';

/**
 * A search form whose fields stand in the address, so that a search can be kept and shared. `fields` are `{ name, label
 * }`, with `options` for a choice, the `type` of a time, or `isAmount`.
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

/** The two ends of a period, `createdFrom` and `createdTo` of `created`; they are local times in the form. */
export function dateFields(name, about) {
  return [
    { name: `${name}From`, label: `${about} since`, type: 'datetime-local' },
    { name: `${name}To`, label: `${about} before`, type: 'datetime-local' },
  ];
}

/** Bounds of an amount in major units, its currency, and the two ends of a period. */
export function moneyAndDateFields(name, about) {
  return [
    { name: 'amountFrom', label: 'Amount at least', isAmount: true },
    { name: 'amountTo', label: 'Amount at most', isAmount: true },
    { name: 'currency', label: 'Currency' },
    ...dateFields(name, about),
  ];
}

/**
 * What the form says, as the service takes it: times in UTC, amounts in minor units. Amounts without a currency have
 * two digits.
 */
export function filterOf(fields, query) {
  const filter = Object.fromEntries(query);
  const currency = filter.currency?.toUpperCase();
  for (const { name, type, isAmount } of fields) {
    const text = filter[name];
    if (type) filter[name] = momentIn(text);
    if (isAmount && text) filter[name] = Math.round(Number(text.replace(',', '.')) * 10 ** digitsOf(currency));
  }
  return { ...filter, currency };
}
