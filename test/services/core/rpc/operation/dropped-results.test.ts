import assert from 'node:assert/strict';
import { tokenOf } from '../../../../../services/core/rpc/operation/stream-token.ts';
import { openCipher } from '../../../../../services/core/storage/cipher.ts';
import { lowestIdAt } from '../../../../../services/core/storage/id-bounds.ts';
import { positionOf } from '../../../../../services/core/storage/operation/operation-row.ts';
import { dropPartitions, makePartitions } from '../../../../../services/core/storage/partitions.ts';
import { forSuite } from '../../../../suite.ts';
import { openMerchant, sql } from '../../shop.ts';
import { openStage, why } from '../../stage.ts';

const HOUR_MS = 3_600_000;
const WIDTH_MS = 30 * 24 * HOUR_MS;

/** With OPERATION_RETENTION_DAYS below the 90 days for which a stream can be resumed. */
describe('watchOperations() after results were dropped', () => {
  const stage = forSuite(() => openStage());
  const shop = forSuite(() => openMerchant(stage, 'acme'));
  const operations = forSuite(() => stage.channel('internal').operations);
  const plainToken = (result: Parameters<typeof positionOf>[0]) =>
    tokenOf(positionOf(result), undefined, openCipher(stage.settings.ENCRYPTION_KEYS));
  const firstWith = (resumeToken: string) => operations.watchOperations({ resumeToken })[Symbol.asyncIterator]().next();
  /** The beginning of a partition's range that is over: 30 to 60 days ago. */
  const startMs = () => (Math.floor(stage.clock.now() / WIDTH_MS) - 1) * WIDTH_MS;

  /** A result that was drawn and final so long after the beginning of that range. */
  async function addResult(drawnMs: number, finalMs: number): Promise<{ sequence: bigint; requestId: string }> {
    const requestId = lowestIdAt(startMs() + drawnMs);
    const values = [requestId, new Date(startMs() + finalMs)];
    await sql(stage, `insert into claim (request_id, merchant_id, created_at) values ($1, 'acme', $2)`, values);
    const [row] = await sql<{ sequence: string }>(
      stage,
      `insert into operation (request_id, kind, status, status_info, merchant_id, terminal_id, user_id, amount,
        currency, final_state_date) values ($1, 'OCT', 'OK', 'paid', 'acme', 't', 'u', 1, 'EUR', $2) returning sequence`,
      values,
    );
    return { sequence: BigInt(row?.sequence ?? assert.fail()), requestId };
  }

  it('rejects a token behind which results are missing, and goes on from one behind which none are', async () => {
    const { value: beginning } = await firstWith('');
    await makePartitions(stage.database, new Date(startMs() - WIDTH_MS), 0);
    const early = await addResult(HOUR_MS, 2 * HOUR_MS);
    await addResult(-HOUR_MS, 3 * HOUR_MS);
    const late = await addResult(72 * HOUR_MS, 72 * HOUR_MS);
    await shop.oct();
    for (const token of [beginning.resumeToken, plainToken(early), plainToken(late)]) await firstWith(token);
    const never = new Date(0);
    const operation = new Date(startMs() + 24 * HOUR_MS);
    assert.equal(await dropPartitions(stage.database, { delivery: never, delivery_attempt: never, operation }), 1);
    await firstWith(plainToken(late));
    assert.equal(await why(firstWith(plainToken(early))), 'STREAM_TOKEN_TOO_OLD');
    assert.equal(await why(firstWith(beginning.resumeToken)), 'STREAM_TOKEN_TOO_OLD');
  });
});
