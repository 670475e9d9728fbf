import assert from 'node:assert/strict';
import fc from 'fast-check';
import { JsonNumber, parseStrictJson, StrictJsonRefusal } from '../../gateway/strict-json.ts';

const parse = (text: string) => parseStrictJson(Buffer.from(text, 'utf8'));

/** Bodies of 100 KB that some parser somewhere takes quadratic time, or its whole stack, to read. */
const KB100 = 100_000;
const PATHOLOGICAL: Record<string, string> = {
  'open arrays': `{"a":${'['.repeat(KB100)}`,
  'closed arrays': `{"a":${'['.repeat(KB100 / 2)}${']'.repeat(KB100 / 2)}}`,
  'open objects': '{"a":'.repeat(KB100 / 5),
  'closed objects': `${'{"a":'.repeat(KB100 / 6)}1${'}'.repeat(KB100 / 6)}`,
  'many names': `{${Array.from({ length: 9_000 }, (_, i) => `"k${i}":1`).join(',')}}`,
  'many numeric names': `{${Array.from({ length: 8_000 }, (_, i) => `"${i * 7919}":1`).join(',')}}`,
  'duplicate at the end': `{${Array.from({ length: 9_000 }, (_, i) => `"k${i}":1`).join(',')},"k0":1}`,
  zeros: `{"a":[${'0,'.repeat(KB100 / 2)}0]}`,
  'empty objects': `{"a":[${'{},'.repeat(KB100 / 3)}{}]}`,
  digits: `{"a":${'9'.repeat(KB100)}}`,
  'digits after the point': `{"a":0.${'9'.repeat(KB100)}}`,
  escapes: `{"a":"${'\\u0041'.repeat(KB100 / 6)}"}`,
  backslashes: `{"a":"${'\\'.repeat(KB100)}"}`,
  'open string': `{"a":"${'x'.repeat(KB100)}`,
  spaces: `{${' '.repeat(KB100)}}`,
  'open spaces': `{${' '.repeat(KB100)}`,
  commas: `{"a":[${','.repeat(KB100)}]}`,
};

describe('parseStrictJson()', () => {
  it('keeps the source text of numbers', () => {
    const body = parse('{"a":10.50,"b":[1e2,-0],"c":12345678901234567890}');
    assert.deepEqual(
      JSON.stringify(body),
      JSON.stringify({
        a: { source: '10.50' },
        b: [{ source: '1e2' }, { source: '-0' }],
        c: { source: '12345678901234567890' },
      }),
    );
  });

  it('tells integers from everything that merely equals one', () => {
    const integers = Object.entries({ '5': 5, '0': 0, '-7': -7, '999999999999': 999_999_999_999 });
    for (const [source, value] of integers) assert.equal(new JsonNumber(source).integer, value);
    for (const source of ['5.0', '5e0', '1E2', '9007199254740993', '1234567890123456789', '0.1']) {
      assert.equal(new JsonNumber(source).integer, undefined, source);
    }
  });

  it('refuses a name that occurs twice, at any depth and however it is spelled', () => {
    for (const text of [
      '{"a":1,"a":1}',
      '{"a":1,"\\u0061":2}',
      '{"x":{"y":[{"a":1,"a":2}]}}',
      '{"é":1,"\\u00e9":2}',
      '{"":1,"":2}',
      '{"\\/":1,"/":2}',
      '{"__proto__":1,"__proto__":2}',
    ]) {
      assert.throws(() => parse(text), StrictJsonRefusal, text);
    }
    assert.throws(() => parse('{"x":[{"amount":1,"\\u0061mount":2}]}'), { field: 'amount' });
    assert.equal(Object.keys(parse('{"a":{"b":1},"c":{"b":1}}')).length, 2);
  });

  it('refuses __proto__, so that no body can choose a prototype', () => {
    for (const text of ['{"__proto__":{"admin":true}}', '{"a":[{"\\u005f_proto__":1}]}']) {
      assert.throws(() => parse(text), /not allowed: __proto__/, text);
    }
    assert.equal(Object.getPrototypeOf(parse('{"constructor":{"prototype":{}}}')), Object.prototype);
  });

  it('refuses what is not one JSON object in UTF-8', () => {
    const texts = [
      '',
      ' ',
      '[]',
      '1',
      '"a"',
      'null',
      '{',
      '{}{}',
      '{"a":01}',
      '{"a":.5}',
      '{"a":+1}',
      '{"a":NaN}',
      "{'a':1}",
    ];
    for (const text of [...texts, '{"a":1,}', '{/**/}', '\ufeff{}', '{"a":"\u0000"}', '{"a":"\n"}', '{a:1}']) {
      assert.throws(() => parse(text), StrictJsonRefusal, JSON.stringify(text));
    }
    for (const bytes of [
      [0x7b, 0xff, 0x7d],
      [0xc0, 0x80],
      [0xed, 0xa0, 0x80],
      [0xff, 0xfe, 0x7b, 0, 0x7d, 0],
    ]) {
      assert.throws(() => parseStrictJson(Uint8Array.from(bytes)), StrictJsonRefusal);
    }
    const overlong = Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xc1, 0xa1]), Buffer.from('"}')]);
    assert.throws(() => parseStrictJson(overlong), /not UTF-8/);
  });

  it('takes 99 levels and refuses more', () => {
    assert.ok(parse(`{"a":${'['.repeat(98)}${']'.repeat(98)}}`));
    assert.throws(() => parse(`{"a":${'['.repeat(101)}${']'.repeat(101)}}`), /nested too deeply/);
  });

  it('quotes nothing of the text in its refusal', () => {
    for (const text of ['{"tok_secret":1,"tok_secret":2}', '{"a": tok_secret}', '"tok_secret"']) {
      assert.throws(
        () => parse(text),
        (error: Error) => !error.message.includes('tok_secret'),
        text,
      );
    }
  });

  it('reads any JSON object as JSON.parse reads it', () => {
    const name = fc.string().filter((text) => text !== '__proto__');
    const json = fc.dictionary(name, fc.jsonValue()).map((value) => JSON.stringify(value));
    const numbers = (_: string, value: unknown) => (value instanceof JsonNumber ? Number(value.source) : value);
    fc.assert(
      fc.property(json, (text) => {
        fc.pre(!text.includes('__proto__') && Buffer.from(text).toString() === text && !/\\ud[89a-f]/i.test(text));
        assert.equal(JSON.stringify(JSON.parse(JSON.stringify(parse(text), numbers))), text);
      }),
    );
  });

  for (const [name, text] of Object.entries(PATHOLOGICAL)) {
    it(`reads or refuses 100 KB of ${name} in a moment`, () => {
      const bytes = Buffer.from(text);
      const took = Math.min(...[1, 2, 3].map(() => elapsedMs(bytes)));
      assert.ok(took < 1_000, `${took} ms`);
    });
  }
});

/** The best of a few runs is asked for: a busy machine makes a run slow, a quadratic parser makes them all slow. */
function elapsedMs(bytes: Uint8Array): number {
  const startedAt = performance.now();
  try {
    parseStrictJson(bytes);
  } catch (error) {
    assert.ok(error instanceof StrictJsonRefusal, String(error));
  }
  return performance.now() - startedAt;
}
