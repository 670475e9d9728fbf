import { momentIn } from '../words/time.js';

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
