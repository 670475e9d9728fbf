import { type Html, html } from './html.ts';
import type { Language } from './language.ts';

/** A time of day in UTC. The page's script shows it in the customer's zone instead. */
export function timeOfDay(atMs: number, { locale }: Pick<Language, 'locale'>): Html {
  const format = new Intl.DateTimeFormat(locale, {
    ...{ hour: 'numeric', minute: '2-digit' },
    ...{ timeZone: 'UTC', timeZoneName: 'short' },
  });
  return html`<time datetime="${new Date(atMs).toISOString()}" data-locale="${locale}">${format.format(atMs)}</time>`;
}
