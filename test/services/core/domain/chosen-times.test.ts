import assert from 'node:assert/strict';
import {
  type ChosenTimes,
  endTimes,
  judgeTimes,
  judgeUnsignedCapture,
} from '../../../../services/core/domain/chosen-times.ts';

const NOW = new Date('2026-03-01T12:00:00Z');
const at = (hours: number) => new Date(NOW.getTime() + hours * 3_600_000);

describe('the times that a merchant chooses', () => {
  const judged = (chosen: ChosenTimes) => {
    const refusal = judgeTimes(endTimes(chosen, at(24)), NOW);
    const faults = refusal?.details.violations ?? [];
    if (refusal) assert.equal(refusal.code, 'TIME_OUT_OF_RANGE');
    return Object.fromEntries(faults.map(({ field, description }) => [field, description]));
  };
  const future = 'must be in the future';
  const beforeEnd = (end: Date) => `must be before the end: ${end.toISOString()}`;

  it('keep their order: now, the capture, the chosen end, the end of the period', () => {
    assert.deepEqual(judged({}), {});
    assert.deepEqual(judged({ captureAt: null, releaseAt: null }), {});
    assert.deepEqual(judged({ captureAt: at(1), releaseAt: at(2) }), {});
    assert.deepEqual(judged({ captureAt: at(0), releaseAt: at(0) }), { capture_at: future, release_at: future });
    assert.deepEqual(judged({ captureAt: at(2), releaseAt: at(2) }), { capture_at: beforeEnd(at(2)) });
    assert.deepEqual(judged({ captureAt: at(23) }), {});
    assert.deepEqual(judged({ captureAt: at(24) }), { capture_at: beforeEnd(at(24)) });
    assert.deepEqual(judged({ releaseAt: at(24) }), { release_at: beforeEnd(at(24)) });
  });

  it('compare a capture with the period when the chosen end is after it', () => {
    const faults = { capture_at: beforeEnd(at(24)), release_at: beforeEnd(at(24)) };
    assert.deepEqual(judged({ captureAt: at(25), releaseAt: at(30) }), faults);
  });

  it('have no capture without a signature where the contract requires one', () => {
    const [signed, unsigned] = [{ requireSignedCaptures: true }, { requireSignedCaptures: false }];
    assert.equal(judgeUnsignedCapture({ captureAt: at(1) }, signed)?.code, 'SIGNATURE_REQUIRED');
    assert.equal(judgeUnsignedCapture({ captureAt: at(1) }, unsigned), undefined);
    assert.equal(judgeUnsignedCapture({ captureAt: null, releaseAt: at(1) }, signed), undefined);
  });
});
