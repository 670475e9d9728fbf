/**
 * What workers look for: each condition alone keeps a hold from being found. One that is found in vain would be found
 * again and again, before those that can be worked on.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { AT_ANY_PROCESSOR, type AtProcessor } from '../../../../../services/core/storage/at-processor.ts';
import type { Searched } from '../../../../../services/core/storage/by-turns.ts';
import {
  findDueHolds,
  findHoldsToCapture,
  findHoldsToRenew,
} from '../../../../../services/core/storage/hold/find-due-holds.ts';
import { findRenewed } from '../../../../../services/core/storage/hold/find-renewed.ts';
import { findExpiring } from '../../../../../services/core/storage/hold/tell-expiring.ts';
import { forSuite } from '../../../../suite.ts';
import { LATER, NOW, openRows, type Row } from '../rows.ts';

type Find = (database: Searched, but?: string[], at?: AtProcessor) => Promise<readonly object[]>;

const BUSY = { in_flight: 100, remaining: 0 };
const PART_BUSY = { in_flight: 40, remaining: 60 };
const ENDED = { ended_as: 'EXPIRED', ended_amount: 100 };
const CAPTURED = { status: 'CAPTURED', captured: 100, remaining: 0 };
const UNKNOWN = { phase: 'UNKNOWN', remaining: 0 };
const [INCREMENT, EXTENSION] = [{ changing: 'INCREMENT' }, { changing: 'EXTENSION' }];
const [CLOSING, FROZEN] = [{ closing: true }, { frozen: true }];

const EARLIER = { capture_at: new Date(NOW.getTime() - 1) };

const find = { now: NOW, limit: 10 };
const due: Find = (database, but = [], at = AT_ANY_PROCESSOR) => findDueHolds(database, { ...find, but }, at);
const toCapture: Find = (database, but = [], at = AT_ANY_PROCESSOR) =>
  findHoldsToCapture(database, { ...find, but }, at);
const toRenew: Find = (database, but = [], at = AT_ANY_PROCESSOR) => findHoldsToRenew(database, { ...find, but }, at);
const expiring: Find = (database, but = [], at = AT_ANY_PROCESSOR) => findExpiring(database, { ...find, but }, at);

/** What is due; the changes with which it is still found, and those with which it is not. */
const CASES: Record<string, { finds: Find; base: Row; also: Row[]; not: Row[] }> = {
  'the end of a period': {
    finds: due,
    base: { expires_at: NOW },
    also: [FROZEN, ENDED, { release_at: NOW }],
    not: [{ expires_at: LATER }, BUSY, PART_BUSY, CLOSING, INCREMENT, EXTENSION, CAPTURED, UNKNOWN],
  },
  'an end that was chosen': {
    finds: due,
    base: { release_at: NOW },
    also: [FROZEN, ENDED],
    not: [{ release_at: LATER }, BUSY, PART_BUSY, CLOSING, INCREMENT, EXTENSION, CAPTURED, UNKNOWN],
  },
  'an end at the processor': {
    finds: due,
    base: ENDED,
    also: [FROZEN],
    not: [BUSY, PART_BUSY, CLOSING, INCREMENT, EXTENSION, CAPTURED],
  },
  'a capture by the hold itself': {
    finds: toCapture,
    base: { capture_at: NOW },
    also: [EXTENSION, { release_at: LATER }, { ...EARLIER, expires_at: NOW }, { ...EARLIER, release_at: NOW }],
    not: [
      ...[{ capture_at: LATER }, BUSY, PART_BUSY, CLOSING, FROZEN, INCREMENT, ENDED, CAPTURED, UNKNOWN],
      ...[{ auto_capture_id: randomUUID() }, { expires_at: NOW }, { release_at: NOW }],
    ],
  },
  'a renewal of a hold that is kept': {
    finds: toRenew,
    base: { renew_at: NOW, keep_until: LATER },
    also: [{ release_at: LATER }, { capture_at: LATER }],
    not: [
      ...[{ renew_at: LATER }, { keep_until: NOW }, BUSY, PART_BUSY, CLOSING, FROZEN, INCREMENT, EXTENSION, ENDED],
      ...[CAPTURED, UNKNOWN, { renewal_id: randomUUID() }, { to_void: randomUUID() }, { release_at: NOW }],
    ],
  },
  'a notice that the hold ends soon': {
    finds: expiring,
    base: { notify_expiring_at: NOW },
    also: [PART_BUSY, CLOSING, FROZEN, INCREMENT, EXTENSION, { release_at: LATER }],
    not: [{ notify_expiring_at: LATER }, BUSY, ENDED, CAPTURED, UNKNOWN, { expires_at: NOW }, { release_at: NOW }],
  },
};

