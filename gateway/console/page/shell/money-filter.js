import { digitsOf } from '../words/money.js';
import { dateFields, dateFilter } from './date-filter.js';

/** Fields of a filter by amount and by date; `dates` are the names of the dates. */
export function moneyAndDateFields(dates, about) {
  return [
    { name: 'amountFrom', label: 'Amount at least' },
    { name: 'amountTo', label: 'Amount at most' },
    { name: 'currency', label: 'Currency' },
    ...dateFields(dates, about),
  ];
}

/** Such a filter as the service takes it: amounts in minor units, times in UTC. Amounts without a currency have two digits. */
export function moneyAndDateFilter(filter, dates) {
  const currency = filter.currency?.toUpperCase();
  const minor = (text) => text && Math.round(Number(text.replace(',', '.')) * 10 ** digitsOf(currency));
  return {
    ...dateFilter(filter, dates),
    ...{ currency, amountFrom: minor(filter.amountFrom), amountTo: minor(filter.amountTo) },
  };
}
