import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { AuditService } from '../../../../proto/gen/holdfast/v1/audit_pb.js';
import { ledgersOf } from '../../../../services/core/processor/processors.ts';
import { type Audited, audit, type Drift } from '../../../../services/core/reconciliation/self-audit.ts';
import { contract, openStage, type Stage, why } from '../stage.ts';

describe('audit()', () => {
  let stage: Stage;
  let client: ReturnType<Stage['channel']>;
  const seen = new Set<string>();

  before(async () => {
    stage = await openStage();
    client = stage.channel('internal');
    const { merchants } = stage.channel('operator');
    await merchants.createMerchant({ merchantId: 'acme', name: 'Acme', contract: contract() });
  });
  after(() => stage.close());

  const look = async (most = 10): Promise<{ drifts: readonly Drift[]; audited: Audited }> => {
    const parts = {
      databaseUrl: stage.settings.DATABASE_URL,
      processors: ledgersOf(stage.recovery.processors),
      most,
      patienceMs: 0,
    };
    const audited = await audit(parts);
    for (const { kind } of audited.found) seen.add(kind);
    return { drifts: audited.found, audited };
  };
  const common = { merchantId: 'acme', currency: 'EUR', terminalId: 'T1', userId: 'u1', amount: 1_000n };
  const place = async (token = 'ok') => {
    const { preauthorization } = await client.holds.createPreauthorization({
      ...common,
      tokenId: `tok_sandbox_${token}`,
    });
    assert(preauthorization);
    return preauthorization;
  };
  const capture = async (preauthorizationId: string, amountToCapture: bigint, finalCapture = false) => {
    const asked = { merchantId: 'acme', preauthorizationId, amountToCapture, finalCapture };
    const { capture: made } = await client.holds.capturePreauthorization(asked);
    return made?.requestId ?? '';
  };
  const sql = (text: string, values: readonly unknown[] = []) => stage.database.query({ name: '', text }, values);
  const ledger = (text: string, ...values: string[]) => {
    const database = new DatabaseSync(stage.ledger, { timeout: 5_000 });
    database.prepare(text).run(...values);
    database.close();
  };
  /** Breaks something, asserts that the audit finds and names it, and repairs it. */
  const finds = async (kinds: string[], requestId: string, harm: () => unknown, mend: () => unknown) => {
    await harm();
    const { drifts, audited } = await look();
    assert.deepEqual(drifts.map(({ kind }) => kind).sort(), kinds.sort());
    assert.equal(audited.drifts, kinds.length);
    assert(
      drifts.every((drift) => drift.requestId === requestId),
      JSON.stringify(drifts),
    );
    await mend();
    assert.deepEqual((await look()).drifts, []);
  };

  it('finds nothing in sound books, nor in operations in flight', async () => {
    const partly = await place();
    await capture(partly.preauthorizationId, 400n);
    const finally_ = await place();
    await capture(finally_.preauthorizationId, 300n, true);
    const released = await place();
    await client.holds.releasePreauthorization({ merchantId: 'acme', requestId: released.requestId });
    await assert.rejects(place('declined'));
    const lost = await place('capture_timeout_applied');
    await capture(lost.preauthorizationId, 100n);
    const expired = await place('expires_2s');
    stage.clock.advance(3_000);
    await stage.expire();
    assert.equal(
      (await client.holds.getPreauthorization({ requestId: expired.requestId })).preauthorization?.status,
      5,
    );
    const cancelled = await client.holds.createPreauthorization(common);
    const { requestId } = cancelled.preauthorization ?? assert.fail();
    await client.holds.releasePreauthorization({ merchantId: 'acme', requestId });
    await client.octs.createOct({ ...common, tokenId: 'tok_sandbox_ok' });
    const { drifts, audited } = await look();
    assert.deepEqual(drifts, []);
    assert.equal(audited.inFlight, 1);
    assert.equal(audited.holds, 7);
    assert(audited.entries > 10 && audited.operations > 10);
  });

  it('finds nothing in holds that are being extended, incremented or ended', async () => {
    const { inFlight } = (await look()).audited;
    const extended = await place('extension_timeout_lost');
    await client.holds.extendPreauthorization({ merchantId: 'acme', preauthorizationId: extended.preauthorizationId });
    const added = await place('increment_timeout_lost');
    const increment = { merchantId: 'acme', preauthorizationId: added.preauthorizationId, amountToAdd: 10n };
    await client.holds.incrementPreauthorization(increment);
    const ended = await place('void_timeout_lost');
    await client.holds.releasePreauthorization({ merchantId: 'acme', requestId: ended.requestId });
    const { drifts, audited } = await look();
    assert.deepEqual(drifts, []);
    assert.equal(audited.inFlight, inFlight + 3);
  });

  it('finds counters that differ from the sum of the captures', async () => {
    const hold = await place();
    const id = hold.requestId;
    await capture(hold.preauthorizationId, 400n);
    await finds(
      ['HOLD_COUNTERS', 'SUMS_AT_PROCESSOR'],
      id,
      () => sql('update hold set captured = captured + 1, remaining = remaining - 1 where request_id = $1', [id]),
      () => sql('update hold set captured = captured - 1, remaining = remaining + 1 where request_id = $1', [id]),
    );
    await finds(
      ['HOLD_STATE'],
      id,
      () => sql('update hold set closing = true where request_id = $1', [id]),
      () => sql('update hold set closing = false where request_id = $1', [id]),
    );
    await finds(
      ['HOLD_STATE'],
      id,
      () => sql("update hold set status = 'IN_PROGRESS' where request_id = $1", [id]),
      () => sql("update hold set status = 'PARTIALLY_CAPTURED' where request_id = $1", [id]),
    );
  });

  it('finds a capture whose hold belongs to another merchant', async () => {
    const id = await capture((await place()).preauthorizationId, 1n);
    await finds(
      ['SUBMISSION_WITHOUT_HOLD', 'OPERATION_DIFFERS', 'AMOUNT_AT_PROCESSOR'],
      id,
      () => sql("update submission set merchant_id = 'other' where request_id = $1", [id]),
      () => sql("update submission set merchant_id = 'acme' where request_id = $1", [id]),
    );
  });

  it('finds results that are missing, invented or wrong', async () => {
    const id = await capture((await place()).preauthorizationId, 10n);
    const move = (from: string, to: string) =>
      sql('update operation set request_id = $2 where request_id = $1', [from, to]);
    const nobody = '01890000-0000-7000-8000-000000000000';
    await move(id, nobody);
    const { drifts } = await look();
    const named = drifts.map(({ kind, requestId }) => `${kind} ${requestId}`);
    assert.deepEqual(named.sort(), [`OPERATION_MISSING ${id}`, `OPERATION_WITHOUT_SUBMISSION ${nobody}`]);
    await move(nobody, id);
    await finds(
      ['OPERATION_DIFFERS'],
      id,
      () => sql('update operation set amount = amount + 1 where request_id = $1', [id]),
      () => sql('update operation set amount = amount - 1 where request_id = $1', [id]),
    );
    const hold = await place('reversed');
    const reversed = await capture(hold.preauthorizationId, 5n);
    stage.clock.advance(2_000);
    await stage.sandbox.reportDue();
    await finds(
      ['REVERSALS_DIFFER', 'SUMS_AT_PROCESSOR'],
      reversed,
      () => sql('update submission set amount_reversed = 4 where request_id = $1', [reversed]),
      () => sql('update submission set amount_reversed = 5 where request_id = $1', [reversed]),
    );
  });

  it('finds refunds that do not add up', async () => {
    const hold = await place();
    const id = await capture(hold.preauthorizationId, 10n);
    await client.refunds.createRefund({ merchantId: 'acme', captureRequestId: id, amount: 4n });
    await finds(
      ['REFUNDS_DIFFER', 'SUMS_AT_PROCESSOR'],
      id,
      () => sql('update submission set amount_refunded = 5 where request_id = $1', [id]),
      () => sql('update submission set amount_refunded = 4 where request_id = $1', [id]),
    );
    await finds(
      ['SUMS_AT_PROCESSOR'],
      id,
      () => ledger('UPDATE entry SET refunded = 3 WHERE requestId = ?', id),
      () => ledger('UPDATE entry SET refunded = 4 WHERE requestId = ?', id),
    );
    await finds(
      ['HOLD_COUNTERS', 'SUMS_AT_PROCESSOR'],
      hold.requestId,
      () => sql('update hold set refunded = 5 where request_id = $1', [hold.requestId]),
      () => sql('update hold set refunded = 4 where request_id = $1', [hold.requestId]),
    );
  });

  it('finds what the processor did not do, or did without us', async () => {
    const hold = await place();
    const id = await capture(hold.preauthorizationId, 10n);
    await finds(
      ['NOT_DONE_AT_PROCESSOR'],
      id,
      () => ledger('UPDATE entry SET answer = 2 WHERE requestId = ?', id),
      () => ledger('UPDATE entry SET answer = 1 WHERE requestId = ?', id),
    );
    await finds(
      ['AMOUNT_AT_PROCESSOR'],
      id,
      () => ledger('UPDATE entry SET amount = amount + 1 WHERE requestId = ?', id),
      () => ledger('UPDATE entry SET amount = amount - 1 WHERE requestId = ?', id),
    );
    await finds(
      ['SUMS_AT_PROCESSOR'],
      hold.requestId,
      () => ledger('UPDATE entry SET voided = voided + 1 WHERE requestId = ?', hold.requestId),
      () => ledger('UPDATE entry SET voided = voided - 1 WHERE requestId = ?', hold.requestId),
    );
    const released = await place();
    const voiding = await client.holds.releasePreauthorization({ merchantId: 'acme', requestId: released.requestId });
    await finds(
      ['AMOUNT_AT_PROCESSOR'],
      voiding.requestId,
      () => ledger('UPDATE entry SET voided = voided - 1 WHERE requestId = ?', voiding.requestId),
      () => ledger('UPDATE entry SET voided = voided + 1 WHERE requestId = ?', voiding.requestId),
    );
    const declined = await place('capture_declined');
    await assert.rejects(capture(declined.preauthorizationId, 10n));
    const [refused] = stage.oracle.entries(declined.requestId).filter(({ kind }) => kind === 'capture');
    const refusedId = refused?.requestId ?? '';
    await finds(
      ['DONE_AT_PROCESSOR'],
      refusedId,
      () => ledger('UPDATE entry SET answer = 1 WHERE requestId = ?', refusedId),
      () => ledger('UPDATE entry SET answer = 2 WHERE requestId = ?', refusedId),
    );
    const stranger = '01890000-0000-7000-8000-00000000000a';
    const columns = (await columnsOf()).filter((name) => name !== 'seq' && name !== 'requestId').join(', ');
    await finds(
      ['UNKNOWN_HERE'],
      stranger,
      () =>
        ledger(
          `INSERT INTO entry (requestId, ${columns}) SELECT ?, ${columns} FROM entry WHERE requestId = ?`,
          stranger,
          id,
        ),
      () => ledger('DELETE FROM entry WHERE requestId = ?', stranger),
    );
  });

  it('names an entry that breaks the contract, and compares the others', async () => {
    const [bad, good] = [await place(), await place()];
    const userIdOf = (text: string) => ledger(`UPDATE entry SET userId = ${text} WHERE requestId = ?`, bad.requestId);
    const amountOf = (change: string) =>
      ledger(`UPDATE entry SET amount = amount ${change} WHERE requestId = ?`, good.requestId);
    userIdOf('char(0)');
    amountOf('+ 1');
    const { drifts } = await look();
    assert.deepEqual(
      drifts.map(({ kind, requestId }) => [kind, requestId]),
      [
        ['INVALID_ENTRY', bad.requestId],
        ['AMOUNT_AT_PROCESSOR', good.requestId],
      ],
    );
    userIdOf(`'u1'`);
    amountOf('- 1');
    assert.deepEqual((await look()).drifts, []);
  });

  it('lists a limited number of each kind of drift, and counts all', async () => {
    await sql('update hold set closing = not closing');
    const { drifts, audited } = await look(2);
    assert.equal(drifts.length, 2);
    assert.equal(audited.drifts, audited.holds);
    await sql('update hold set closing = not closing');
  });

  it('is a method for operators, with the drifts first and the summary last', async () => {
    const lines = async (role: 'operator' | 'internal', request: object) => {
      const answers = stage.channel(role).opened.client(AuditService).auditBooks(request);
      return (await Array.fromAsync(answers)).map(({ line }) => line);
    };
    const [clean, ...none] = await lines('operator', { withoutProcessor: true });
    assert(clean?.case === 'summary' && none.length === 0);
    assert.deepEqual([clean.value.drifts, clean.value.entries], [0, 0]);
    await sql('update hold set closing = not closing');
    const found = await lines('operator', { maxDrifts: 3 });
    await sql('update hold set closing = not closing');
    assert.deepEqual(
      found.map((line) => (line.case === 'drift' ? line.value.kind : line.case)),
      ['HOLD_STATE', 'HOLD_STATE', 'HOLD_STATE', 'summary'],
    );
    assert.equal(await why(lines('internal', {})), 'FORBIDDEN');
  });

  it('has a test for each kind of drift', () => {
    assert.deepEqual([...seen].sort(), [
      'AMOUNT_AT_PROCESSOR',
      'DONE_AT_PROCESSOR',
      'HOLD_COUNTERS',
      'HOLD_STATE',
      'INVALID_ENTRY',
      'NOT_DONE_AT_PROCESSOR',
      'OPERATION_DIFFERS',
      'OPERATION_MISSING',
      'OPERATION_WITHOUT_SUBMISSION',
      'REFUNDS_DIFFER',
      'REVERSALS_DIFFER',
      'SUBMISSION_WITHOUT_HOLD',
      'SUMS_AT_PROCESSOR',
      'UNKNOWN_HERE',
    ]);
  });

  async function columnsOf(): Promise<string[]> {
    const database = new DatabaseSync(stage.ledger, { readOnly: true });
    const columns = database
      .prepare('PRAGMA table_info(entry)')
      .all()
      .map(({ name }) => String(name));
    database.close();
    return columns;
  }
});
