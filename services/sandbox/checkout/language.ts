import type { Context } from 'koa';
import { de } from './words/de.ts';
import { en } from './words/en.ts';
import { es } from './words/es.ts';
import { fr } from './words/fr.ts';
import { it } from './words/it.ts';
import { pt } from './words/pt.ts';
import type { Words } from './words/words.ts';

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
