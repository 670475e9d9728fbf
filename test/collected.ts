import assert from 'node:assert/strict';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Resolves when nothing holds the objects any more. Fails when something keeps one. */
export async function collected(objects: readonly WeakRef<object>[]): Promise<void> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  let kept = objects.length;
  for (let tries = 0; tries < 10 && kept > 0; tries++) {
    await new Promise(setImmediate);
    collect();
    kept = objects.filter((each) => each.deref() !== undefined).length;
  }
  assert.equal(kept, 0, 'objects that something still holds');
}
