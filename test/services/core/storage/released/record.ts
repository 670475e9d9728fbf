/**
 * Records the rows of a release with operations of every kind open, as `docs/contributing.md` says under "A release":
 * `RELEASE=1.1.0 npx mocha test/services/core/storage/released/record.ts`.
 */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { leaveOpen, openReleasedStage } from './open-operations.ts';
import { readRows } from './released-database.ts';

it('records', async () => {
  const { RELEASE = assert.fail('RELEASE is not set') } = process.env;
  const released = await openReleasedStage();
  try {
    const open = await leaveOpen(released);
    const rows = await readRows(released.stage.settings.DATABASE_URL);
    const lines = [
      { nowMs: released.stage.clock.now() },
      ...open.map((operation) => ({ operation })),
      ...Object.entries(rows).flatMap(([table, values]) => values.map((row) => ({ table, row }))),
    ];
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    await writeFile(`${import.meta.dirname}/${RELEASE}.jsonl`, text);
  } finally {
    await released.close();
  }
});
