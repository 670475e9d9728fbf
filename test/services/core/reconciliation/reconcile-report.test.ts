/**
 * What merchants are told of what was lost: by a report for each, and by notifications that say when they tell it
 * again.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { appendToReport } from '../../../../services/core/reconciliation/merchant-report.ts';
import { forSuite } from '../../../suite.ts';
import { openMerchant, sql } from '../shop.ts';
import { openStage, type Stage } from '../stage.ts';
import { beginAnew, rememberNow } from '../time-machine.ts';
import { decideAt } from './decide.ts';

const CONTRACT = { webhookUrl: 'https://acme.example/hooks', notifyHolds: true };

describe('reconcile() tells merchants', () => {
  const stage = forSuite(openStage);
  const acme = forSuite(() => openMerchant(stage, 'acme', CONTRACT));
  beginAnew(stage);

  /** The notifications since, as `operation statusInfo`, with `again` when they say that they were imported. */
  async function told(): Promise<string[]> {
    const rows = await sql<{ body: string; what: string }>(
      stage,
      `select convert_from(d.body, 'UTF8') as body, o.kind || ' ' || o.status_info as what
      from delivery d join operation o on o.request_id::text = d.request_id order by d.id`,
    );
    return rows.map(({ body, what }) => (JSON.parse(body).imported ? `${what} again` : what));
  }

  it('what was lost and under which ids it is back', async () => {
    await acme.hold();
    const other = await openMerchant(stage, 'other', CONTRACT);
    const goBack = await rememberNow(stage);
    const hold = await acme.hold({ userId: 'u7', merchantReference: 'order 7' });
    const { capture } = await acme.capture(hold, 300n, { idempotencyKey: randomUUID() });
    const others = await other.hold();
    await goBack();
    const shown = await decideAt(stage);
    assert.deepEqual(new Set(shown.report.map(({ became }) => became)), new Set(['UNKNOWN']));
    const folder = await mkdtemp(`${tmpdir()}/holdfast-reports-`);
    const { lines } = await decideAt(stage, { importing: ['all'], folder });
    assert.match(lines.join('\n'), /^IMPORTED authorization .* for acme, user u7, reference "order 7", 20/);
    assert.deepEqual((await readdir(folder)).sort(), ['acme.jsonl', 'other.jsonl']);
    const read = async (name: string) => (await readFile(`${folder}/${name}.jsonl`, 'utf8')).trim().split('\n');
    const [ofHold, ofCapture] = (await read('acme')).map((line) => JSON.parse(line));
    const same = { merchantId: 'acme', became: 'IMPORTED', currency: 'EUR', userId: 'u7', processor: 'default' };
    const actedAt = new Date(stage.clock.now()).toISOString();
    assert.deepEqual(ofHold, {
      ...same,
      operation: 'HOLD',
      requestId: hold.requestId,
      hadRequestId: hold.requestId,
      amount: 10_000,
      merchantReference: 'order 7',
      actedAt,
      processorRequestId: hold.requestId,
    });
    assert.deepEqual(
      [ofCapture.operation, ofCapture.requestId, ofCapture.hadRequestId, ofCapture.merchantReference],
      ['CAPTURE', capture?.requestId, capture?.requestId, 'order 7'],
    );
    assert.notEqual(ofCapture.processorRequestId, capture?.requestId);
    const [ofOther] = (await read('other')).map((line) => JSON.parse(line));
    assert.deepEqual([ofOther.became, ofOther.requestId], ['IMPORTED', others.requestId]);
    await rm(folder, { recursive: true });
  });

  it('and names a user in one line, whatever its name is', async () => {
    const goBack = await rememberNow(stage);
    await acme.hold({ userId: 'u7\nIMPORTED \u001b[2K\u202e' });
    await goBack();
    const { lines } = await decideAt(stage);
    assert.match(
      lines.join(),
      /^UNKNOWN authorization .* for acme, user u7\\u\{a\}IMPORTED \\u\{1b\}\[2K\\u\{202e\}, 20/,
    );
  });

  it('what was done before it broke off, and goes on where it did', async () => {
    await acme.hold();
    const goBack = await rememberNow(stage);
    const hold = await acme.hold();
    await goBack();
    const folder = await mkdtemp(`${tmpdir()}/holdfast-reports-`);
    const { database } = stage.recovery;
    let written: string[] = [];
    const query: typeof database.query = async (statement, values) => {
      if (statement.name !== 'end-audit-entries') return database.query(statement, values);
      // A process that dies here has written them, too.
      written = await readdir(folder);
      throw new Error('the connection broke');
    };
    const recovery = { ...stage.recovery, database: { ...database, query } };
    const broken = { settings: stage.settings, recovery } as Stage;
    const { failure, report, imported, ended } = await decideAt(broken, { importing: ['all'], folder });
    assert.deepEqual(written, ['acme.jsonl']);
    assert.match(String(failure), /the connection broke/);
    assert.deepEqual([report[0]?.requestId, imported, ended], [hold.requestId, 1, false]);
    assert.equal((await decideAt(stage, { importing: ['all'] })).left, 0);
    await rm(folder, { recursive: true });
  });

  it('in files whose names are short enough, whatever a merchant is called', async () => {
    const folder = await mkdtemp(`${tmpdir()}/holdfast-reports-`);
    const goBack = await rememberNow(stage);
    await acme.hold();
    await goBack();
    const [line = assert.fail()] = (await decideAt(stage)).report;
    const merchantId = '商'.repeat(32);
    appendToReport(folder, { ...line, merchantId });
    const [file = assert.fail()] = await readdir(folder);
    assert.equal(JSON.parse(await readFile(`${folder}/${file}`, 'utf8')).merchantId, merchantId);
    await rm(folder, { recursive: true });
  });

  it('that a hold has ended at the processor', async () => {
    await acme.hold({ tokenId: 'tok_sandbox_ended_early' });
    const goBack = await rememberNow(stage);
    stage.clock.advance(3_000);
    await stage.sandbox.reportDue();
    await goBack();
    await decideAt(stage, { importing: ['all'] });
    assert.deepEqual(await told(), ['HOLD authorized', 'EXPIRY expired again']);
  });
});
