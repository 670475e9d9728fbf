import assert from 'node:assert/strict';
import { z } from 'zod';
import { plainWords } from '../../platform/plain-words.ts';
import { readSettings } from '../../platform/settings.ts';

/** A schema, a wrong value, and the message about it. */
const CASES: [schema: z.ZodType, value: unknown, message: string][] = [
  [z.string(), undefined, 'is required'],
  [z.string(), null, 'must be a string, not null'],
  [z.string(), 5, 'must be a string, not a number'],
  [z.string().min(1), '', 'must have at least 1 character'],
  [z.string().max(2), 'abc', 'must have at most 2 characters'],
  [z.string().regex(/^a$/), 'b', 'must be written in another form'],
  [z.number(), '5', 'must be a number, not a string'],
  [z.int(), 1.5, 'must be a whole number, not a fraction'],
  [z.int().min(1), 0, 'must be at least 1'],
  [z.boolean(), 'true', 'must be true or false'],
  [z.enum(['OK', 'KO']), 'NO', 'must be one of OK, KO'],
  [z.literal('ok'), 'no', 'must be ok'],
  [z.array(z.string()).min(1), [], 'must have at least 1 item'],
  [z.array(z.string()), {}, 'must be an array, not an object'],
  [z.record(z.string(), z.string()), [], 'must be an object, not an array'],
  [z.uuid(), 'x', 'must be a UUID in lower case'],
  [z.url(), 'x', 'must be a URL'],
  [z.strictObject({}), { a: 1 }, 'has fields that are not known: a'],
  [z.union([z.string(), z.number()]), true, 'is not valid'],
  [z.string('must be so'), 5, 'must be so'],
];

describe('plainWords()', () => {
  for (const [schema, value, message] of CASES) {
    it(`says that ${JSON.stringify(value)} ${message}`, () => {
      const { error } = schema.safeParse(value, { error: plainWords });
      assert.equal(error?.issues[0]?.message, message);
    });
  }

  it('describes settings as well', () => {
    const schema = z.object({ PORT: z.url(), LEVEL: z.enum(['a', 'b']) });
    assert.throws(() => readSettings(schema, { PORT: 'x', LEVEL: 'c' }), {
      message: 'settings: PORT: must be a URL; LEVEL: must be one of a, b',
    });
  });
});
