/** Names what mocha's hooks open, so that a suite needs no variables that its hooks assign. */
import assert from 'node:assert/strict';

/** Opens something before the tests of a suite and calls its `close()`, if it has one, after them. Returns a stand-in for it. */
export function forSuite<T extends object>(open: () => T | Promise<T>): T {
  let opened: T | undefined;
  before(async function () {
    this.timeout(60_000);
    opened = await open();
  });
  after(() => close(opened));
  return standIn(() => opened);
}

/** Opens something before each test of a suite and calls its `close()`, if it has one, after it. Returns a stand-in for it. */
export function forEachTest<T extends object>(open: () => T | Promise<T>): T {
  let opened: T | undefined;
  beforeEach(async () => {
    opened = await open();
  });
  afterEach(() => close(opened));
  return standIn(() => opened);
}

/** An object whose properties are those of another one, which need not exist yet. */
export function standIn<T extends object>(of: () => T | undefined): T {
  const opened = () => of() ?? assert.fail('opened only when the tests of the suite run');
  return new Proxy<T>({} as T, {
    get: (_, name) => Reflect.get(opened(), name),
    set: (_, name, value) => Reflect.set(opened(), name, value),
  });
}

async function close(opened: { close?(): unknown } | undefined): Promise<void> {
  await opened?.close?.();
}
