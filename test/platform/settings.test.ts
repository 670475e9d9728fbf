import assert from 'node:assert/strict';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { z } from 'zod';
import {
  byName,
  grpcTarget,
  httpUrl,
  isSafeAddress,
  readSettings,
  token,
  tokens,
  wholeNumber,
} from '../../platform/settings.ts';

const [A, B] = ['a'.repeat(32), 'b'.repeat(32)];

/** A setting, what it takes, and what looks right and would be read as something else. */
const SETTINGS: Record<string, { schema: z.ZodType; right: string[]; wrong: string[] }> = {
  'a whole number': {
    schema: wholeNumber(0, 99),
    right: ['0', '8', '99'],
    wrong: [' ', ' 8', '8 ', '08', '+8', '0x8', '1e1', '8.0', '８', '-1', 'NaN', '100', '1e99'],
  },
  'a token': {
    schema: token,
    right: [A, `${A}=/+-`],
    wrong: ['a', ' '.repeat(40), `${A} `, `${A}\n`, 'ü'.repeat(40), `${A} ${B}`],
  },
  'several tokens': {
    schema: tokens,
    right: [A, `${A},${B}`],
    wrong: [`${A}, ${B}`, `${A},`, `,${A}`, `${A},b`, `${A}\n`],
  },
  "core's address": {
    schema: grpcTarget,
    right: [
      'core:50051',
      '[::1]:50051',
      'dns:///core:50051',
      'dns:core:50051',
      'ipv4:10.0.0.1:1,10.0.0.2:1',
      'unix:/run/core',
    ],
    wrong: ['http://core:50051', ' core:50051', 'core', 'core:50051/', 'dns:///core', 'core:port', '50051'],
  },
  'an address of pages': {
    schema: httpUrl,
    right: ['https://shop.example', 'https://shop.example/checkout/'],
    wrong: ['shop.example', 'ftp://shop.example', 'https://shop.example?a=b', 'https://shop.example/#top'],
  },
  'an address that a key is sent to': {
    schema: z.string().refine(isSafeAddress),
    right: ['https://api.example/v71', 'http://localhost:1'],
    wrong: ['http://api.example', 'https://user:word@api.example', 'https://api.example?v=1', ' https://api.example'],
  },
};

describe('readSettings()', () => {
  it('reads a setting from a file that is named in its place', async () => {
    await using folder = await mkdtempDisposable(`${tmpdir()}/holdfast-settings-`);
    const written = async (name: string, text: string) => {
      await writeFile(`${folder.path}/${name}`, text);
      return `${folder.path}/${name}`;
    };
    const [plain, broken] = [await written('a', `${A}\n`), await written('b', `${A}\r\n`)];
    const schema = z.object({ TOKEN: token, 'PROCESSOR_<NAME>_TOKEN': byName(token) });
    const read = (environment: Record<string, string>) => readSettings(schema, environment);
    assert.equal(read({ TOKEN_FILE: plain }).TOKEN, A);
    assert.equal(read({ TOKEN_FILE: broken, TOKEN: '' }).TOKEN, A);
    assert.deepEqual(read({ TOKEN: B, PROCESSOR_STRIPE_TOKEN_FILE: plain })['PROCESSOR_<NAME>_TOKEN'], { STRIPE: A });
    assert.equal(read({ TOKEN: B, OTHER_FILE: '/nowhere' }).TOKEN, B, 'of another program');
    assert.throws(() => read({ TOKEN_FILE: plain, TOKEN: B }), /^Error: settings: TOKEN and TOKEN_FILE are set: /);
    assert.throws(
      () => read({ TOKEN_FILE: '/nowhere' }),
      /^Error: settings: TOKEN_FILE: the file cannot be read \(ENOENT\)$/,
    );
    assert.throws(() => read({ TOKEN_FILE: folder.path }), /TOKEN_FILE: the file cannot be read \(EISDIR\)$/);
    assert.throws(() => read({ TOKEN_FILE: '' }), /^Error: settings: TOKEN is not set$/);
    const empty = await written('c', '\n');
    assert.throws(() => read({ TOKEN_FILE: empty }), /^Error: settings: TOKEN: must have at least 32 characters/);
  });

  for (const [name, { schema, right, wrong }] of Object.entries(SETTINGS)) {
    it(`reads ${name}, and refuses what would be read as something else`, () => {
      const read = (value: string) => readSettings(z.object({ SETTING: schema }), { SETTING: value });
      for (const value of right) assert.equal(String(read(value).SETTING), value);
      for (const value of wrong) assert.throws(() => read(value), /^Error: settings: SETTING: /, JSON.stringify(value));
    });
  }
});
