import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { forSuite } from '../../../suite.ts';
import { openMerchant } from '../shop.ts';
import { openStage } from '../stage.ts';

describe('npm run audit', () => {
  const stage = forSuite(openStage);
  const acme = forSuite(() => openMerchant(stage, 'acme'));

  /** Returns its exit code and what it printed. */
  const run = (options: readonly string[] = [], other: NodeJS.ProcessEnv = {}) => {
    const { DATABASE_URL, PROCESSOR_URL, PROCESSOR_CREDENTIAL } = stage.settings;
    const env = { ...process.env, DATABASE_URL, PROCESSOR_URL, PROCESSOR_CREDENTIAL, ...other };
    return new Promise<{ code: number | null; output: string }>((resolve) => {
      const child = execFile(process.execPath, ['services/core/audit.ts', ...options], { env }, (_, out, error) =>
        resolve({ code: child.exitCode, output: out + error }),
      );
    });
  };
  const sql = (text: string) => stage.database.query({ name: '', text }, []);

  it('says by its exit code whether books are clean, drift, or were not all read', async () => {
    await acme.hold();
    const clean = await run();
    assert.equal(clean.code, 0, clean.output);
    assert.match(clean.output, /^audited 1 holds, .* 0 drifts$/m);
    await sql('update hold set closing = true');
    const drifted = await run();
    assert.equal(drifted.code, 1, drifted.output);
    assert.match(drifted.output, /^DRIFT HOLD_STATE [0-9a-f-]{36} \(acme\): expected closing f; found /);
    await sql('update hold set closing = false');
    assert.equal((await run([], { PROCESSOR_URL: '' })).code, 2);
  });

  it('verifies the audit log, also against a head that was kept', async () => {
    const { output } = await run();
    const [, head = ''] = /^audited \d+ entries of the audit log: 0 drifts; .* --head (\S+)$/m.exec(output) ?? [];
    assert.equal((await run(['--head', head])).code, 0);
    const other = await run(['--head', `1:${'0'.repeat(64)}`]);
    assert.equal(other.code, 1);
    assert.match(other.output, /^DRIFT AUDIT_LOG link 1: expected hash 0{64}; found hash [0-9a-f]{64}$/m);
    const malformed = await run(['--head', '1']);
    assert.deepEqual([malformed.code, /--head must be NUMBER:HASH/.test(malformed.output)], [2, true]);
    await sql('delete from audit_entry');
    const emptied = await run();
    assert.equal(emptied.code, 1);
    assert.match(
      emptied.output,
      /^DRIFT AUDIT_LOG [0-9a-f-]{36}: expected the entry as link 1 has it; found no entry$/m,
    );
  });
});
