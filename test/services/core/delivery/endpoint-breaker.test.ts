import assert from 'node:assert/strict';
import { isFailing, judgeEndpoint } from '../../../../services/core/delivery/endpoint-breaker.ts';
import { type EndpointState, FRESH } from '../../../../services/core/storage/endpoint/endpoint-row.ts';

describe('judgeEndpoint()', () => {
  const at = (seconds: number) => new Date(Date.UTC(2027, 0, 1) + seconds * 1_000);
  const failed = (count: number) => ({ delivered: 0, failed: count, refused: 0, gone: false });
  const delivered = { delivered: 1, failed: 0, refused: 0, gone: false };
  const open = judgeEndpoint(FRESH, failed(10), at(0));

  it('opens after ten failures in a row, over however many batches', () => {
    let state = FRESH;
    for (let index = 0; index < 9; index++) state = judgeEndpoint(state, failed(1), at(index));
    assert.equal(state.pause, null);
    assert.deepEqual(judgeEndpoint(judgeEndpoint(state, delivered, at(9)), failed(9), at(10)).pause, null);
    assert.deepEqual(judgeEndpoint(state, { ...failed(1), error: 'HTTP 500' }, at(9)), {
      ...FRESH,
      pause: 'BREAKER',
      pausedUntil: at(19),
      failureCount: 10,
      lastError: 'HTTP 500',
      failingSince: at(0),
      pauseCount: 1,
    });
  });

  it('does not extend a pause because of attempts that were in progress when it began', () => {
    assert.deepEqual(judgeEndpoint(open, failed(5), at(1)).pausedUntil, open.pausedUntil);
  });

  it('stays as it is when a probe fails because of the one notification', () => {
    assert.deepEqual(judgeEndpoint(open, failed(0), at(11)), open);
  });

  it('doubles the pause at each failed probe, up to 15 minutes', () => {
    let state: EndpointState = open;
    const pausesS: number[] = [];
    for (let index = 0; index < 9; index++) {
      const probeAt = state.pausedUntil as Date;
      state = judgeEndpoint(state, failed(1), probeAt);
      pausesS.push(((state.pausedUntil as Date).getTime() - probeAt.getTime()) / 1_000);
    }
    assert.deepEqual(pausesS, [20, 40, 80, 160, 320, 640, 900, 900, 900]);
  });

  it('closes at the first success', () => {
    assert.deepEqual(judgeEndpoint(open, { delivered: 1, failed: 3, refused: 0, gone: false }, at(11)), FRESH);
  });

  it('counts answers that refuse a notification, pauses nothing because of them, and forgets them at a success', () => {
    const refused = (count: number) => ({ delivered: 0, failed: 0, refused: count, gone: false });
    const state = judgeEndpoint(judgeEndpoint(FRESH, refused(300), at(1)), refused(78), at(2));
    assert.deepEqual(state, { ...FRESH, refusedCount: 378, failingSince: at(1) });
    const paused = judgeEndpoint(open, refused(1), at(11));
    assert.deepEqual(paused, { ...open, refusedCount: 1 });
    assert.deepEqual(judgeEndpoint(state, delivered, at(3)), FRESH);
  });

  it('leaves pauses that only an operator can end', () => {
    const gone = judgeEndpoint(FRESH, { delivered: 3, failed: 0, refused: 0, gone: true }, at(0));
    assert.equal(gone.pause, 'GONE');
    assert.deepEqual(judgeEndpoint(gone, delivered, at(1)), gone);
    const paused: EndpointState = { ...FRESH, pause: 'OPERATOR' };
    assert.deepEqual(judgeEndpoint(paused, delivered, at(1)), paused);
    assert.deepEqual(judgeEndpoint(paused, failed(99), at(1)), paused);
    assert.deepEqual(judgeEndpoint(paused, { delivered: 0, failed: 0, refused: 0, gone: true }, at(1)), paused);
  });

  it('counts no answer, 429 and 5xx as failures of the endpoint, and no other answer', () => {
    assert([undefined, 429, 500, 503, 599].every(isFailing));
    assert([301, 400, 404, 410].every((httpStatus) => !isFailing(httpStatus)));
  });
});
