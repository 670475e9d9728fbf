import assert from 'node:assert/strict';

/** Identifiers of the examples, and what stands for them in the running service. */
export type Names = Map<string, string>;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const HANDLE = /^pre_[A-Za-z0-9_-]{32}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
/** Fields whose value the processor chooses. */
const CHOSEN: ReadonlySet<string> = new Set(['reference', 'bankReference', 'checkoutUrl']);

/** Demands that an answer says what its example says, field by field; learns the identifiers that it meets first. */
export function agree(example: unknown, real: unknown, names: Names, path = ''): void {
  if (typeof example === 'string' && typeof real === 'string') agreeText(example, real, names, path);
  else if (typeof example === 'object' && example !== null) agreeFields(example, real, names, path);
  else assert.equal(real, example, path);
}

function agreeFields(example: object, real: unknown, names: Names, path: string): void {
  assert(typeof real === 'object' && real !== null, path);
  assert.equal(Array.isArray(real), Array.isArray(example), path);
  assert.deepEqual(Object.keys(real).sort(), Object.keys(example).sort(), `fields of ${path || 'the answer'}`);
  for (const [name, value] of Object.entries(example)) {
    agree(value, (real as Record<string, unknown>)[name], names, path === '' ? name : `${path}.${name}`);
  }
}

/** The same text, said with the identifiers of the running service. */
export function translate(text: string, names: Names): string {
  return [...names].reduce((translated, [example, real]) => translated.replaceAll(example, real), text);
}

function agreeText(example: string, real: string, names: Names, path: string): void {
  for (const form of [UUID, HANDLE]) {
    if (!form.test(example)) continue;
    assert.match(real, form, path);
    if (!names.has(example)) names.set(example, real);
  }
  if (TIME.test(example)) assert.match(real, TIME, path);
  else if (CHOSEN.has(path.split('.').at(-1) ?? '')) assert.notEqual(real, '', path);
  else assert.equal(real, names.get(example) ?? example, path);
}
