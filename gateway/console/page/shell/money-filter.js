import { digitsOf } from '../words/money.js';
import { momentIn } from '../words/time.js';

/** Fields of a filter by amount and by date; `[from, to]` are the names of the dates. */
export function moneyAndDateFields([from, to], about) {
  return [
    { name: 'amountFrom', label: 'Amount at least' },
    { name: 'amountTo', label: 'Amount at most' },
    { name: 'currency', label: 'Currency' },
    { name: from, label: `${about} since`, type: 'datetime-local' },
    { name: to, label: `${about} before`, type: 'datetime-local' },
  ];
}

/** Such a filter as the service takes it: amounts in minor units, times in UTC. Amounts without a currency have two digits. */
export function moneyAndDateFilter(filter, [from, to]) {
  const currency = filter.currency?.toUpperCase();
  const minor = (text) => text && Math.round(Number(text.replace(',', '.')) * 10 ** digitsOf(currency));
  return {
    ...filter,
    ...{ currency, amountFrom: minor(filter.amountFrom), amountTo: minor(filter.amountTo) },
    ...{ [from]: momentIn(filter[from]), [to]: momentIn(filter[to]) },
  };
}
