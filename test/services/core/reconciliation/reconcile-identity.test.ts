/** What is imported is what it was: its requestId, its reference, and the answers that its merchant got. */
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { openCipher } from '../../../../services/core/storage/cipher.ts';
import { forSuite } from '../../../suite.ts';
import { openMerchant, sql } from '../shop.ts';
import { openStage } from '../stage.ts';
import { beginAnew, rememberNow } from '../time-machine.ts';
import { decideAt } from './decide.ts';

describe('reconcile() keeps identities', () => {
  const stage = forSuite(openStage);
  const shop = forSuite(() => openMerchant(stage, 'acme', { webhookUrl: 'https://acme.example/hooks' }));
  beginAnew(stage);

  for (const isKeyed of [true, false]) {
    it(`of operations ${isKeyed ? 'with' : 'without'} keys; identical repetitions get the first answer`, async () => {
      const keys = ['hold', 'capture', 'other', 'release', 'oct'].map((name) =>
        isKeyed ? { idempotencyKey: `${name}-${randomUUID()}` } : {},
      );
      const [ofHold = {}, ofCapture = {}, ofOther = {}, ofRelease = {}, ofOct = {}] = keys;
      await shop.hold();
      const play = async () => {
        const placed = await shop.place({ ...ofHold, merchantReference: 'order 1', metadata: { room: '12' } });
        const hold = placed.preauthorization ?? assert.fail();
        const captured = await shop.capture(hold, 300n, ofCapture);
        const placedToo = await shop.place(ofOther);
        const other = placedToo.preauthorization ?? assert.fail();
        const released = await shop.release(other, ofRelease);
        const paid = await shop.oct({ ...ofOct, merchantReference: 'order 2' });
        return { hold, captured, other, released, paid, answers: [placed, captured, placedToo, released, paid] };
      };
      const goBack = await rememberNow(stage);
      const first = await play();
      await goBack();
      const { left, lines } = await decideAt(stage, { importing: ['all'] });
      assert.equal(left, 0, lines.join('\n'));
      const ids = ({ hold, captured, other, released, paid }: typeof first) => [
        hold.requestId,
        captured.capture?.requestId,
        other.requestId,
        released.requestId,
        paid.oct?.requestId,
      ];
      for (const id of ids(first)) {
        const { operation } = await shop.operations.getOperation({ merchantId: 'acme', requestId: id ?? '' });
        assert.equal(operation?.requestId, id);
      }
      const references = await sql<{ reference: string }>(
        stage,
        `select distinct merchant_reference as reference from operation where merchant_reference is not null
          order by 1`,
      );
      assert.deepEqual(
        references.map(({ reference }) => reference),
        ['order 1', 'order 2'],
      );
      const told = await sql<{ request_id: string; imported: string | null }>(
        stage,
        `select request_id, convert_from(body, 'UTF8')::json->>'imported' as imported from delivery`,
      );
      const isImported = new Map(told.map(({ request_id, imported }) => [request_id, imported]));
      for (const id of ids(first)) assert.equal(isImported.get(id ?? ''), 'true');
      assert.equal(told.filter(({ imported }) => imported === null).length, 1, 'what was not lost is told once');
      if (isKeyed) {
        const entries = stage.oracle.entries().length;
        const again = await play();
        assert.deepEqual(ids(again), ids(first));
        assert(again.answers.every(({ replayed }) => replayed));
        assert.equal(again.hold.preauthorizationId, first.hold.preauthorizationId);
        assert.deepEqual(again.hold.metadata, first.hold.metadata);
        assert.equal(stage.oracle.entries().length, entries);
      }
      assert.deepEqual(await stage.audit(), []);
    });
  }

  it('of what a merchant said: the reference comes back with the books, the rest with a repetition', async () => {
    const keyOf = Object.fromEntries(
      ['capture', 'increment', 'refund', 'release', 'oct'].map((of) => [of, randomUUID()]),
    );
    const hold = await shop.hold({ merchantReference: 'order 1' });
    const said = (of: string) => {
      const words = { merchantReference: `${of} 1`, metadata: { of }, reason: `a lost ${of}` };
      return { ...words, idempotencyKey: keyOf[of] };
    };
    const play = async () => {
      const { capture } = await shop.capture(hold, 300n, said('capture'));
      const increment = await shop.increment(hold, 100n, said('increment'));
      const { refund } = await shop.refund(capture ?? assert.fail(), 200n, said('refund'));
      const release = await shop.release(hold, said('release'));
      const { oct } = await shop.oct(said('oct'));
      return { capture, increment, refund, release, oct };
    };
    const goBack = await rememberNow(stage);
    const first = await play();
    await goBack();
    const { left, lines } = await decideAt(stage, { importing: ['all'] });
    assert.equal(left, 0, lines.join('\n'));
    for (const [of, answer] of Object.entries(first)) {
      const requestId = answer?.requestId ?? '';
      const { operation } = await shop.operations.getOperation({ merchantId: 'acme', requestId });
      const { merchantReference, metadata, reason } = operation ?? assert.fail(of);
      assert.deepEqual([merchantReference, metadata, reason], [`${of} 1`, {}, ''], of);
    }
    const again = await play();
    for (const [of, answer] of Object.entries(again)) {
      const { merchantReference, metadata, reason } = answer ?? assert.fail(of);
      assert.deepEqual({ merchantReference, metadata, reason, idempotencyKey: keyOf[of] }, said(of));
      assert.equal(answer?.requestId, first[of as keyof typeof first]?.requestId);
    }
    assert.deepEqual(await stage.audit(), []);
  });

  it('under a key of ENCRYPTION_KEYS that has been replaced meanwhile', async () => {
    await shop.hold();
    const goBack = await rememberNow(stage);
    const lost = await shop.hold();
    await goBack();
    const cipher = openCipher([{ id: 'new', key: randomBytes(32) }, ...stage.settings.ENCRYPTION_KEYS]);
    const rotated = { settings: stage.settings, recovery: { ...stage.recovery, cipher } } as typeof stage;
    await decideAt(rotated, { importing: ['all'] });
    const [row] = await sql<{ found: boolean; key: string }>(
      stage,
      `select id_hash = sha256(convert_to('${lost.preauthorizationId}', 'UTF8')) as found, id_key as key
        from hold where request_id = '${lost.requestId}'`,
    );
    assert.deepEqual(row, { found: true, key: 'test' }, 'it follows from the same key as before');
  });
});
