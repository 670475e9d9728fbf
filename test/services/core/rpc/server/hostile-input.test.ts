/**
 * Every field of every request, with values on both sides of its rules: refused by name, or not named. The requests are
 * drawn from the descriptors, so a new field is among them, and one without a rule is found.
 */
import assert from 'node:assert/strict';
import type { DescMethod } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { CONTRACT } from '../../../../../services/core/rpc/core.ts';
import { rolesFor } from '../../../../../services/core/rpc/server/access.ts';
import { atNight } from '../../../../at-night.ts';
import { forSuite } from '../../../../suite.ts';
import { rowsOf } from '../../rows-of.ts';
import { openMerchant } from '../../shop.ts';
import { openStage, refusal } from '../../stage.ts';
import { type Leaf, leavesOf } from './hostile-values.ts';

/** It is for the holder of a managing key, whom the gateway names. */
const WITH_KEY_ONLY = ['WatchNotifications'];
const seed = atNight(Date.now() % 2 ** 31, 41);
/** Each request breaks two fields on average: each field is broken about twelve times. */
const numRuns = (breakable: number) => atNight(2_000, Math.max(20, 6 * breakable));

/** A request, the fields that break their rules, and those that keep them. */
interface Request {
  readonly fields: object;
  readonly bad: readonly string[];
  readonly good: readonly string[];
}

type Call = (request: object) => Promise<unknown> | AsyncIterable<unknown>;

describe('hostile input', () => {
  const stage = forSuite(openStage);
  let untouched: object;

  before(async () => {
    await openMerchant(stage, 'acme');
    untouched = await rowsOf(stage);
  });

  for (const method of Object.values(CONTRACT) as DescMethod[]) {
    const leaves = leavesOf(method.input);
    const breakable = leaves.filter(({ outside }) => outside).length;
    if (breakable === 0 || WITH_KEY_ONLY.includes(method.name)) continue;
    it(`is refused by ${method.parent.name}.${method.name}`, async () => {
      const role = ['operator', 'internal', ...rolesFor(method)].find((each) =>
        rolesFor(method).includes(each as never),
      );
      const client = stage.client(role as 'operator', method.parent) as unknown as Record<string, Call>;
      const call = client[method.localName]?.bind(client) ?? assert.fail();
      await fc.assert(
        fc.asyncProperty(requestTo(leaves), async ({ fields, bad, good }) => {
          const { reason, violations } = await refusal(firstOf(call(fields)));
          assert.equal(reason, 'INVALID_REQUEST');
          const named = Object.keys(violations).map((path) => path.replace(/\[[^\]]*\]/g, ''));
          const isNamed = (field: string) => named.some((name) => name === field || name.startsWith(`${field}.`));
          assert.deepEqual(
            bad.filter((field) => !isNamed(field)),
            [],
            `not named among ${named}`,
          );
          assert.deepEqual(good.filter(isNamed), [], JSON.stringify(violations));
        }),
        { seed, numRuns: numRuns(breakable) },
      );
    });
  }

  it('leaves no trace', async () => {
    assert.deepEqual(await rowsOf(stage), untouched);
    assert.equal(stage.oracle.entries().length, 0);
  });
});

/** A call that streams ends with its first message. */
async function firstOf(call: Promise<unknown> | AsyncIterable<unknown>): Promise<unknown> {
  return Symbol.asyncIterator in call ? call[Symbol.asyncIterator]().next() : call;
}

/** One to three fields are outside their rules, and some of the others inside. */
function requestTo(leaves: readonly Leaf[]): fc.Arbitrary<Request> {
  const breakable = leaves.filter(({ outside }) => outside);
  return fc
    .tuple(fc.uniqueArray(fc.constantFrom(...breakable), { minLength: 1, maxLength: 3 }), fc.subarray([...leaves]))
    .chain(([broken, kept]) => {
      const chosen = oneOfEach([...broken, ...kept.filter((leaf) => !broken.includes(leaf))]);
      const values = chosen.map((leaf) => (broken.includes(leaf) ? (leaf.outside ?? leaf.inside) : leaf.inside));
      const namesOf = (isBad: boolean) => chosen.filter((leaf) => broken.includes(leaf) === isBad).map(nameOf);
      return fc.tuple(...values).map((drawn) => ({
        fields: build(chosen.map(({ path }, at) => ({ path, value: drawn[at] }))),
        bad: namesOf(true),
        good: namesOf(false).filter((name) => !isEndOfRange(name)),
      }));
    });
}

const nameOf = ({ path }: Leaf) => path.map(({ name }) => name).join('.');

/** It may be named because its range begins later. */
const isEndOfRange = (name: string) => /_to$|^until$/.test(name);

/** The first of the members of each oneof. */
function oneOfEach(leaves: readonly Leaf[]): Leaf[] {
  const members = new Map<string, string>();
  return leaves.filter(({ path }) =>
    path.every(({ oneof, name }, depth) => {
      if (!oneof) return true;
      const place = `${path.slice(0, depth).map((field) => field.name)}.${oneof.name}`;
      if (!members.has(place)) members.set(place, name);
      return members.get(place) === name;
    }),
  );
}

/** The request in the form of the generated code: a member of a oneof is { case, value }. */
function build(drawn: readonly { readonly path: Leaf['path']; readonly value: unknown }[]): object {
  const root: Record<string, unknown> = {};
  for (const { path, value } of drawn) {
    let at = root;
    for (const [depth, field] of path.entries()) {
      const isLast = depth === path.length - 1;
      const { oneof, localName } = field;
      const place = oneof ? oneof.localName : localName;
      at[place] ??= oneof ? { case: localName, value: {} } : {};
      const held = at[place];
      if (isLast) at[place] = oneof ? { case: localName, value } : value;
      else at = oneof ? (held as { value: Record<string, unknown> }).value : (held as Record<string, unknown>);
    }
  }
  return root;
}
