import assert from 'node:assert/strict';
import { openProblems } from '../../../gateway/http/error-handler.ts';
import { Problem } from '../../../gateway/http/problem.ts';
import { Stage } from '../stage.ts';

describe('openProblems()', () => {
  it('takes no longer for a path of slashes', () => {
    const toProblem = openProblems(new Stage().log, [{ method: 'get', path: '/operations' }]);
    const asked = { method: 'GET', path: `${'/'.repeat(100_000)}a` };
    const before = process.cpuUsage();
    const { details } = toProblem(new Problem('NOT_FOUND'), asked, { httpRequestId: '', routeOf: () => 'none' });
    assert.equal(details.detail, 'There is no such path. The routes are listed at /docs.');
    // Microseconds. It took the square of the length.
    assert(process.cpuUsage(before).user < 1_000_000);
  });
});
