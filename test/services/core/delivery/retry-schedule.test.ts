import assert from 'node:assert/strict';
import { nextAttemptAt } from '../../../../services/core/delivery/retry-schedule.ts';

describe('nextAttemptAt()', () => {
  const endedAt = new Date('2027-01-01T00:00:00Z');
  const pauseMs = (tries: number, random: number, more: { httpStatus?: number; retryAfter?: string } = {}) => {
    const at = nextAttemptAt({ tries, endedAt, ...more }, random);
    return at && at.getTime() - endedAt.getTime();
  };

  it('follows the schedule, with a jitter of ten percent, and ends', () => {
    const plannedS = [2, 10, 60, 300, 1_800, 7_200, 21_600, 43_200, 86_400];
    for (const [index, seconds] of plannedS.entries()) {
      assert.equal(pauseMs(index + 1, 0), seconds * 900);
      assert.equal(pauseMs(index + 1, 0.5), seconds * 1_000);
      assert((pauseMs(index + 1, 0.999999) as number) <= seconds * 1_100);
    }
    assert.equal(pauseMs(10, 0.5), undefined);
  });

  it('waits for a busy endpoint as long as it requests, within bounds', () => {
    const cases: [string, number, number][] = [
      ['120', 503, 120_000],
      ['120', 429, 120_000],
      [' 120 ', 429, 120_000],
      ['120', 500, 2_000],
      ['120', 200, 2_000],
      ['1', 503, 2_000],
      ['0', 503, 2_000],
      ['999999', 503, 6 * 3_600_000],
      ['Fri, 01 Jan 2027 00:05:00 GMT', 503, 300_000],
      ['Friday, 01-Jan-27 00:05:00 GMT', 503, 300_000],
      ['Thu, 31 Dec 2026 00:00:00 GMT', 503, 2_000],
      ['Sun, 01 Jan 2090 00:00:00 GMT', 503, 6 * 3_600_000],
      ['soon', 503, 2_000],
      ['-5', 503, 2_000],
      ['1e3', 503, 2_000],
      ['12.5', 503, 2_000],
      ['2027', 503, 2_027_000],
      ['', 503, 2_000],
      ['99999999999', 503, 6 * 3_600_000],
      ['9'.repeat(400), 503, 6 * 3_600_000],
      [`${'0'.repeat(20)}120`, 503, 120_000],
      ['Fri Jan  1 00:05:00 2027', 503, 300_000],
      ['2027-01-01T00:05:00Z', 503, 2_000],
      ['+120', 503, 2_000],
    ];
    for (const [retryAfter, httpStatus, expectedMs] of cases) {
      assert.equal(pauseMs(1, 0.5, { httpStatus, retryAfter }), expectedMs, `${httpStatus} ${retryAfter.slice(0, 40)}`);
    }
    const zone = process.env.TZ;
    process.env.TZ = 'Asia/Tokyo';
    assert.equal(pauseMs(1, 0.5, { httpStatus: 503, retryAfter: 'Fri Jan  1 00:05:00 2027' }), 300_000);
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
    assert.equal(pauseMs(10, 0.5, { httpStatus: 503, retryAfter: '5' }), undefined);
  });
});
