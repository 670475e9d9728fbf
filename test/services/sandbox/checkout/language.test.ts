import assert from 'node:assert/strict';
import Koa from 'koa';
import { LANGUAGES, languageOf, timeOfDay } from '../../../../services/sandbox/checkout/language.ts';
import { forSuite } from '../../../suite.ts';
import { checkoutRequest, startFixture } from '../fixture.ts';
import { submit } from './browse.ts';

describe('languageOf()', () => {
  const app = new Koa();
  const chosen = (header?: string) => {
    const headers = header === undefined ? {} : { 'accept-language': header };
    const context = app.createContext({ headers } as never, {} as never);
    const { tag, locale } = languageOf(context);
    return [tag, locale];
  };

  const cases: readonly (readonly [header: string | undefined, tag: string, locale: string])[] = [
    [undefined, 'en', 'en'],
    ['', 'en', 'en'],
    ['*', 'en', 'en'],
    ['de', 'de', 'de'],
    ['DE-ch', 'de', 'de-CH'],
    ['ja, ko;q=0.9', 'en', 'en'],
    ['ja, fr;q=0.5, de;q=0.8', 'de', 'de'],
    ['en;q=0.3, es-MX;q=0.7, es;q=0.6', 'es', 'es-MX'],
    ['en-GB, en;q=0.9', 'en', 'en-GB'],
    ['de;q=0, it', 'it', 'it'],
    ['pt-BR, en-US;q=0.8', 'pt', 'pt-BR'],
    ['de-u-nu-arab', 'de', 'de'],
    ['de;q=nonsense, "<script>', 'en', 'en'],
  ];
  for (const [header, tag, locale] of cases) {
    it(`returns ${locale} for ${header === undefined ? 'no header' : `"${header}"`}`, () => {
      assert.deepEqual(chosen(header), [tag, locale]);
    });
  }
});

describe('timeOfDay()', () => {
  it('is UTC, in the format of the locale', () => {
    const { markup } = timeOfDay(Date.UTC(2026, 5, 1, 14, 30), { locale: 'de' });
    assert.equal(markup, '<time datetime="2026-06-01T14:30:00.000Z" data-locale="de">14:30 UTC</time>');
    assert.match(timeOfDay(Date.UTC(2026, 5, 1, 14, 30), { locale: 'en' }).markup, />2:30\sPM UTC</);
  });
});

describe('a checkout page in every language', () => {
  const fixture = forSuite(startFixture);

  for (const [tag, words] of Object.entries(LANGUAGES)) {
    it(`is written in ${tag}, and declares it`, async () => {
      const { checkoutUrl } = await fixture.client.createCheckout(checkoutRequest());
      const headers = { 'accept-language': `${tag};q=0.9, *;q=0.1` };
      const page = await fetch(checkoutUrl, { headers });
      assert.equal(page.headers.get('content-language'), tag);
      assert.match(page.headers.get('vary') ?? '', /\bAccept-Language\b/);
      const text = await page.text();
      assert.match(text, new RegExp(`<html lang="${tag}">`));
      assert.ok(text.includes(words.cardNumber));
      const formToken = /name="formToken" value="([^"]+)"/.exec(text)?.[1] ?? '';
      const refused = await submit(checkoutUrl, { formToken }, headers);
      assert.match(await refused.text(), new RegExp(`<html lang="${tag}">.*${words.errors.numberMissing}`, 's'));
      const unknown = await fetch(new URL('/checkout/unknown', checkoutUrl), { headers });
      assert.ok((await unknown.text()).includes(words.unknownCheckout.title));
    });
  }

  it('is translated: no other language uses an English text', () => {
    const texts = (value: unknown): string[] => {
      if (typeof value === 'string') return [value];
      if (typeof value === 'function') return [JSON.stringify(value('A', 'B', 'C'))];
      return Object.values(value as object).flatMap(texts);
    };
    const english = texts(LANGUAGES.en);
    for (const { words, tag } of Object.entries(LANGUAGES).map(([tag, words]) => ({ tag, words }))) {
      const same = texts(words).filter((text, index) => text === english[index]);
      if (tag !== 'en') assert.deepEqual(same, [], tag);
    }
  });
});
