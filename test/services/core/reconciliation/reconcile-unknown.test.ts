/**
 * Operations that only the processor knows after the database went back in time are listed and imported,
 * until the audit is clean.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { DatabaseSync } from 'node:sqlite';
import { ledgersOf } from '../../../../services/core/processor/processors.ts';
import { audit } from '../../../../services/core/reconciliation/self-audit.ts';
import { beginReconciling } from '../../../../services/core/storage/reconciling.ts';
import { forSuite } from '../../../suite.ts';
import { openMerchant, payAt, sql } from '../shop.ts';
import { openStage, refusal, type Stage, why } from '../stage.ts';
import { beginAnew, rememberNow } from '../time-machine.ts';
import { type Decisions, decideAt } from './decide.ts';

describe('reconcile()', () => {
  const stage = forSuite(openStage);
  const shop = forSuite(() => openMerchant(stage, 'acme', { webhookUrl: 'https://acme.example/hooks' }));
  beginAnew(stage);

  beforeEach(async () => {
    await shop.hold();
  });

  const decide = (decisions?: Decisions) => decideAt(stage, decisions);
  const drifts = async () => {
    const parts = { databaseUrl: stage.settings.DATABASE_URL, processors: ledgersOf(stage.recovery.processors) };
    const { found } = await audit({ ...parts, most: 20, patienceMs: 0 });
    return found.map(({ kind, expected, found: there }) => `${kind}: ${expected}; ${there}`);
  };
  const rows = (text: string) => sql<Record<string, unknown>>(stage, text);
  const everything = async () => JSON.stringify(await rows('select * from hold, operation order by 1'));

  /** Makes operations of every kind, with and without keys, to be lost; some use earlier ones. */
  async function live(): Promise<{ before: Awaited<ReturnType<typeof before>> }> {
    const early = await before();
    const goBack = await rememberNow(stage);
    const key = () => ({ idempotencyKey: randomUUID() });
    await shop.capture(early.partly, 300n, key());
    await shop.capture(early.finally, 400n, { finalCapture: true });
    await shop.release(early.released, key());
    const whole = await shop.hold(key());
    await shop.capture(whole, 10_000n);
    const several = await shop.hold();
    await shop.capture(several, 1_000n, key());
    await shop.capture(several, 2_000n);
    await shop.release(await shop.hold(key()));
    await shop.hold({ tokenId: 'tok_sandbox_ok', userId: 'u9' });
    await shop.oct(key());
    await refusal(shop.hold({ tokenId: 'tok_sandbox_declined' }));
    await goBack();
    return { before: early };
  }
  const before = async () => ({
    partly: await shop.hold(),
    finally: await shop.hold(),
    released: await shop.hold(),
  });

  it('lists what is unknown, and changes nothing', async () => {
    await live();
    const stored = await everything();
    const { lines, left } = await decide();
    assert.equal(left, lines.length);
    assert.equal(left, 12);
    assert.match(
      lines[0] ?? '',
      /^UNKNOWN authorization approved [0-9a-f-]{36} at default: 10000 EUR for acme, user u1, 20/,
    );
    assert.equal(await everything(), stored);
    assert((await drifts()).length >= left);
  });

  it('imports everything, with operations and notifications, until the audit is clean', async () => {
    const { before: early } = await live();
    const told = Number((await rows('select count(*) from delivery'))[0]?.count);
    const { lines, imported, left } = await decide({ importing: ['all'] });
    assert.deepEqual([imported, left], [12, 0], lines.join('\n'));
    assert.deepEqual(await drifts(), []);
    assert.equal(Number((await rows('select count(*) from delivery'))[0]?.count), told + 12);
    assert.equal(await shop.books(early.partly), 'PARTIALLY_CAPTURED 300/0/9700/0/0');
    assert.equal(await shop.books(early.finally), 'CAPTURED 400/0/0/9600/0 FINAL');
    assert.equal(await shop.books(early.released), 'RELEASED 0/0/0/10000/0 RELEASED');
    assert.deepEqual((await decide({ importing: ['all'] })).lines, []);
    const entries = await rows(
      `select actor, action, target, detail from audit_entry where action like 'processor-entry.%'`,
    );
    assert.equal(entries.length, 12);
    assert(
      entries.every(({ actor, detail }) => actor === 'operator/ann' && (detail as { result: string }).result === 'OK'),
    );
  });

  it('imports a hold, which its merchant finds and captures by the preauthorizationId that it has', async () => {
    const goBack = await rememberNow(stage);
    const lost = await shop.hold({ userId: 'u7', terminalId: 'T2', merchantReference: 'order 7' });
    await goBack();
    assert.equal(await why(shop.capture(lost, 5n)), 'PREAUTHORIZATION_NOT_FOUND');
    await decide({ importing: [lost.requestId] });
    const found = await shop.get(lost);
    assert.deepEqual([found.userId, found.terminalId, found.createdAt?.seconds], ['u7', 'T2', lost.createdAt?.seconds]);
    assert.deepEqual([found.preauthorizationId, found.merchantReference], [lost.preauthorizationId, 'order 7']);
    const { capture } = await shop.capture(lost, 5n);
    assert.equal(capture?.amount, 5n);
    assert.deepEqual(await drifts(), []);
  });

  it('does not change what a merchant repeats under its key', async () => {
    const goBack = await rememberNow(stage);
    const key = { idempotencyKey: randomUUID() };
    await shop.oct(key);
    await goBack();
    await decide({ importing: ['all'] });
    const entries = stage.oracle.entries().length;
    const again = await shop.oct(key);
    assert.equal(again.replayed, true);
    assert.equal(await why(shop.oct({ ...key, amount: 1n })), 'IDEMPOTENCY_KEY_REUSED');
    assert.equal(stage.oracle.entries().length, entries);
    assert.deepEqual(await drifts(), []);
  });

  /** Puts a NUL into an entry of the sandbox's ledger. */
  function spoil(requestId: string): void {
    const ledger = new DatabaseSync(stage.ledger, { timeout: 5_000 });
    ledger.prepare(`update entry set userId = 'u' || char(0) where requestId = ?`).run(requestId);
    ledger.close();
  }

  it('names an entry that cannot be read, and imports the others', async () => {
    const goBack = await rememberNow(stage);
    const bad = await shop.hold();
    const good = await shop.hold();
    await goBack();
    spoil(bad.requestId);
    const { lines, imported, left } = await decide({ importing: ['all'] });
    assert.deepEqual([imported, left], [1, 1]);
    assert.match(lines[0] ?? '', new RegExp(`^INVALID ${bad.requestId} at default: user_id does not match`));
    await shop.get(good);
    assert.match(
      (await drifts()).join(),
      /^INVALID_ENTRY: an entry by the contract; user_id does not match [^,]*, at default$/,
    );
  });

  it('goes on when something fails, says so, and leaves it to recovery', async () => {
    const goBack = await rememberNow(stage);
    const [first, second] = [await shop.hold(), await shop.hold()];
    await goBack();
    const { books } = stage.recovery;
    const settle: typeof books.settle = (end) =>
      end.facts.requestId === first.requestId ? Promise.reject(new Error('the connection broke')) : books.settle(end);
    const recovery = { ...stage.recovery, books: { ...books, settle } };
    const broken = { settings: stage.settings, recovery } as Stage;
    const { lines, imported, left } = await decideAt(broken, { importing: ['all'] });
    assert.deepEqual([imported, left], [1, 1], lines.join('\n'));
    assert.match(
      lines.join('\n'),
      new RegExp(`^FAILED authorization approved ${first.requestId} .*: the connection broke$`, 'm'),
    );
    await shop.get(second);
    stage.clock.advance(60_000);
    await stage.inquire();
    assert.equal(await shop.books(first), 'IN_PROGRESS 0/0/10000/0/0');
    assert.deepEqual(await drifts(), []);
  });

  it('imports that the processor has ended a hold', async () => {
    const hold = await shop.hold({ tokenId: 'tok_sandbox_ended_early' });
    const goBack = await rememberNow(stage);
    await shop.capture(hold, 300n, { idempotencyKey: randomUUID() });
    stage.clock.advance(3_000);
    await stage.sandbox.reportDue();
    assert.equal(await shop.books(hold), 'CAPTURED 300/0/0/9700/0 EXPIRED');
    await goBack();
    const { lines, left } = await decide({ importing: ['all'] });
    assert.deepEqual(
      lines.map((line) => line.split(' ').slice(0, 2).join(' ')),
      ['IMPORTED capture', 'IMPORTED end'],
    );
    assert.equal(left, 0);
    assert.equal(await shop.books(hold), 'CAPTURED 300/0/0/9700/0 EXPIRED');
    assert.deepEqual(await drifts(), []);
  });

  it('leaves operations without a result at the processor to recovery, and closes open checkouts', async () => {
    const goBack = await rememberNow(stage);
    await shop.oct({ tokenId: 'tok_sandbox_accepted' });
    const page = await shop.checkout();
    await goBack();
    const { lines } = await decide({ importing: ['all'] });
    assert.match(lines.join('\n'), /CLOSED open checkout/);
    assert.match(lines.join('\n'), /IMPORTED credit accepted/);
    assert.equal(stage.oracle.find(page.preauthorization?.requestId ?? '')?.answer, 3);
    stage.clock.advance(60_000);
    await stage.sandbox.reportDue();
    await stage.inquire();
    assert.equal((await rows('select state from submission'))[0]?.state, 'OK');
    assert.deepEqual(await drifts(), []);
  });

  it('answers a lost checkout with a key under its own requestId, closed or paid meanwhile', async () => {
    const goBack = await rememberNow(stage);
    const [closed, paid] = [{ idempotencyKey: randomUUID() }, { idempotencyKey: randomUUID() }];
    const { preauthorization: first } = await shop.checkout(closed);
    const { preauthorization: second } = await shop.checkout(paid);
    assert(first && second);
    assert.equal(await payAt(second.checkoutUrl), 303);
    await goBack();
    await decide({ importing: ['all'] });
    const { reason, metadata } = await refusal(shop.checkout(closed));
    assert.deepEqual([reason, metadata.requestId], ['PROCESSOR_ERROR', first.requestId]);
    const { preauthorization: placed, replayed } = await shop.checkout(paid);
    assert.deepEqual([placed?.requestId, replayed], [second.requestId, true]);
    assert.deepEqual(await drifts(), []);
  });

  it('names entries of merchants that do not exist here, and skips them', async () => {
    const goBack = await rememberNow(stage);
    const lost = await openMerchant(stage, 'lost');
    const capture = await lost.captured(300n);
    await goBack();
    assert.match((await decide()).lines.join('\n'), /\(there is no such merchant here\)$/);
    const { lines } = await decide({ importing: ['all'] });
    assert.match(lines[0] ?? '', /^LEFT .*: the merchant lost does not exist here$/);
    assert.match(lines[1] ?? '', /^LEFT capture .* is unknown here: import that first$/);
    assert.equal(stage.oracle.find(capture.requestId)?.refunded, 0);
  });

  it('is a command whose exit code reports what is left', async () => {
    const goBack = await rememberNow(stage);
    await shop.oct();
    await goBack();
    const { DATABASE_URL, PROCESSOR_URL = '', PROCESSOR_CREDENTIAL, ENCRYPTION_KEYS } = stage.settings;
    const [key] = ENCRYPTION_KEYS;
    const env = {
      ...process.env,
      DATABASE_URL,
      PROCESSOR_URL,
      PROCESSOR_CREDENTIAL,
      ENCRYPTION_KEYS: `${key?.id}:${key?.key.toString('base64')}`,
    };
    const folder = await mkdtemp(`${tmpdir()}/holdfast-reports-`);
    const run = (args: string[], more: object = {}) =>
      new Promise<{ code: number | null; output: string }>((resolve) => {
        const command = ['services/core/reconcile.ts', ...args, '--report', folder];
        const child = execFile(process.execPath, command, { env: { ...env, ...more } }, (_, out, error) =>
          resolve({ code: child.exitCode, output: out + error }),
        );
      });
    const shown = await run([]);
    assert.equal(shown.code, 1, shown.output);
    assert.match(
      shown.output,
      /^UNKNOWN credit .*\nreconciled with 2 entries of processor default: 0 imported, 0 closed or refunded, 1 unknown here\n$/,
    );
    const since = await run(['--from', '2020-01-01T00:00:00Z']);
    assert.match(since.output, /since 2020-01-01T00:00:00.000Z: 0 imported/);
    assert.deepEqual(await readdir(folder), [], 'what only looks reports nothing');
    for (const [args, wanted] of [
      [['--import', 'all'], /--operator NAME is needed/],
      [['--import', 'x', '--operator', 'ann'], /x is neither an identifier nor all/],
      [['--refund', 'all', '--operator', 'ann'], /all is neither an identifier/],
      [['--accept', randomUUID()], / is nothing that is done here and not in the books/],
      [['--end'], /--operator NAME is needed/],
      [['--imports'], /Unknown option/],
      [['--from', 'yesterday'], /--from yesterday is no time like 2026/],
    ] as const) {
      const { code, output } = await run([...args]);
      assert.equal(code, 2, output);
      assert.match(output, wanted);
    }
    assert.equal((await run(['--import', 'all', '--operator', 'ann'], { PROCESSOR_URL: '127.0.0.1:1' })).code, 2);
    const done = await run(['--import', 'all', '--operator', 'ann']);
    assert.equal(done.code, 0, done.output);
    const told = (await readFile(`${folder}/acme.jsonl`, 'utf8')).trim().split('\n');
    assert.deepEqual(
      told.map((line) => JSON.parse(line)).map(({ became, operation, amount }) => [became, operation, amount]),
      [['IMPORTED', 'OCT', 700]],
    );
    await beginReconciling(stage.recovery.database.query);
    assert.match((await run([])).output, /\nnothing is unknown: end reconciling by --end --operator NAME/);
    assert.match((await run(['--end', '--operator', 'ann'])).output, /\nreconciling has ended/);
    assert.deepEqual(await readdir(folder), ['acme.jsonl'], 'the reports of an earlier run are kept');
    await rm(folder, { recursive: true });
    assert.deepEqual(await drifts(), []);
  });
});
