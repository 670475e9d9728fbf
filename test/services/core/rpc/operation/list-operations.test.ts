import assert from 'node:assert/strict';
import { OperationService } from '../../../../../proto/gen/holdfast/v1/operation_pb.js';
import { forSuite } from '../../../../suite.ts';
import { openMerchant, sql } from '../../shop.ts';
import { openStage } from '../../stage.ts';

describe('listOperations()', () => {
  const stage = forSuite(() => openStage());
  const acme = forSuite(() => openMerchant(stage, 'acme'));
  const holds: string[] = [];
  before(async () => {
    for (let count = 0; count < 5; count++) holds.unshift((await acme.hold()).requestId);
  });
  const merchants = () => stage.client('gateway', OperationService);
  const textOf = (token: string) => Buffer.from(token, 'base64url').toString();

  for (const [role, client] of [
    ['gateway', merchants],
    ['operator', () => stage.client('operator', OperationService)],
  ] as const) {
    it(`reads page by page, by the ${role}`, async () => {
      const seen: string[] = [];
      let pageToken = '';
      do {
        const page = await client().listOperations({ merchantId: 'acme', pageSize: 2, pageToken });
        seen.push(...page.operations.map(({ requestId }) => requestId));
        pageToken = page.nextPageToken;
      } while (pageToken !== '');
      assert.deepEqual(seen, holds);
    });
  }

  it("says nothing of all merchants' log to a merchant in its tokens", async () => {
    await sql(stage, "select setval(pg_get_serial_sequence('operation', 'sequence'), 7700000)");
    for (let count = 0; count < 2; count++) holds.unshift((await acme.hold()).requestId);
    const { nextPageToken } = await merchants().listOperations({ merchantId: 'acme', pageSize: 1 });
    const [key = '', filters] = JSON.parse(textOf(nextPageToken)) as string[];
    assert.equal(filters, '{}');
    assert.doesNotMatch(key, /^\d+$/);
    assert.doesNotMatch(textOf(key), /77000/);
    const found = { merchantId: 'acme', pageSize: 1, amountFrom: 999_999n } as const;
    const compared = await merchants().listOperations(found);
    if (compared.nextPageToken !== '') assert.doesNotMatch(textOf(compared.nextPageToken), /\["\d+"/);
  });

  it('takes the tokens of 1.0.0, and none of another merchant', async () => {
    const { operations, nextPageToken } = await merchants().listOperations({ merchantId: 'acme', pageSize: 3 });
    const third = [operations[2]?.requestId];
    const [row] = await sql<{ sequence: string }>(stage, 'select sequence from operation where request_id = $1', third);
    const old = Buffer.from(JSON.stringify([String(row?.sequence), '{}'])).toString('base64url');
    const rest = await merchants().listOperations({ merchantId: 'acme', pageToken: old });
    assert.deepEqual(
      rest.operations.map(({ requestId }) => requestId),
      holds.slice(3),
    );
    await openMerchant(stage, 'bolt');
    await assert.rejects(merchants().listOperations({ merchantId: 'bolt', pageToken: nextPageToken }), /page_token/);
  });
});
