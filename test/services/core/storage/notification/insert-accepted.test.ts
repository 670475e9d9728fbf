import assert from 'node:assert/strict';
import type { NotificationInput } from '../../../../../services/core/storage/notification/accepted-row.ts';
import {
  type Accepted,
  acceptNotifications,
} from '../../../../../services/core/storage/notification/insert-accepted.ts';
import { StatementGather } from '../../../../../services/core/storage/statement-gather.ts';
import { forSuite } from '../../../../suite.ts';
import { openDeliveryStage, storedNotification } from '../../delivery/stage.ts';

describe('acceptNotifications()', () => {
  const stage = forSuite(openDeliveryStage);

  before(async () => {
    await stage.addMerchant('m', 'http://127.0.0.1:1');
    await stage.addMerchant('silent', null);
  });

  const accept = async (...inputs: NotificationInput[]) =>
    (await acceptNotifications(stage.database.query, inputs)).map(({ outcome }) => outcome);
  const count = async (table: string, requestId: string) => {
    const [row] = await stage.sql<{ count: bigint }>(`select count(*) from ${table} where request_id = $1`, [
      requestId,
    ]);
    return Number(row?.count);
  };

  it('stores a notification and forwards it', async () => {
    const first = storedNotification('a');
    const [accepted] = await acceptNotifications(stage.database.query, [first]);
    assert.deepEqual(accepted, { outcome: 'STORED', forwards: ['internal'] });
    const [row] = await stage.sql<{ body: Buffer; endpointKind: string; signature: string; requestId: string }>(
      'select body, endpoint_kind, signature, request_id from delivery where id = $1',
      [first.deliveryId],
    );
    assert.equal(row?.body.toString(), '{"requestId":"a"}');
    assert.deepEqual([row.endpointKind, row.signature], ['internal', first.signature]);
  });

  it('stores without forwarding when the merchant has no internalUrl', async () => {
    const [accepted] = await acceptNotifications(stage.database.query, [
      storedNotification('b', { merchantId: 'silent' }),
    ]);
    assert.deepEqual(accepted, { outcome: 'STORED', forwards: [] });
    assert.equal(await count('delivery', 'b'), 0);
  });

  it('forwards to each internal endpoint that asks for it, and parks only while there is none', async () => {
    for (const [merchantId, url] of [
      ['two', 'http://127.0.0.1:1'],
      ['without', null],
    ] as const) {
      await stage.addMerchant(merchantId, url);
      const addEndpoint = (types?: string[]) =>
        stage.addEndpoint(merchantId, 'http://127.0.0.1:1', { purpose: 'internal', ...(types && { types }) });
      const { endpointId: payments } = await addEndpoint(['payment.*']);
      await addEndpoint(['oct.*']);
      const { endpointId: word } = await addEndpoint(['payment.settled']);
      await stage.addEndpoint(merchantId, 'http://127.0.0.1:1');
      const ofContract = url === null ? [] : ['internal' as const];
      const change = { merchantId, statusInfo: 'settled' };
      const answers = await acceptNotifications(stage.database.query, [
        storedNotification('f1', change),
        storedNotification('f2', { ...change, statusInfo: 'other' }),
        storedNotification('f3', { ...change, kind: 'oct', statusInfo: 'x' }),
      ]);
      assert.deepEqual(
        answers.map(({ forwards }) => forwards.toSorted()),
        [
          [...ofContract, payments, word].sort(),
          [...ofContract, payments].sort(),
          [...ofContract, ...(answers[2]?.forwards ?? []).filter((id) => id !== 'internal')].sort(),
        ],
      );
      assert.equal(answers[2]?.forwards.length, ofContract.length + 1);
      const sent = await stage.sql<{ body: Buffer; signature: string }>(
        `select body, signature from delivery where merchant_id = $1 and request_id = 'f1'`,
        [merchantId],
      );
      assert.equal(new Set(sent.map(({ body, signature }) => `${body} ${signature}`)).size, 1);
      await acceptNotifications(stage.database.query, [
        storedNotification('f4', { merchantId, statusInfo: 'unasked' }),
      ]);
      const parked = `select from notification where merchant_id = $1 and parked_signature is not null`;
      assert.deepEqual(await stage.sql(parked, [merchantId]), []);
    }
  });

  it('treats a repetition as a duplicate, whatever its unsigned fields', async () => {
    await accept(storedNotification('c'));
    const body = Buffer.from('{"other":1}');
    assert.deepEqual(await accept(storedNotification('c'), storedNotification('d')), ['DUPLICATE', 'STORED']);
    assert.deepEqual(await accept(storedNotification('c', { statusInfo: 'authorized', body })), ['DUPLICATE']);
    assert.equal(await count('delivery', 'c'), 1);
    assert.equal(await count('quarantined_notification', 'c'), 0);
    const [row] = await stage.sql<{ body: Buffer }>("select body from notification where request_id = 'c'");
    assert.equal(row?.body.toString(), '{"requestId":"c"}', 'the first body wins');
  });

  it('quarantines, once, what differs in kind or signed text', async () => {
    await accept(storedNotification('e'));
    const changes: Partial<NotificationInput>[] = [
      { kind: 'oct' },
      { status: 'KO' },
      { amount: '10.5' },
      { currency: 'USD' },
    ];
    for (const change of changes) {
      const [first] = await acceptNotifications(stage.database.query, [storedNotification('e', change)]);
      assert.deepEqual(first, { outcome: 'CONFLICT', forwards: [], aside: 'STORED' });
      const [again] = await acceptNotifications(stage.database.query, [storedNotification('e', change)]);
      assert.deepEqual(again, { outcome: 'CONFLICT', forwards: [], aside: 'KNOWN' });
    }
    assert.equal(await count('quarantined_notification', 'e'), changes.length);
    assert.equal(await count('delivery', 'e'), 1);
  });

  it('stores each body of a batch byte for byte, wherever it is stored', async () => {
    const bodies = [
      Buffer.from('{"é":1}'),
      Buffer.from([0, 0xff, 0x5c, 0x80, 0]),
      Buffer.alloc(0),
      Buffer.alloc(65_536, 7),
    ];
    const batch = bodies.map((body, index) => storedNotification(`bytes${index}`, { body }));
    await accept(...batch);
    const others = bodies.toReversed();
    await accept(...others.map((body, index) => storedNotification(`bytes${index}`, { body, amount: '1' })));
    const bodiesIn = async (table: string) => {
      const rows = await stage.sql<{ body: Buffer }>(
        `select body from ${table} where request_id like 'bytes%' order by request_id`,
      );
      return rows.map(({ body }) => body);
    };
    assert.deepEqual(await bodiesIn('notification'), bodies);
    assert.deepEqual(await bodiesIn('delivery'), bodies);
    assert.deepEqual(await bodiesIn('quarantined_notification'), others);
  });

  it('keeps merchants apart', async () => {
    assert.deepEqual(
      await accept(storedNotification('f'), storedNotification('f', { merchantId: 'silent', amount: '1' })),
      ['STORED', 'STORED'],
    );
  });

  it('stores one of many simultaneous ones, and reports the others as duplicates or conflicts', async () => {
    const gather = new StatementGather<NotificationInput, Accepted>(
      (batch) => acceptNotifications(stage.database.query, batch),
      { maxBatch: 50, lanes: 4, keyOf: ({ merchantId, requestId }) => `${merchantId} ${requestId}` },
    );
    const direct = (each: NotificationInput) =>
      acceptNotifications(stage.database.query, [each]).then(([accepted]) => accepted as Accepted);
    const all: Promise<Accepted>[] = [];
    for (let index = 0; index < 40; index++) {
      for (const change of [{}, {}, { amount: '11' }]) {
        all.push(
          gather.submit(storedNotification(`g${index}`, change)),
          direct(storedNotification(`g${index}`, change)),
        );
      }
    }
    const outcomes = await Promise.all(all);
    const tally = (outcome: string) => outcomes.filter((each) => each.outcome === outcome).length;
    assert.equal(tally('STORED'), 40);
    assert.equal(tally('STORED') + tally('DUPLICATE') + tally('CONFLICT'), 240);
    for (let index = 0; index < 40; index++) assert.equal(await count('delivery', `g${index}`), 1);
    const [aside] = await stage.sql<{ count: bigint }>(
      "select count(*) from quarantined_notification where request_id like 'g%'",
    );
    assert.equal(Number(aside?.count), 40, 'whichever came first, the other text is quarantined once');
  });
});
