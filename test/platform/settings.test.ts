import assert from 'node:assert/strict';
import { z } from 'zod';
import {
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
  for (const [name, { schema, right, wrong }] of Object.entries(SETTINGS)) {
    it(`reads ${name}, and refuses what would be read as something else`, () => {
      const read = (value: string) => readSettings(z.object({ SETTING: schema }), { SETTING: value });
      for (const value of right) assert.equal(String(read(value).SETTING), value);
      for (const value of wrong) assert.throws(() => read(value), /^Error: settings: SETTING: /, JSON.stringify(value));
    });
  }
});
