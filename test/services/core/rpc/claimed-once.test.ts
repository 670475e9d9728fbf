/**
 * An operation_request_id names one operation, of one merchant, of one kind, whoever drew it and however many calls
 * come at once.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { forSuite } from '../../../suite.ts';
import { openMerchant, openShop, type Shop, sql } from '../shop.ts';
import { openStage, refusal } from '../stage.ts';

const ROUNDS = 8;

describe('two calls under one operation_request_id at the same moment', () => {
  const stage = forSuite(() => openStage({ cores: 2 }));
  const acme = forSuite(() => openMerchant(stage, 'acme'));
  const other = forSuite(() => openMerchant(stage, 'other'));

  /** Runs two calls at once; returns the codes of their refusals, '' for an answer. */
  const race = async (first: (id: string) => Promise<unknown>, second: (id: string) => Promise<unknown>) => {
    const id = uuidv7();
    const ends = await Promise.allSettled([first(id), second(id)]);
    const codes = await Promise.all(
      ends.map(async (end) => (end.status === 'fulfilled' ? '' : (await refusal(Promise.reject(end.reason))).reason)),
    );
    return { id, ends, codes };
  };

  /** Asserts that one of the calls was done and the other refused, and that one operation is stored and was sent. */
  const one = async (first: (id: string) => Promise<unknown>, second: (id: string) => Promise<unknown>) => {
    const { id, codes } = await race(first, second);
    assert.deepEqual([...codes].sort(), ['', 'INVALID_REQUEST']);
    assert.equal((await sql(stage, 'select from claim where request_id = $1', [id])).length, 1);
    assert.equal((await sql(stage, 'select from operation where request_id = $1', [id])).length, 1);
    assert.equal(stage.oracle.entries().filter(({ requestId }) => requestId === id).length, 1);
    return codes;
  };

  for (const [where, core] of [
    ['in one core', 0],
    ['over two cores', 1],
  ] as const) {
    describe(where, () => {
      const there = forSuite(async () => openShop(stage, 'acme', core) as Shop & { close?: never });
      const theirs = forSuite(async () => openShop(stage, 'other', core) as Shop & { close?: never });

      it('are one operation when they are different calls of one kind', async () => {
        for (let round = 0; round < ROUNDS; round++) {
          await one(
            (operationRequestId) => acme.place({ operationRequestId, amount: 100n }),
            (operationRequestId) => there.place({ operationRequestId, amount: 200n }),
          );
          await one(
            (operationRequestId) => acme.oct({ operationRequestId, amount: 100n }),
            (operationRequestId) => there.oct({ operationRequestId, amount: 200n }),
          );
          const [a, b] = await Promise.all([acme.hold(), acme.hold()]);
          const codes = await one(
            (operationRequestId) => acme.capture(a, 100n, { operationRequestId }),
            (operationRequestId) => there.capture(b, 200n, { operationRequestId }),
          );
          assert.equal(await acme.books(a), codes[0] ? UNTOUCHED : 'PARTIALLY_CAPTURED 100/0/9900/0/0');
          assert.equal(await acme.books(b), codes[1] ? UNTOUCHED : 'PARTIALLY_CAPTURED 200/0/9800/0/0');
          const [c, d] = await Promise.all([acme.hold(), acme.hold()]);
          await one(
            (operationRequestId) => acme.release(c, { operationRequestId }),
            (operationRequestId) => there.release(d, { operationRequestId }),
          );
        }
      });

      it('are one operation when they are of different kinds', async () => {
        for (let round = 0; round < ROUNDS; round++) {
          const [a, b] = await Promise.all([acme.hold(), acme.hold()]);
          await one(
            (operationRequestId) => acme.capture(a, 100n, { operationRequestId }),
            (operationRequestId) => there.oct({ operationRequestId }),
          );
          await one(
            (operationRequestId) => acme.place({ operationRequestId }),
            (operationRequestId) => there.oct({ operationRequestId }),
          );
          await one(
            (operationRequestId) => acme.capture(a, 100n, { operationRequestId }),
            (operationRequestId) => there.release(b, { operationRequestId }),
          );
        }
      });

      it('show a merchant nothing of another one, and bind no key to it', async () => {
        for (let round = 0; round < ROUNDS; round++) {
          const key = { idempotencyKey: randomUUID() };
          const { id, ends, codes } = await race(
            (operationRequestId) => acme.place({ operationRequestId }),
            (operationRequestId) => theirs.place({ operationRequestId, ...key }),
          );
          assert.deepEqual([...codes].sort(), ['', 'INVALID_REQUEST']);
          const [row] = await sql<{ merchant_id: string }>(
            stage,
            'select merchant_id from hold where request_id = $1',
            [id],
          );
          assert.equal(row?.merchant_id, codes[0] === '' ? 'acme' : 'other');
          assert(ends.some(({ status }) => status === 'fulfilled'));
          const again = await other.place(key);
          assert.equal(again.preauthorization?.merchantId, 'other');
          assert.equal(again.replayed, codes[1] === '');
        }
      });

      it('are one operation, told to both, when they are the same call', async () => {
        for (let round = 0; round < ROUNDS; round++) {
          const fields = { amount: 300n };
          const { id, codes } = await race(
            (operationRequestId) => acme.place({ operationRequestId, ...fields }),
            (operationRequestId) => there.place({ operationRequestId, ...fields }),
          );
          assert(codes.includes(''));
          assert(codes.every((code) => code === '' || code === 'IDEMPOTENCY_IN_FLIGHT'));
          assert.equal(stage.oracle.entries().filter(({ requestId }) => requestId === id).length, 1);
        }
      });
    });
  }

  it('leave books without a difference', async () => {
    assert.deepEqual(await stage.audit(), []);
  });
});

const UNTOUCHED = 'IN_PROGRESS 0/0/10000/0/0';
