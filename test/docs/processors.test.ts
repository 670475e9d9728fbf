import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { create } from '@bufbuild/protobuf';
import { type Duration, durationMs } from '@bufbuild/protobuf/wkt';
import { type DescribeResponse, DescribeResponseSchema } from '../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { pageAddresses } from '../../services/adyen/page/addresses.ts';
import { described as adyen } from '../../services/adyen/rpc/describe.ts';
import { USAGE } from '../../services/conformance/options.ts';
import { parseProfile } from '../../services/conformance/profile.ts';
import { DESCRIPTION } from '../../services/sandbox/rpc/server.ts';
import { described } from '../../services/stripe/rpc/describe.ts';

/** What each of our processors answers to Describe, by the name of its column. */
const DESCRIPTIONS: Readonly<Record<string, DescribeResponse>> = {
  sandbox: create(DescribeResponseSchema, DESCRIPTION),
  stripe: create(DescribeResponseSchema, described(true)),
  adyen: create(
    DescribeResponseSchema,
    adyen({ adjustments: true, resultMs: 1_000, pages: pageAddresses('https://pay.example.com', 'secret') }),
  ),
};

const yes = (can: boolean | undefined) => (can ? 'yes' : 'no');
const minutes = (duration: Duration) => `${durationMs(duration) / 60_000} min`;

const ROWS: Readonly<Record<string, (description: DescribeResponse) => string>> = {
  'Holds with a token': ({ tokens }) => yes(tokens),
  Checkouts: ({ checkouts }) => yes(checkouts),
  'A checkout saves the card as a token': ({ savedCards }) => yes(savedCards),
  'Step-up of a hold with a token': ({ stepUp }) => yes(stepUp),
  'Several captures of a hold': ({ authorizations }) => yes(authorizations?.severalCaptures),
  Increments: ({ authorizations }) => yes(authorizations?.increments),
  'Partial releases': ({ authorizations }) => yes(authorizations?.partialRelease),
  Extensions: ({ authorizations }) => yes(authorizations?.extension),
  'Holds that renew themselves': ({ renewals }) => yes(renewals),
  Refunds: ({ authorizations }) => yes(authorizations?.refunds),
  OCT: ({ credits }) => yes(credits),
  'May answer ACCEPTED': ({ accepts }) => yes(accepts),
  'Fences identifiers': ({ fences }) => yes(fences),
  'Remembers identifiers': ({ identifierMemory: memory }) => (memory ? `for ${minutes(memory)}` : 'for ever'),
  'A checkout stays open for': ({ checkouts, checkoutShortest, checkoutLongest }) => {
    const bounds = [
      checkoutShortest && `at least ${minutes(checkoutShortest)}`,
      checkoutLongest && `at most ${minutes(checkoutLongest)}`,
    ].filter((bound) => bound !== undefined);
    return checkouts ? bounds.join(', ') || 'as long as asked' : 'none';
  },
  Currencies: ({ currencies }) =>
    currencies.length === 0 ? 'every ISO 4217 currency' : `${currencies.length}, with bounds`,
};

describe('docs/processors.md', () => {
  const text = readFileSync('docs/processors.md', 'utf8');
  const tableUnder = (heading: string) => {
    const lines = text.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0]?.split('\n') ?? [];
    const cells = (line: string) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim());
    return lines.filter((line) => line.startsWith('|') && !line.startsWith('|---')).map(cells);
  };

  it('says what Describe says of each processor', () => {
    const [[, ...names] = [], ...rows] = tableUnder('What each processor can do');
    assert.deepEqual(
      names,
      Object.values(DESCRIPTIONS).map(({ name }) => name),
    );
    const expected = Object.entries(ROWS).map(([row, cellOf]) => [
      row,
      ...names.map((name) => cellOf(DESCRIPTIONS[name] ?? assert.fail(name))),
    ]);
    assert.deepEqual(rows, expected);
  });

  it('names every option of the kit', () => {
    const named = tableUnder('The conformance kit').flatMap(([option = '']) => option.match(/--[\w-]+/g) ?? []);
    assert.deepEqual(named.sort(), [...new Set(USAGE.match(/--[\w-]+/g))].sort());
  });

  it('names every field of the profile, and no other', () => {
    const named = tableUnder('The profile')
      .slice(1)
      .flatMap(([fields = '']) => {
        const [first = '', ...more] = [...fields.matchAll(/`([\w.]+)`/g)].map(([, field = '']) => field);
        return [first, ...more.map((field) => (field.startsWith('.') ? first.split('.')[0] + field : field))];
      });
    const least = { currency: 'EUR', otherCurrency: 'USD', features: [], tokens: { approved: 'tok' } };
    const { tokens, ...others } = parseProfile(least);
    const kinds = Object.keys(tokens).map((name) => `tokens.${name}`);
    for (const field of [...Object.keys(others), ...kinds]) assert.ok(named.includes(field), `${field} is not named`);
    const whole = JSON.parse(readFileSync('services/sandbox/conformance.json', 'utf8'));
    const used = [...Object.keys(whole), ...Object.keys(whole.tokens).map((name) => `tokens.${name}`)];
    for (const field of used.filter((name) => name !== 'tokens'))
      assert.ok(named.includes(field), `${field} is not named`);
    for (const field of named) {
      const [top = '', name] = field.split('.');
      const value =
        name === undefined ? { ...least, [top]: null } : { ...least, tokens: { ...least.tokens, [name]: 1 } };
      assert.throws(
        () => parseProfile(value),
        (error: Error) => !/[Uu]nrecognized/.test(error.message),
        field,
      );
    }
  });
});
