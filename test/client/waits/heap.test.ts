import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { queryObjects, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { json, serveScript } from '../scripted-server.ts';

const CALLS = 300;

describe('a call that ended', () => {
  it('leaves nothing in memory, nor at the signal that it was given', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    await using server = await serveScript([json(200, { requestId: 'r' })]);
    const { signal } = new AbortController();
    for (let count = 0; count < CALLS; count++) await server.holdfast.operations.get('r', { signal });
    // What finalizers hold is freed by the collection after them.
    let kept = CALLS;
    for (let tries = 0; tries < 20 && kept >= CALLS / 10; tries++) {
      collect();
      await turn();
      kept = queryObjects(AbortSignal, { format: 'count' });
    }
    assert(kept < CALLS / 10, `${kept} signals are kept after ${CALLS} calls`);
    assert.equal(getEventListeners(signal, 'abort').length, 0);
  });
});
