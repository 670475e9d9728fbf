/** Names what mocha's hooks open, so that a suite needs no variables that its hooks assign. */
import assert from 'node:assert/strict';

interface Closable {
  close?(): unknown;
}

/** What is open, in the order of opening; mocha runs one suite at a time in a process. */
const open: Closable[] = [];

/**
 * Opens something before the tests of a suite and calls its `close()`, if any, after them. Returns a stand-in for it.
 */
export function forSuite<T extends object>(start: () => T | Promise<T>): T {
  return between(before, after, start);
}

/** Opens something before each test of a suite and calls its `close()`, if any, after it. Returns a stand-in for it. */
export function forEachTest<T extends object>(start: () => T | Promise<T>): T {
  return between(beforeEach, afterEach, start);
}

/** An object whose properties are those of another one, which need not exist yet. */
export function standIn<T extends object>(of: () => T | undefined): T {
  const there = () => of() ?? assert.fail('opened only when the tests of the suite run');
  return new Proxy<T>({} as T, {
    get(_, name) {
      const value = Reflect.get(there(), name);
      return typeof value === 'function' ? value.bind(there()) : value;
    },
    set: (_, name, value) => Reflect.set(there(), name, value),
  });
}

function between<T extends object>(
  first: Mocha.HookFunction,
  last: Mocha.HookFunction,
  start: () => T | Promise<T>,
): T {
  let opened: T | undefined;
  first(async () => {
    opened = await start();
    open.push(opened);
  });
  // Mocha runs these hooks in the order of their definition; what was opened last is closed first.
  last(async () => {
    if (opened === undefined) return;
    opened = undefined;
    await open.pop()?.close?.();
  });
  return standIn(() => opened);
}
