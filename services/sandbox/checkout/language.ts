import assert from 'node:assert/strict';
import { code as currencyOf } from 'currency-codes';
import type { Context } from 'koa';
import { type Html, html } from './html.ts';
import { de } from './words/de.ts';
import type { Words } from './words/en.ts';
import { en } from './words/en.ts';
import { es } from './words/es.ts';
import { fr } from './words/fr.ts';
import { it } from './words/it.ts';
import { pt } from './words/pt.ts';

/** The languages of the page; the first one is for customers who ask for none of them. */
export const LANGUAGES = { en, de, fr, es, it, pt } as const satisfies Record<string, Words>;

/** How a page speaks to its customer. */
export interface Language {
  /** BCP 47, for the `lang` attribute. */
  readonly tag: keyof typeof LANGUAGES;
  /** The language with the customer's region, such as `de-CH`: how money and times are written. */
  readonly locale: string;
  readonly words: Words;
}

/** The language that a request prefers by its Accept-Language (RFC 9110, 12.5.4), quality values respected. */
export function languageOf(context: Pick<Context, 'acceptsLanguages'>): Language {
  const offered = Object.keys(LANGUAGES) as Language['tag'][];
  const tag = (context.acceptsLanguages(offered) || 'en') as Language['tag'];
  return { tag, locale: localeOf(tag, context.acceptsLanguages() as string[]), words: LANGUAGES[tag] };
}

/** The first accepted tag of that language, cut down to its region: extensions could ask for other digits. */
function localeOf(language: string, accepted: readonly string[]): string {
  const region = accepted
    .map((tag) => /^([a-z]{2})-([a-z]{2})$/i.exec(tag))
    .find((match) => match?.[1]?.toLowerCase() === language);
  return region ? `${language}-${region[2]?.toUpperCase()}` : language;
}

/** An amount in the currency's own format, as the locale writes it: 1050 EUR minor units are €10.50 in English. */
export function formatAmount(amount: number, currency: string, locale: string): string {
  const digits = currencyOf(currency)?.digits;
  assert(digits !== undefined, 'a checkout is only opened in a known currency');
  // ISO 4217's exponent, not the one Intl believes in: they differ for 26 currencies.
  const format = new Intl.NumberFormat(locale, {
    style: 'currency',
    currency,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  const text = String(amount).padStart(digits + 1, '0');
  const decimal = digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`;
  return format.format(decimal as Intl.StringNumericLiteral);
}

/** A time of day in UTC. The page's script shows it in the customer's zone instead. */
export function timeOfDay(atMs: number, { locale }: Pick<Language, 'locale'>): Html {
  const format = new Intl.DateTimeFormat(locale, {
    ...{ hour: 'numeric', minute: '2-digit' },
    ...{ timeZone: 'UTC', timeZoneName: 'short' },
  });
  return html`<time datetime="${new Date(atMs).toISOString()}" data-locale="${locale}">${format.format(atMs)}</time>`;
}
