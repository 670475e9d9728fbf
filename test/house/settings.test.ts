import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { schemaOf } from './settings-shape.ts';
import { tableRows } from './table.ts';

/** The settings file of each process; the migration has only one setting and no schema. */
const SETTINGS: Readonly<Record<string, string>> = {
  launcher: 'services/quickstart/settings.ts',
  core: 'services/core/settings.ts',
  worker: 'services/core/worker-settings.ts',
  gateway: 'gateway/settings.ts',
  sandbox: 'services/sandbox/settings.ts',
  stripe: 'services/stripe/settings.ts',
  merchant: 'services/merchant/settings.ts',
};

const root = new URL('../../', import.meta.url);

describe('docs/settings.md', () => {
  let rows: string[][];
  before(async () => {
    rows = tableRows(await readFile(new URL('docs/settings.md', root), 'utf8'), 'Setting');
  });

  for (const [process, file] of Object.entries(SETTINGS)) {
    it(`lists the settings of ${process} with their defaults`, async () => {
      const described = rows.filter(([, processes]) => processes?.split(', ').includes(process));
      const told = described.map(([name, , preset]) => `${name?.replaceAll('`', '')}: ${preset?.replaceAll('`', '')}`);
      assert.deepEqual(told.sort(), (await settingsOf(file)).sort());
    });
  }

  it('lists the log levels that each process accepts', async () => {
    const [, processes = '', , meaning = ''] = rows.find(([name]) => name === '`LOG_LEVEL`') ?? [];
    const words = [...meaning.matchAll(/`(\w+)`/g)].map(([, word]) => word);
    for (const process of processes.split(', ')) {
      const { LOG_LEVEL } = (await schemaOf(SETTINGS[process] ?? '')).shape;
      assert.deepEqual(z.toJSONSchema(LOG_LEVEL as z.ZodType).enum, words, process);
    }
  });
});

/** As in the table: `NAME: default`, `NAME: *required*`, `NAME: unset` or `NAME: empty`. */
async function settingsOf(file: string): Promise<string[]> {
  return Object.entries((await schemaOf(file)).shape).map(
    ([name, setting]) => `${name}: ${presetOf(setting as z.ZodType)}`,
  );
}

function presetOf(setting: z.ZodType): string {
  if (!setting.safeParse(undefined).success) return '*required*';
  const { default: preset } = z.toJSONSchema(setting, { io: 'input', unrepresentable: 'any' });
  return preset === undefined ? 'unset' : String(preset) || 'empty';
}