describe('holds that are due', () => {
  const stage = forSuite(openRows);
  beforeEach(() => stage.clear());

  for (const [name, { finds, base, also, not }] of Object.entries(CASES)) {
    it(`are found for ${name}, and not while that must wait`, async () => {
      const count = async (changes: Row) => {
        await stage.clear();
        await stage.hold({ ...base, ...changes });
        return (await finds(stage.database)).length;
      };
      for (const changes of [{}, ...also]) assert.equal(await count(changes), 1, JSON.stringify(changes));
      for (const changes of not) assert.equal(await count(changes), 0, JSON.stringify(changes));
    });

    it(`are found for ${name} once, at the processor that is looked at`, async () => {
      const requestId = await stage.hold(base);
      assert.equal((await finds(stage.database, [requestId])).length, 0);
      const at = async (where: AtProcessor) => (await finds(stage.database, [], where)).length;
      assert.equal(await at({ only: ['p'], butNot: [] }), 1);
      assert.equal(await at({ only: ['other'], butNot: [] }), 0);
      assert.equal(await at({ only: null, butNot: ['p'] }), 0);
    });
  }
});

describe('findRenewed()', () => {
  const stage = forSuite(openRows);
  beforeEach(() => stage.clear());

  const found = async (old: Row = {}, renewal: Row = {}) => {
    await stage.clear();
    const renews = await stage.hold(old);
    await stage.hold({ renews, releases_old: true, ...renewal });
    return findRenewed(stage.database, { now: NOW, limit: 10, but: [] }, AT_ANY_PROCESSOR);
  };

  it('finds an old hold that can be released or has ended, once its renewal is decided', async () => {
    for (const old of [{}, EXTENSION, CAPTURED, { release_at: LATER }]) {
      assert.equal((await found(old)).length, 1, JSON.stringify(old));
    }
    const failed = { phase: 'FAILED', status: 'FAILED', remaining: 0 };
    assert.equal((await found({}, failed))[0]?.renewalPhase, 'FAILED');
    for (const old of [BUSY, CLOSING, FROZEN, INCREMENT, ENDED, { expires_at: NOW }, { release_at: NOW }]) {
      assert.equal((await found(old)).length, 0, JSON.stringify(old));
    }
    for (const renewal of [UNKNOWN, { releases_old: false }]) assert.equal((await found({}, renewal)).length, 0);
  });

  it('says whether the processor has refused a release since', async () => {
    const refused = { kind: 'RELEASE', state: 'KO', processor_code: 'declined', created_at: NOW };
    const isRefused = async (changes: Row) => {
      const [renewed] = await found();
      await stage.submission({ hold_request_id: renewed?.requestId, ...refused, ...changes });
      return (await findRenewed(stage.database, { now: NOW, limit: 10, but: [] }, AT_ANY_PROCESSOR))[0]?.isRefused;
    };
    assert.equal(await isRefused({}), true);
    const before = new Date(NOW.getTime() - 1);
    for (const changes of [
      { created_at: before },
      { processor_code: 'never_received' },
      { state: 'OK' },
      { kind: 'EXPIRY' },
    ]) {
      assert.equal(await isRefused(changes), false, JSON.stringify(changes));
    }
  });
});
