/** Lists of holds and of operations: filters, pages, tokens. */
import assert from 'node:assert/strict';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { v7 as uuidv7 } from 'uuid';
import { OperationKind } from '../../../../proto/gen/holdfast/v1/operation_pb.js';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import { HoldStatus } from '../../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { forSuite } from '../../../suite.ts';
import { openMerchant, sql } from '../shop.ts';
import { openStage, refusal, why } from '../stage.ts';

const HOUR_MS = 3_600_000;

describe('lists', () => {
  const stage = forSuite(openStage);
  const clients = forSuite(() => stage.channel('gateway'));
  const shop = forSuite(() => openMerchant(stage, 'acme'));
  let start: number;

  before(() => {
    // Identifiers are drawn by this clock here, and may be some hours old.
    stage.clock.advance(Date.now() - 12 * HOUR_MS - stage.clock.now());
    start = stage.clock.now();
  });

  const holds = (request: object = {}) => clients.holds.listPreauthorizations({ merchantId: 'acme', ...request });
  const operations = (request: object = {}) => clients.operations.listOperations({ merchantId: 'acme', ...request });
  const at = (hours: number) => timestampFromMs(start + hours * HOUR_MS);
  const users = async (request: object) => (await holds(request)).preauthorizations.map(({ userId }) => userId);

  describe('of holds', () => {
    before(async () => {
      for (const [userId, fields] of Object.entries(HOLDS)) {
        // The dates of a hold narrow the list by the time in its requestId, which is drawn by a real clock otherwise.
        const operationRequestId = uuidv7({ msecs: stage.clock.now() });
        const hold = await shop.hold({ userId, operationRequestId, ...fields });
        if (userId === 'captured') await shop.capture(hold, 1n, { finalCapture: true });
        if (userId === 'part') await shop.capture(hold, 1n);
        if (userId === 'released') await shop.release(hold);
        stage.clock.advance(HOUR_MS);
      }
      const operationRequestId = uuidv7({ msecs: stage.clock.now() });
      await refusal(shop.place({ userId: 'failed', operationRequestId, tokenId: 'tok_sandbox_declined' }));
    });

    it('are newest first', async () => {
      assert.deepEqual(await users({}), ['failed', 'open', 'released', 'part', 'captured']);
    });

    it('are filtered by status, user, terminal and time', async () => {
      assert.deepEqual(await users({ status: HoldStatus.CAPTURED }), ['captured']);
      assert.deepEqual(await users({ status: HoldStatus.PARTIALLY_CAPTURED }), ['part']);
      assert.deepEqual(await users({ status: HoldStatus.RELEASED }), ['released']);
      assert.deepEqual(await users({ status: HoldStatus.FAILED }), ['failed']);
      assert.deepEqual(await users({ status: HoldStatus.IN_PROGRESS }), ['open']);
      assert.deepEqual(await users({ userId: 'part' }), ['part']);
      assert.deepEqual(await users({ terminalId: 'T2' }), ['open', 'part']);
      assert.deepEqual(await users({ terminalId: 'T2', userId: 'captured' }), []);
      assert.deepEqual(await users({ createdFrom: at(1), createdTo: at(3) }), ['released', 'part']);
    });

    it('include which open ones end soon', async () => {
      assert.deepEqual(await users({ expiringBefore: at(7 * 24) }), []);
      assert.deepEqual(await users({ expiringBefore: at(7 * 24 + 1.5) }), ['part']);
      assert.deepEqual(await users({ expiringBefore: at(8 * 24) }), ['open', 'part']);
      assert.deepEqual(await users({ expiringBefore: at(8 * 24), status: HoldStatus.PARTIALLY_CAPTURED }), ['part']);
      assert.deepEqual(await users({ expiringBefore: at(8 * 24), status: HoldStatus.CAPTURED }), []);
      await sql(stage, "update hold set release_at = expires_at - interval '6 days' where user_id = 'open'");
      assert.deepEqual(await users({ expiringBefore: at(24 + 3) }), []);
      assert.deepEqual(await users({ expiringBefore: at(24 + 4) }), ['open']);
      await sql(stage, "update hold set release_at = null where user_id = 'open'");
    });
  });

  describe('of operations', () => {
    it('are filtered by kind, result, hold and time', async () => {
      const hold = await shop.hold({ tokenId: 'tok_sandbox_capture_declined' });
      await refusal(shop.capture(hold, 2n));
      await shop.release(hold);
      const words = async (request: object) =>
        (await operations(request)).operations.map(({ statusInfo }) => statusInfo);
      assert.deepEqual(await words({ holdRequestId: hold.requestId }), ['released', 'declined']);
      assert.deepEqual(await words({ holdRequestId: hold.requestId, state: OperationState.KO }), ['declined']);
      assert.deepEqual(await words({ holdRequestId: hold.requestId, kind: OperationKind.RELEASE }), ['released']);
      assert.deepEqual(await words({ holdRequestId: 'no uuid' }), []);
      assert.deepEqual(await words({ finalTo: at(1) }), ['captured', 'authorized']);
      assert.deepEqual(await words({ finalFrom: at(2), finalTo: at(3) }), ['released', 'authorized']);
      assert.deepEqual(await words({ state: OperationState.UNKNOWN }), []);
    });
  });

  describe('pages', () => {
    it('contain each item once, while others are added', async () => {
      const shop = await openMerchant(stage, 'shop');
      const placed: string[] = [];
      for (let count = 0; count < 7; count++) placed.unshift((await shop.hold()).requestId);
      for (const list of [pageOfHolds, pageOfOperations]) {
        const seen: string[] = [];
        let pageToken = '';
        do {
          const page = await list(pageToken);
          assert(page.ids.length <= 3);
          seen.push(...page.ids);
          pageToken = page.next;
          await shop.hold();
        } while (pageToken !== '');
        assert.deepEqual(seen.slice(-7), placed);
        assert.equal(new Set(seen).size, seen.length);
      }
    });

    it('have fifty items by default, and two hundred at most', async () => {
      const bulk = await openMerchant(stage, 'bulk');
      await Promise.all(Array.from({ length: 53 }, () => bulk.hold()));
      const list = (pageSize: number) => clients.holds.listPreauthorizations({ merchantId: 'bulk', pageSize });
      assert.deepEqual(
        await Promise.all([0, 1, 200].map(async (size) => (await list(size)).preauthorizations.length)),
        [50, 1, 53],
      );
      assert.equal((await list(53)).nextPageToken, '');
      for (const size of [-1, 201]) assert.equal(await why(list(size)), 'INVALID_REQUEST');
    });

    it('end early when none of many rows matches, and the next ones go on from there', async () => {
      const rare = await openMerchant(stage, 'rare');
      const { requestId } = await rare.hold({ terminalId: 'T2' });
      const columns = await sql<{ name: string }>(
        stage,
        "select column_name as name from information_schema.columns where table_name = 'hold'",
      );
      const own = {
        request_id: NEWER_ID,
        terminal_id: "'T1'",
        id_hash: 'sha256(number::text::bytea)',
        processor_request_id: 'null',
      };
      const values = columns.map(({ name }) => (own as Record<string, string>)[name] ?? name);
      await sql(
        stage,
        `insert into hold (${columns.map(({ name }) => name)})
          select ${values} from hold, generate_series(1, 25000) number where request_id = $1`,
        [requestId],
      );
      const sizes: number[] = [];
      let pageToken = '';
      do {
        const filter = { merchantId: 'rare', terminalId: 'T2', pageSize: 1, pageToken };
        const page = await clients.holds.listPreauthorizations(filter);
        sizes.push(page.preauthorizations.length);
        pageToken = page.nextPageToken;
      } while (pageToken !== '');
      assert.deepEqual(sizes, [0, 0, 1]);
    });

    it('reject a token of another list, of other filters, or an invalid one', async () => {
      const { nextPageToken } = await holds({ pageSize: 1 });
      assert.notEqual(nextPageToken, '');
      for (const call of [
        () => holds({ pageToken: nextPageToken, userId: 'open' }),
        () => operations({ pageToken: nextPageToken }),
        () => holds({ pageToken: 'nonsense' }),
        () => holds({ pageToken: Buffer.from('["x","{}"]').toString('base64url') }),
        () => holds({ pageToken: Buffer.from('7').toString('base64url') }),
      ]) {
        assert.equal(await why(call()), 'INVALID_REQUEST');
      }
    });

    const pageOfHolds = async (pageToken: string) => {
      const page = await clients.holds.listPreauthorizations({ merchantId: 'shop', pageSize: 3, pageToken });
      return { ids: page.preauthorizations.map(({ requestId }) => requestId), next: page.nextPageToken };
    };
    const pageOfOperations = async (pageToken: string) => {
      const page = await clients.operations.listOperations({ merchantId: 'shop', pageSize: 3, pageToken });
      return { ids: page.operations.map(({ requestId }) => requestId), next: page.nextPageToken };
    };
  });
});

/** What each is placed with, by user. */
const HOLDS = { captured: {}, part: { terminalId: 'T2' }, released: {}, open: { terminalId: 'T2' } };

/** UUIDv7 after any of today. */
const NEWER_ID = "('02000000-0000-7000-8000-' || lpad(number::text, 12, '0'))::uuid";
