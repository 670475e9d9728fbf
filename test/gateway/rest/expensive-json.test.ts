import assert from 'node:assert/strict';
import { useStage } from '../stage.ts';
import { CREATE_HOLD, HOLD } from './examples.ts';

/** A valid body with additional source text. */
const withMore = (more: string) => `${JSON.stringify(CREATE_HOLD).slice(0, -1)},${more}}`;
const many = (count: number, item: (index: number) => string) =>
  Array.from({ length: count }, (_, i) => item(i)).join(',');

/**
 * Bodies of up to 64 KiB that are expensive for a naive parser; each with the field and words of the expected message.
 */
const CASES: Record<string, [body: string, field: string, message: RegExp]> = {
  '30 000 zeros': [`{"a":[${many(30_000, () => '0')}]}`, 'body', /more than 2000 values/],
  '20 000 empty objects': [`{"a":[${many(20_000, () => '{}')}]}`, 'body', /more than 2000 values/],
  '6 000 names': [withMore(many(6_000, (i) => `"k${i}":1`)), 'body', /more than 100 names/],
  '6 000 objects with a name each': [
    `{"a":[${many(6_000, (i) => `{"${i}":1}`)}]}`,
    'body',
    /more than .* (names|values)/,
  ],
  'names in metadata': [
    withMore(`"metadata":{${many(900, (i) => `"${i}":"4242 4242"`)}}`),
    'body',
    /more than 100 names/,
  ],
  'a name of 300 characters': [withMore(`"${'x'.repeat(300)}":1`), 'body', /a name of more than 256/],
  '40 levels': [withMore(`"metadata":{"a":${'['.repeat(40)}${']'.repeat(40)}}`), 'body', /deeper than 20 levels/],
  'digits as userId': [withMore(`"userId":"${'4242'.repeat(15_000)}"`).replace('"userId":"u', '"x":"u'), 'userId', /./],
  '1 800 fractions': [withMore(`"metadata":[${many(1_800, () => '1.5')}]`), 'metadata.0', /whole number/],
};

describe('REST, expensive JSON', () => {
  const stage = useStage();

  for (const [name, [body, field, message]] of Object.entries(CASES)) {
    it(`refuses ${name} with a short message, without calling core`, async () => {
      assert.ok(Buffer.byteLength(body) <= 65_536);
      stage.core.forgetCalls();
      const answer = await stage.ask('POST', '/preauthorization', { body });
      assert.deepEqual([answer.status, answer.body.code], [400, 'INVALID_REQUEST']);
      const errors: { field: string; message: string }[] = answer.body.errors;
      assert.match(errors.find((error) => error.field === field)?.message ?? '', message);
      assert.ok(errors.length <= 50);
      assert.deepEqual(stage.core.calls, []);
    });
  }

  it('names a fraction at any depth', async () => {
    const body = withMore('"metadata":{"a":[1,{"b":1.5}]}');
    const answer = await stage.ask('POST', '/preauthorization', { body });
    assert.deepEqual(
      answer.body.errors.map((error: { field: string }) => error.field),
      ['metadata.a.1.b', 'metadata.a'],
    );
  });

  it('accepts the largest hold that is allowed', async () => {
    const metadata = Object.fromEntries(
      Array.from({ length: 20 }, (_, i) => [`key-${i}`.padEnd(40, 'x'), 'ü'.repeat(500)]),
    );
    stage.core.answers.set('createPreauthorization', () => ({ preauthorization: HOLD }));
    assert.ok((await stage.ask('POST', '/preauthorization', { body: { ...CREATE_HOLD, metadata } })).status < 300);
    assert.deepEqual(stage.core.lastRequest.metadata, metadata);
  });
});
