import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import {
  countLost,
  hasLateVoid,
  readCaptures,
} from '../../../../../services/core/storage/submission/read-submissions.ts';
import { forSuite } from '../../../../suite.ts';
import { openRows } from '../rows.ts';

describe('the submissions of a hold', () => {
  const stage = forSuite(openRows);
  const hold_request_id = randomUUID();
  beforeEach(() => stage.clear());

  it('give a late authorization back by a late void that may succeed, and by nothing else', async () => {
    const of = { holdRequestId: hold_request_id, authorization: hold_request_id };
    const has = (lost?: string) => hasLateVoid(stage.query, { ...of, lost });
    const request_id = randomUUID();
    await stage.submission({ hold_request_id });
    await stage.submission({ hold_request_id, kind: 'EXPIRY' });
    await stage.submission({ hold_request_id, kind: 'LATE_VOID', state: 'KO' });
    await stage.submission({ hold_request_id: randomUUID(), kind: 'LATE_VOID' });
    await stage.submission({ hold_request_id, kind: 'LATE_VOID', authorization_id: randomUUID() });
    assert.equal(await has(), false);
    await stage.submission({ hold_request_id, kind: 'LATE_VOID', state: 'PENDING', final_at: null, request_id });
    assert.deepEqual([await has(), await has(request_id)], [true, false]);
  });

  it('are lost when they never arrived', async () => {
    const lost = { hold_request_id, state: 'KO', processor_code: 'never_received' };
    await stage.submission(lost);
    const others = [
      { processor_code: 'declined' },
      { state: 'OK' },
      { kind: 'EXPIRY' },
      { authorization_id: randomUUID() },
    ];
    for (const other of [...others, { hold_request_id: randomUUID() }]) await stage.submission({ ...lost, ...other });
    assert.equal(await countLost(stage.query, { holdRequestId: hold_request_id, kind: 'RELEASE' }), 1);
  });

  it('are its captures, the newest ones, and the oldest of these first', async () => {
    const capture = {
      kind: 'CAPTURE',
      amount_reversed: 0,
      amount_refunded: 0,
      amount_refunding: 0,
      final_capture: false,
    };
    const ids = [1, 2, 3].map((digit) => `00000000-0000-7000-8000-00000000000${digit}`);
    for (const request_id of ids) await stage.submission({ ...capture, hold_request_id, request_id });
    await stage.submission({ hold_request_id });
    await stage.submission({ ...capture, hold_request_id: randomUUID() });
    const read = async (most?: number) =>
      (await readCaptures(stage.query, hold_request_id, most)).map(({ requestId }) => requestId);
    assert.deepEqual(await read(), ids);
    assert.deepEqual(await read(2), ids.slice(1));
  });
});
