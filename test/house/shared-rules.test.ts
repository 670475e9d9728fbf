import assert from 'node:assert/strict';
import { mkdtempDisposable, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import {
  create,
  createFileRegistry,
  type DescMessage,
  type FileRegistry,
  fromBinary,
  getOption,
  type Message,
} from '@bufbuild/protobuf';
import { FileDescriptorSetSchema, timestampFromMs } from '@bufbuild/protobuf/wkt';
import { createValidator } from '@bufbuild/protovalidate';
import { runTool } from '../../.ci/sources.ts';
import { violationsOf } from '../../platform/violations.ts';
import { field as rulesOf } from '../../proto/gen/buf/validate/validate_pb.js';
import { file_holdfast_processor_v1_event } from '../../proto/gen/holdfast/processor/v1/event_pb.js';
import { file_holdfast_processor_v1_processor } from '../../proto/gen/holdfast/processor/v1/processor_pb.js';
import * as rules from '../../proto/gen/holdfast/rules/v1/rules_pb.js';
import { file_holdfast_v1_audit } from '../../proto/gen/holdfast/v1/audit_pb.js';
import { file_holdfast_v1_merchant } from '../../proto/gen/holdfast/v1/merchant_pb.js';
import { file_holdfast_v1_notification } from '../../proto/gen/holdfast/v1/notification_pb.js';
import { file_holdfast_v1_oct } from '../../proto/gen/holdfast/v1/oct_pb.js';
import { file_holdfast_v1_operation } from '../../proto/gen/holdfast/v1/operation_pb.js';
import { file_holdfast_v1_operator } from '../../proto/gen/holdfast/v1/operator_pb.js';
import { file_holdfast_v1_payment } from '../../proto/gen/holdfast/v1/payment_pb.js';
import { file_holdfast_v1_preauthorization } from '../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { file_holdfast_v1_refund } from '../../proto/gen/holdfast/v1/refund_pb.js';

const OURS = [
  file_holdfast_processor_v1_event,
  file_holdfast_processor_v1_processor,
  file_holdfast_v1_audit,
  file_holdfast_v1_merchant,
  file_holdfast_v1_notification,
  file_holdfast_v1_oct,
  file_holdfast_v1_operation,
  file_holdfast_v1_operator,
  file_holdfast_v1_payment,
  file_holdfast_v1_preauthorization,
  file_holdfast_v1_refund,
];

/** Values at the bounds of the shared rules, by the kind of the field. */
const MOST = 999_999_999_999n;
const lengths = [0, 1, 32, 33, 40, 41, 64, 65, 128, 129, 250, 251, 255, 256, 500, 501, 512, 513];
const UUID_V7 = '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b';
const TEXTS = [
  ...lengths.flatMap((length) => ['a'.repeat(length), '€'.repeat(length), '😀'.repeat(length)]),
  ...['EUR', 'eur', 'EURO', 'EUR\n', 'A', '9', '_a', 'a_-9', 'a b', 'a\0', 'a\u0085', '~', '\x7f', '!', 'a\n'],
  ...[UUID_V7, UUID_V7.toUpperCase(), UUID_V7.replace('-7', '-4'), UUID_V7.replace('-8', '-c'), `${UUID_V7}a`],
];
const TIMES = [-1, 0, 946_684_799, 946_684_800, 7_258_118_399, 7_258_118_400];
const SECONDS = [-1, 0, 1, 7_776_000, 7_776_001];
const TYPED: Readonly<Record<string, readonly unknown[]>> = {
  int32: [-1, 0, 1, 199, 200, 201, 2 ** 31 - 1],
  int64: [-MOST, -1n, 0n, 1n, MOST, MOST + 1n, 2n ** 63n - 1n],
  string: TEXTS,
  map: [
    ...[0, 20, 21].map((pairs) => Object.fromEntries(Array.from({ length: pairs }, (_, at) => [`k${at}`, '']))),
    ...[0, 1, 40, 41].map((length) => ({ ['€'.repeat(length)]: 'v' })),
    ...[500, 501].map((length) => ({ k: '€'.repeat(length) })),
  ],
  timestamp: TIMES.map((seconds) => timestampFromMs(seconds * 1_000)),
  duration: SECONDS.flatMap((seconds) => [0, 999_999_999].map((nanos) => ({ seconds: BigInt(seconds), nanos }))),
};

describe('the shared rules of the contract', () => {
  it('refuse as expressions, in the files of proto/, what the generated code refuses by standard rules', async () => {
    const stated = await statedContract();
    const validator = createValidator({ registry: stated });
    const refuses = (schema: DescMessage, message: Message, name: string) => {
      const { error, violations = [] } = validator.validate(schema, message as never);
      if (error && violations.length === 0) throw error;
      return violations.some(({ field: [first] }) => first && 'name' in first && first.name === name);
    };
    const met = new Map<string, { taken: number; refused: number }>();
    for (const { ours, theirs, name, localName, rule, kind } of sharedFields(stated)) {
      const counts = met.get(rule) ?? { taken: 0, refused: 0 };
      met.set(rule, counts);
      for (const value of TYPED[kind] ?? []) {
        const init = { [localName]: value } as never;
        const isRefused = violationsOf(ours, create(ours, init)).some(({ field }) => field === name);
        const isRefusedThere = refuses(theirs, create(theirs, init), name);
        assert.equal(isRefused, isRefusedThere, `${ours.typeName}.${name}: ${rule} of ${show(value)}`);
        counts[isRefused ? 'refused' : 'taken'] += 1;
      }
    }
    assert.deepEqual(
      [...met.keys()].sort(),
      Object.keys(rules)
        .filter((name) => !name.startsWith('file_'))
        .sort(),
    );
    for (const [name, { taken, refused }] of met) assert(taken > 0 && refused > 0, `${name}: ${taken}, ${refused}`);
  });

  it('are no expressions in the generated code, but for times', () => {
    for (const message of OURS.flatMap(({ messages }) => messages)) {
      for (const field of message.fields) {
        const { type, cel } = getOption(field, rulesOf);
        assert.equal(type.value?.$unknown, undefined, `${field}`);
        if (cel.length > 0) assert.equal(field.message?.typeName, 'google.protobuf.Timestamp', `${field}`);
      }
    }
  });
});

/** The contract as its files state it. */
async function statedContract(): Promise<FileRegistry> {
  await using folder = await mkdtempDisposable(`${tmpdir()}/holdfast-rules-`);
  const file = `${folder.path}/contract.binpb`;
  await runTool('buf', ['build', '--exclude-source-info', '--output', file]);
  return createFileRegistry(fromBinary(FileDescriptorSetSchema, await readFile(file)));
}

/** Every field of our messages with a shared rule, as the generated code and as the files state it. */
function* sharedFields(stated: FileRegistry) {
  for (const ours of OURS.flatMap(({ messages }) => messages)) {
    const theirs = stated.getMessage(ours.typeName);
    assert(theirs);
    for (const field of theirs.fields) {
      const { type } = getOption(field, rulesOf);
      const [unknown] = type.value?.$unknown ?? [];
      if (!unknown || !type.value) continue;
      const rule = stated.getExtensionFor(stated.getMessage(type.value.$typeName) as DescMessage, unknown.no);
      assert(rule, `${field} has a rule that proto/holdfast/rules has not`);
      yield { ours, theirs, name: field.name, localName: field.localName, rule: rule.name, kind: type.case };
    }
  }
}

function show(value: unknown): string {
  return JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? `${part}` : part)).slice(0, 80);
}
