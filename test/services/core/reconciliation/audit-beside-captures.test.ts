import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { ledgersOf } from '../../../../services/core/processor/processors.ts';
import type { Ledger } from '../../../../services/core/processor/read-entries.ts';
import { audit } from '../../../../services/core/reconciliation/self-audit.ts';
import { contract, openStage, type Stage } from '../stage.ts';

describe('audit() beside a hold that goes on being captured', () => {
  let stage: Stage;
  let client: ReturnType<Stage['channel']>;

  before(async () => {
    stage = await openStage();
    client = stage.channel('internal');
    const { merchants } = stage.channel('operator');
    await merchants.createMerchant({ merchantId: 'acme', name: 'Acme', contract: contract() });
  });
  after(() => stage.close());

  /** Places a hold that was captured once. */
  async function placeCaptured() {
    const asked = { merchantId: 'acme', currency: 'EUR', terminalId: 'T1', userId: 'u1', amount: 1_000n };
    const { preauthorization } = await client.holds.createPreauthorization({ ...asked, tokenId: 'tok_sandbox_ok' });
    assert(preauthorization);
    await capture(preauthorization.preauthorizationId);
    return preauthorization;
  }
  const capture = (preauthorizationId: string) =>
    client.holds.capturePreauthorization({ merchantId: 'acme', preauthorizationId, amountToCapture: 1n });
  /** Adds to what the processor says that it charged of a hold. */
  const charge = (requestId: string, amount: number) => {
    const database = new DatabaseSync(stage.ledger, { timeout: 5_000 });
    database.prepare('UPDATE entry SET captured = captured + ? WHERE requestId = ?').run(amount, requestId);
    database.close();
  };
  /** Audits while the hold is captured after each of the first `busy` readings of its own. */
  async function auditBeside(preauthorizationId: string, busy: number) {
    const [[name, books] = assert.fail()] = [...ledgersOf(stage.recovery.processors)];
    let readings = 0;
    const listEntries: Ledger['listEntries'] = async (request, options) => {
      const page = await books.listEntries(request, options);
      if (request.authorizationRequestId && ++readings <= busy) await capture(preauthorizationId);
      return page;
    };
    const audited = await audit({
      databaseUrl: stage.settings.DATABASE_URL,
      processors: new Map([[name, { listEntries }]]),
      most: 10,
      patienceMs: 0,
    });
    return { readings, drifts: audited.found.map(({ kind }) => kind), unjudged: audited.unjudged };
  }

  it('finds what the processor charged besides, once the hold stands still while it is read', async () => {
    const { requestId, preauthorizationId } = await placeCaptured();
    charge(requestId, 500);
    const { readings, drifts, unjudged } = await auditBeside(preauthorizationId, 3);
    assert.deepEqual([readings, drifts, unjudged], [4, ['SUMS_AT_PROCESSOR'], []]);
    charge(requestId, -500);
    assert.deepEqual(await auditBeside(preauthorizationId, 3), { readings: 0, drifts: [], unjudged: [] });
  });

  it('says what it could not judge', async () => {
    const { requestId, preauthorizationId } = await placeCaptured();
    charge(requestId, 500);
    const { drifts, unjudged } = await auditBeside(preauthorizationId, Number.POSITIVE_INFINITY);
    assert.deepEqual([drifts, unjudged], [[], [`${requestId} changed at each reading`]]);
    charge(requestId, -500);
  });

  it('judges as many as it reads again, and says how many more differ', async () => {
    const holds = [await placeCaptured(), await placeCaptured(), await placeCaptured()];
    for (const { requestId } of holds) charge(requestId, 500);
    const parts = { databaseUrl: stage.settings.DATABASE_URL, processors: ledgersOf(stage.recovery.processors) };
    const { drifts, unjudged } = await audit({ ...parts, most: 10, patienceMs: 0, mostSuspects: 2 });
    assert.equal(drifts, 2);
    assert.match(unjudged.join(), /^1 more differ, too many to be read again/);
    for (const { requestId } of holds) charge(requestId, -500);
  });
});
