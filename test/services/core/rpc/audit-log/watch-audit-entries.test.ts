import assert from 'node:assert/strict';
import { OperatorService, type WatchAuditEntriesResponse } from '../../../../../proto/gen/holdfast/v1/operator_pb.js';
import { forSuite } from '../../../../suite.ts';
import { openMerchant, sql } from '../../shop.ts';
import { openStage, why } from '../../stage.ts';

const BEGINNING = `0:${'0'.repeat(32)}`;

describe('watchAuditEntries()', () => {
  const stage = forSuite(() => openStage({ cores: 2 }));
  const acme = forSuite(() => openMerchant(stage, 'acme'));

  const operatorsOf = (role: 'operator' | 'internal' | 'gateway', core = 0) =>
    stage.channel(role, core).opened.client(OperatorService);

  /** Opens a stream at a core, and reads its heartbeat. */
  async function open(resumeToken = '', core = 0) {
    const abort = new AbortController();
    const operators = operatorsOf('operator', core);
    const messages = operators.watchAuditEntries({ resumeToken }, { signal: abort.signal })[Symbol.asyncIterator]();
    const first: WatchAuditEntriesResponse = (await messages.next()).value;
    assert.equal(first.entry, undefined);
    return {
      first,
      /** The next entries, without heartbeats. */
      async next(count: number): Promise<WatchAuditEntriesResponse[]> {
        const read: WatchAuditEntriesResponse[] = [];
        while (read.length < count) {
          const { value, done } = await messages.next();
          assert(!done);
          if (value.entry) read.push(value);
        }
        return read;
      },
      async cut(): Promise<void> {
        abort.abort();
        await messages.next().catch(() => undefined);
      },
    };
  }
  const told = (messages: readonly WatchAuditEntriesResponse[]) =>
    messages.map(({ entry }) => {
      return [entry?.action, entry?.target, entry?.detail && JSON.parse(entry.detail).result];
    });

  it('shows what is written from now on, and an entry again when its result is there', async () => {
    const hold = await acme.hold();
    const stream = await open();
    const { holds } = stage.channel('operator');
    await holds.releasePreauthorization({ merchantId: 'acme', requestId: hold.requestId });
    const messages = await stream.next(2);
    assert.deepEqual(told(messages)[1], ['preauthorization.release', hold.requestId, 'OK']);
    assert.equal(messages[0]?.entry?.auditEntryId, messages[1]?.entry?.auditEntryId);
    await stream.cut();
  });

  it('resumes after each message, at another core, without a gap', async () => {
    const whole = await open(BEGINNING);
    const changes = Array.from({ length: 20 }, (_, index) => openMerchant(stage, `m-${index}`));
    await Promise.all(changes);
    const [{ count } = { count: '0' }] = await sql<{ count: string }>(stage, 'select count(*) from audit_link');
    const all = await whole.next(Number(count));
    await whole.cut();
    assert.deepEqual(
      all.map(({ resumeToken }) => resumeToken.split(':')[0]),
      all.map((_, index) => String(index + 1)),
    );
    for (const [index, { resumeToken }] of all.entries()) {
      if (index % 7 !== 0 || index + 3 > all.length) continue;
      const resumed = await open(resumeToken, 1);
      assert.deepEqual(told(await resumed.next(2)), told(all.slice(index + 1, index + 3)));
      await resumed.cut();
    }
  });

  it('refuses a place that the log does not have, and what is no place', async () => {
    const operators = operatorsOf('operator');
    const first = (resumeToken: string) =>
      why(operators.watchAuditEntries({ resumeToken })[Symbol.asyncIterator]().next());
    assert.equal(await first(`1:${'a'.repeat(32)}`), 'STREAM_TOKEN_TOO_OLD');
    assert.equal(await first(`999999:${'a'.repeat(32)}`), 'STREAM_TOKEN_TOO_OLD');
    for (const text of ['1', '1:', `1:${'a'.repeat(64)}`, `-1:${'a'.repeat(32)}`, `x:${'0'.repeat(32)}`]) {
      assert.equal(await first(text), 'INVALID_REQUEST', text);
    }
  });

  it('is for operators alone', async () => {
    for (const role of ['internal', 'gateway'] as const) {
      const operators = operatorsOf(role);
      assert.equal(await why(operators.watchAuditEntries({})[Symbol.asyncIterator]().next()), 'FORBIDDEN');
    }
  });
});
