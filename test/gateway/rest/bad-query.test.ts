import assert from 'node:assert/strict';
import { useStage } from '../stage.ts';
import { HOLD_ID } from './examples.ts';

/** A query, and the fields named in errors[]. */
const QUERIES: [path: string, ...fields: string[]][] = [
  ['/preauthorization?colour=1&x=2', 'colour', 'x'],
  ['/preauthorization?status=OPEN', 'status'],
  ['/preauthorization?status=CAPTURED&status=EXPIRED', 'status'],
  ['/preauthorization?__proto__=1', '__proto__'],
  ['/preauthorization?pageSize=0', 'pageSize'],
  ['/preauthorization?pageSize=201', 'pageSize'],
  ['/preauthorization?pageSize=1e2', 'pageSize'],
  ['/preauthorization?createdFrom=yesterday', 'createdFrom'],
  ['/preauthorization?createdTo=2026-02-30T00:00:00Z', 'createdTo'],
  ['/preauthorization?createdTo=9999-12-31T23:59:59-23:59', 'createdTo'],
  ['/preauthorization?expiringBefore=2026-11-21T12:00:00', 'expiringBefore'],
  ['/preauthorization?userId=%00', 'userId'],
  ['/preauthorization?pageToken=', 'pageToken'],
  [`/preauthorization/${HOLD_ID}?expand=1`, 'expand'],
  ['/operations?operation=BUY', 'operation'],
  ['/operations?status=PENDING', 'status'],
  ['/operations?finalFrom=0001-01-01T00:00:00Z', 'finalFrom'],
  ['/operations/stream?from=1', 'from'],
];

describe('REST, bad queries', () => {
  const stage = useStage();

  for (const [path, ...fields] of QUERIES) {
    it(`refuses ${path}`, async () => {
      const answer = await stage.ask('GET', path);
      assert.deepEqual([answer.status, answer.body.code], [400, 'INVALID_REQUEST']);
      assert.deepEqual(
        answer.body.errors.map((error: { field: string }) => error.field),
        fields,
      );
      assert.deepEqual(stage.core.calls, []);
    });
  }

  it('refuses thousands of parameters with a short message', async () => {
    const query = Array.from({ length: 2_000 }, (_, index) => `a${index}`).join('&');
    const { status, body } = await stage.ask('GET', `/operations?${query}`);
    assert.deepEqual([status, body.code], [400, 'INVALID_REQUEST']);
    assert.deepEqual([body.detail, body.errors], ['The query has more than 50 parameters.', undefined]);
  });
});
