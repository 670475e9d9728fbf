import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { z } from 'zod';
import { ErrorReason } from '../../proto/gen/holdfast/v1/error_pb.js';
import { README, tableRows } from './readme.ts';
import { shapeOf } from './settings-shape.ts';

/** Where each process keeps its settings; the migration step has but one and no schema. */
const SETTINGS: Readonly<Record<string, string>> = {
  launcher: 'services/quickstart/settings.ts',
  core: 'services/core/settings.ts',
  worker: 'services/core/worker-settings.ts',
  gateway: 'gateway/settings.ts',
  sandbox: 'services/sandbox/settings.ts',
  merchant: 'services/merchant/settings.ts',
};

const root = new URL('../../', import.meta.url);

describe('the table of settings in the README', () => {
  for (const [process, file] of Object.entries(SETTINGS)) {
    it(`says what ${process} knows, with its defaults`, async () => {
      const described = tableRows('Setting').filter(([, processes]) => processes?.split(', ').includes(process));
      const told = described.map(([name, , preset]) => `${name?.replaceAll('`', '')}: ${preset?.replaceAll('`', '')}`);
      assert.deepEqual(told.sort(), (await settingsOf(file)).sort());
    });
  }

  it('names the levels that the log of each process takes', async () => {
    const [, processes = '', , meaning = ''] = tableRows('Setting').find(([name]) => name === '`LOG_LEVEL`') ?? [];
    const words = [...meaning.matchAll(/`(\w+)`/g)].map(([, word]) => word);
    for (const process of processes.split(', ')) {
      const { LOG_LEVEL } = await shapeOf(SETTINGS[process] ?? '');
      assert.deepEqual(z.toJSONSchema(LOG_LEVEL as z.ZodType).enum, words, process);
    }
  });
});

describe('the README', () => {
  it('names every word of the vocabulary of refusals', () => {
    const words = Object.keys(ErrorReason).filter((word) => Number.isNaN(Number(word)) && word !== 'UNSPECIFIED');
    for (const word of words) assert(README.includes(`\`${word}\``), word);
  });

  it('names every service of core', async () => {
    const contract = new URL('proto/holdfast/v1/', root);
    for (const file of await readdir(contract)) {
      const text = await readFile(new URL(file, contract), 'utf8');
      for (const [, service] of text.matchAll(/^service (\w+)/gm)) assert(README.includes(`\`${service}\``), service);
    }
  });
});

/** As the table has them: `NAME: default`, `NAME: *required*`, `NAME: unset` or `NAME: empty`. */
async function settingsOf(file: string): Promise<string[]> {
  return Object.entries(await shapeOf(file)).map(([name, setting]) => `${name}: ${presetOf(setting as z.ZodType)}`);
}

function presetOf(setting: z.ZodType): string {
  if (!setting.safeParse(undefined).success) return '*required*';
  const { default: preset } = z.toJSONSchema(setting, { io: 'input', unrepresentable: 'any' });
  return preset === undefined ? 'unset' : String(preset) || 'empty';
}
