/**
 * Lists of the largest rows there can be: every answer stays below what gRPC clients receive, and pages have each row
 * once.
 */
import assert from 'node:assert/strict';
import { NotificationService } from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import { OperatorService } from '../../../../proto/gen/holdfast/v1/operator_pb.js';
import { forSuite } from '../../../suite.ts';
import { openMerchant, type Shop, sql } from '../shop.ts';
import { openStage } from '../stage.ts';
import { notification } from './notification/verified.ts';

const ROWS = 150;
/** Four bytes each in UTF-8, one character for the contract. */
const wide = (length: number) => `repeat('😀', ${length})`;
const TEXTS = { user_id: wide(64), merchant_reference: wide(64), processor_reference: wide(64) };
/** More than may be stored today. */
const METADATA = { metadata: `jsonb_object_agg('k' || lpad(n::text, 39, '0'), ${wide(500)})` };

describe('answers about the largest rows', () => {
  const stage = forSuite(() => openStage());
  const shop = forSuite(() => openMerchant(stage, 'large', { webhookUrl: 'https://merchant.example' }));
  const operators = forSuite(() => stage.client('operator', OperatorService));
  const notifications = forSuite(() => stage.client('operator', NotificationService));

  /** Copies the rows of a table that match, and replaces columns by SQL expressions. Identifiers are random. */
  async function multiply(table: string, where: string, columns: Readonly<Record<string, string>>, count = ROWS) {
    const known = await sql<{ name: string; type: string }>(
      stage,
      'select column_name as name, data_type as type from information_schema.columns where table_name = $1',
      [table],
    );
    const values = known.map(({ name }) => columns[name] ?? name);
    await sql(
      stage,
      `insert into ${table} (${known.map(({ name }) => name)})
        select ${values} from (select * from ${table} where ${where} limit 1) row, generate_series(1, ${count}) number`,
    );
  }
  const ID = "encode(set_byte(set_byte(decode(md5(random()::text), 'hex'), 6, 112), 8, 128), 'hex')::uuid";
  const large = (shop: Shop) => `merchant_id = '${shop.merchantId}'`;

  /** Reads a list to its end. Returns the number of its items and of its pages. */
  async function readAll<Name extends string>(
    name: Name,
    keyOf: (item: never) => string,
    list: (page: object) => Promise<{ readonly nextPageToken: string } & { readonly [key in Name]: unknown[] }>,
  ): Promise<[items: number, pages: number]> {
    const keys: string[] = [];
    for (let pageToken = '', pages = 1; ; pages++) {
      const page = await list({ pageSize: 200, pageToken });
      keys.push(...page[name].map((item) => keyOf(item as never)));
      pageToken = page.nextPageToken;
      if (pageToken !== '') continue;
      assert.equal(new Set(keys).size, keys.length, 'an item came twice');
      return [keys.length, pages];
    }
  }
  const requestIdOf = ({ requestId }: { requestId: string }) => requestId;

  it('are pages of holds, of one merchant and of all', async () => {
    await shop.hold();
    const metadata = `(select ${METADATA.metadata} from generate_series(1, 20) n)`;
    const unique = { request_id: ID, id_hash: "decode(md5(random()::text), 'hex')", processor_request_id: 'null' };
    await multiply('hold', large(shop), { ...unique, ...TEXTS, metadata });
    const { holds } = stage.channel('operator');
    const lists = [{ merchantId: 'large' }, {}, { currency: 'EUR' }];
    for (const filter of lists) {
      const [items, pages] = await readAll('preauthorizations', requestIdOf, (page) =>
        holds.listPreauthorizations({ ...filter, ...page }),
      );
      assert.equal(items, ROWS + 1);
      assert(pages > 1);
    }
  });

  it('are pages of operations, deliveries and reviews', async () => {
    const hold = await shop.hold();
    const answer = { processor_code: wide(64), processor_message: wide(256), bank_reference: wide(64) };
    const result = { sequence: "nextval('operation_sequence_seq')", request_id: ID };
    await multiply('operation', large(shop), { ...result, ...TEXTS, ...answer });
    const operations = await readAll('operations', requestIdOf, (page) =>
      stage.channel('operator').operations.listOperations(page),
    );
    assert.deepEqual(operations.slice(0, 1), [ROWS + 2]);
    await multiply('delivery', large(shop), { id: ID, body: `convert_to(${wide(16_000)}, 'utf8')` });
    const deliveries = await readAll(
      'deliveries',
      ({ deliveryId }: { deliveryId: string }) => deliveryId,
      (page) => notifications.listDeliveries(page),
    );
    assert.deepEqual(deliveries.slice(0, 1), [ROWS + 2]);
    await sql(stage, 'update hold set frozen = true where request_id <> $1', [hold.requestId]);
    const reviews = await readAll('items', requestIdOf, (page) => operators.listReviewItems(page));
    assert.deepEqual(reviews, [ROWS + 1, 1]);
  });

  it('are a hold with many captures: the newest are shown', async () => {
    const hold = await shop.hold();
    const { capture } = await shop.capture(hold, 1n);
    assert(capture);
    const where = `request_id = '${capture.requestId}'`;
    const texts = { processor_reference: wide(64), bank_reference: wide(64), processor_message: wide(256) };
    await multiply('submission', where, { request_id: ID, processor_request_id: 'null', ...texts }, 3_000);
    const newest = await sql<{ id: string }>(
      stage,
      'select request_id as id from submission where hold_request_id = $1 order by request_id desc limit 50',
      [hold.requestId],
    );
    const { captures } = await shop.get(hold);
    assert.deepEqual(captures.map(requestIdOf), newest.map(({ id }) => id).reverse());
  });

  it('are pages of merchants with many terminals and keys, and of the audit log of their contracts', async () => {
    const terminals = "(select array_agg(lpad(n::text, 64, 'T')) from generate_series(1, 1000) n)";
    const id = "'many' || number";
    await multiply('merchant', "id = 'large'", { id, terminals, change_number: "nextval('merchant_change')" }, 60);
    const revoked = { id: ID, hash: "decode(md5(random()::text), 'hex')", revoked_at: 'now()' };
    await multiply('api_key', large(shop), revoked, 100);
    const { merchants } = stage.channel('operator');
    const keyOf = ({ merchantId }: { merchantId: string }) => merchantId;
    const [items, pages] = await readAll('merchants', keyOf, (page) => merchants.listMerchants(page));
    assert.equal(items, 61);
    assert(pages > 1);
    const { merchant } = await merchants.getMerchant({ merchantId: 'large' });
    assert.deepEqual(
      [merchant?.apiKeys.length, merchant?.apiKeys.filter(({ revokedAt }) => !revokedAt).length],
      [101, 1],
    );
    const detail = `jsonb_build_object('before', to_jsonb(${terminals}), 'after', to_jsonb(${terminals}))`;
    await multiply('audit_entry', 'true', { id: ID, detail }, 60);
    const [entries, ofAudit] = await readAll(
      'entries',
      ({ auditEntryId }: { auditEntryId: string }) => auditEntryId,
      (page) => operators.listAuditEntries(page),
    );
    assert(entries > 60 && ofAudit > 1);
  });

  it('are pages of what the relay took', async () => {
    const relay = stage.client('gateway', NotificationService);
    await openMerchant(stage, 'm');
    const signed = { requestId: 'x'.repeat(64), statusInfo: `a${'_'.repeat(31)}`, amount: '999999999999.9999' };
    await relay.acceptNotification(notification(signed.requestId, signed));
    await relay.quarantineNotification({ ...notification(signed.requestId, { ...signed, amount: '1' }), reason: 1 });
    await multiply('notification', 'true', { request_id: "lpad(number::text, 64, 'x')", body: "'\\x7b7d'" });
    await multiply('quarantined_notification', 'true', {
      id: ID,
      request_id: "lpad(number::text, 64, 'y')",
      once_key: 'number::text',
      body: `convert_to(${wide(10_000)}, 'utf8')`,
    });
    const stored = await readAll('notifications', requestIdOf, (page) => notifications.listStoredNotifications(page));
    assert.deepEqual(stored, [ROWS + 1, 1]);
    const aside = await readAll(
      'notifications',
      ({ quarantineId }: { quarantineId: string }) => quarantineId,
      (page) => notifications.listQuarantinedNotifications(page),
    );
    assert.deepEqual(aside, [ROWS + 1, 1]);
  });
});
